"""``oscsim info``: what a layer is, in numbers, without running any backend."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.closed_form import lock_radius
from oscsim.coupling import ExplicitCoupling, FixedOrder, FrequencyCoupling
from oscsim.io import jsonable_float
from oscsim.pair_terms import spec_order_parameter
from oscsim.reference import solve
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import fingerprint

NEAR_EDGE_CONDITION = 10.0
"""Cells that amplify an error of their ingredients more than this count as near the edge in ``info``."""

_INERT = {
    "pair": ("phase_0", "duration", "rate"),
    "network": ("order_parameter", "psi_0", "phase_0", "duration", "rate"),
    "clamped": ("order_parameter", "psi_0"),
}


def inert_fields(spec: PhaseLayerSpec) -> list[str]:
    """Fields that are stored but change no result of this layer (docs/spec.md section 1)."""
    inert = list(_INERT[spec.dynamics])
    if spec.dynamics == "clamped" and isinstance(spec.coupling, ExplicitCoupling):
        inert.append("omega")
    if spec.dynamics == "pair" and isinstance(spec.order_parameter, FixedOrder):
        inert.append("theta")
    return inert


def describe(spec: PhaseLayerSpec) -> dict[str, Any]:
    """Everything ``oscsim info`` shows, as plain JSON; solves the closed form once."""
    reference = solve(spec)
    terms = reference.conditioning
    assert terms is not None  # solve always sets it; narrows the type
    near_edge = terms.condition > NEAR_EDGE_CONDITION
    frequency = isinstance(spec.coupling, FrequencyCoupling)
    return {
        "spec_digest": spec.digest,
        "dynamics": spec.dynamics,
        "mask": spec.mask,
        "heads": spec.n_heads,
        "oscillators": spec.n_oscillators,
        "channels": spec.n_channels,
        "value_width": None if spec.values is None else spec.values.shape[2],
        "padded": int((~spec.valid).sum()),
        "coupling": "frequency" if frequency else "explicit",
        "alpha": spec.coupling.alpha.tolist() if isinstance(spec.coupling, FrequencyCoupling) else None,
        "gain": spec.gain.tolist(),
        "order_parameter": "fixed" if isinstance(spec.order_parameter, FixedOrder) else "empirical",
        "order_parameter_range": [_range(row[spec.valid]) for row in reference.order_parameter],
        "lock_radius": _lock_radius(spec),
        "duration": jsonable_float(spec.duration),
        "time_unit_s": spec.time_unit_s,
        "carrier_hz": spec.carrier_hz,
        "oracle": terms.oracle,
        "status": str(reference.status),
        "locked_fraction": reference.locked_fraction,
        "locked_fraction_by_head": _share_by_head(reference.locked, terms.unmasked),
        "near_edge_share": float(np.mean(_share_by_head(near_edge, terms.unmasked))),
        "inert_fields": inert_fields(spec),
    }


def _range(row: NDArray[np.float64]) -> dict[str, float]:
    return {"from": float(row.min()), "to": float(row.max())}


def _lock_radius(spec: PhaseLayerSpec) -> list[dict[str, float]] | None:
    """Smallest and largest lock radius of the rows of each head; pair cells with frequency coupling only."""
    if spec.dynamics != "pair" or not isinstance(spec.coupling, FrequencyCoupling):
        return None
    r = spec_order_parameter(spec)
    radius = lock_radius(spec.coupling.alpha[:, None], spec.gain[:, None], r)
    return [_range(row[spec.valid]) for row in radius]


def _share_by_head(cells: NDArray[np.bool_], unmasked: NDArray[np.bool_]) -> list[float]:
    pairs = unmasked & ~np.eye(len(unmasked), dtype=bool)
    return [float(head[pairs].mean()) if pairs.any() else float("nan") for head in cells]


def summary(result: SyncResult) -> dict[str, Any]:
    """Status, provenance and fingerprints of a result: what ``solve`` and ``run`` print."""
    provenance = result.provenance
    names = ("sync", "locked", "weights", "order_parameter", "output", "phase")
    arrays = {name: getattr(result, name) for name in names}
    return {
        "spec_digest": provenance.spec_digest,
        "source": provenance.source,
        "status": str(result.status),
        "oracle": None if result.conditioning is None else result.conditioning.oracle,
        "locked_cells": int(result.locked.sum()),
        "locked_fraction": result.locked_fraction if result.conditioning is not None else None,
        "order_parameter_mean": [float(row.mean()) for row in result.order_parameter],
        "zero_rows": int(result.zero_rows.sum()),
        "wall_s": provenance.wall_s or None,  # a closed form is not timed
        "plan_digest": provenance.plan_digest or None,
        "settings": provenance.settings,
        "versions": provenance.versions,
        "seeds": provenance.seeds,
        "counters": provenance.counters,
        "notes": list(provenance.notes),
        "accuracy_epsilon": result.accuracy.epsilon,
        "arrays": {name: None if array is None else fingerprint(array) for name, array in arrays.items()},
    }
