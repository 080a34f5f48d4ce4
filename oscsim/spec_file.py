"""A PhaseLayerSpec as one file: header and arrays, there and back."""

import os
from typing import Any

from oscsim.coupling import EmpiricalOrder, ExplicitCoupling, FixedOrder, FrequencyCoupling
from oscsim.errors import SchemaError, SpecError
from oscsim.io import Arrays, checksum, jsonable_float, read_file, write_file
from oscsim.spec import PhaseLayerSpec

KIND = "phase-layer-spec"
SCHEMA_VERSION = 1
READABLE_VERSIONS = (1,)

_ARRAYS = ("omega", "theta", "values", "gain", "padding", "phase_0", "rate", "psi_0")
_SCALARS = ("duration", "time_unit_s", "carrier_hz")
_CHOICES = ("mask", "dynamics")
_PARTS = {  # array name -> (field, kind in the header, class, its argument)
    "coupling.alpha": ("coupling", "frequency", FrequencyCoupling, "alpha"),
    "coupling.matrix": ("coupling", "explicit", ExplicitCoupling, "matrix"),
    "order_parameter.r": ("order_parameter", "fixed", FixedOrder, "r"),
}


def _content(spec: PhaseLayerSpec) -> tuple[dict[str, Any], Arrays]:
    header: dict[str, Any] = {name: getattr(spec, name) for name in _CHOICES}
    header |= {name: jsonable_float(getattr(spec, name)) for name in _SCALARS}
    arrays = {name: getattr(spec, name) for name in _ARRAYS if getattr(spec, name) is not None}
    header["order_parameter"] = "empirical"
    for array_name, (field, kind, part_class, argument) in _PARTS.items():
        part = getattr(spec, field)
        if isinstance(part, part_class):
            header[field] = kind
            arrays[array_name] = getattr(part, argument)
    return header, arrays


def _sealed(header: dict[str, Any]) -> dict[str, Any]:
    return {"kind": KIND, "schema_version": SCHEMA_VERSION, **header}


def spec_digest(spec: PhaseLayerSpec) -> str:
    """The SHA-256 that the file carries."""
    header, arrays = _content(spec)
    return checksum(_sealed(header), arrays)


def save_spec(spec: PhaseLayerSpec, path: str | os.PathLike[str]) -> None:
    """Write ``spec`` to ``path``; save, load, save gives the same bytes."""
    header, arrays = _content(spec)
    write_file(path, KIND, SCHEMA_VERSION, header, arrays)


def load_spec(path: str | os.PathLike[str]) -> PhaseLayerSpec:
    """Read a spec; a consistent file whose content is no valid layer is a SpecError."""
    header, arrays = read_file(path, KIND, READABLE_VERSIONS)
    known = {"kind", "schema_version", "coupling", "order_parameter", *_CHOICES, *_SCALARS}
    if set(header) != known:
        odd = ", ".join(sorted(set(header) ^ known))
        raise SchemaError(f"{path}: header fields missing or unknown: {odd}")
    fields: dict[str, Any] = {name: header[name] for name in _CHOICES}
    fields |= {name: float("inf") if header[name] == "inf" else header[name] for name in _SCALARS}
    fields["order_parameter"] = EmpiricalOrder()
    wanted: set[str] = set(_ARRAYS)
    for array_name, (field, kind, part_class, argument) in _PARTS.items():
        if header[field] == kind:
            wanted.add(array_name)
            if array_name not in arrays:
                raise SchemaError(f"{path}: array '{array_name}' is missing")
            fields[field] = part_class(**{argument: arrays[array_name]})
    unknown = sorted(set(arrays) - wanted)
    if unknown:
        raise SchemaError(f"{path}: unknown array(s): {', '.join(unknown)}")
    if header["order_parameter"] not in ("empirical", "fixed"):
        raise SpecError(
            f"order_parameter: given {header['order_parameter']!r}, expected 'empirical' or 'fixed'"
        )
    for name, array in arrays.items():
        expected = "bool" if name == "padding" else "float64"
        if array.dtype != expected:
            raise SchemaError(f"{path}: array '{name}' is {array.dtype}, expected {expected}")
    fields |= {name: arrays[name] for name in _ARRAYS if name in arrays}
    return PhaseLayerSpec(**fields)
