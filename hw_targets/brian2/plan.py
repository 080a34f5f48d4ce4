"""Lowering of a layer: what will be simulated, as numbers (Lowered) and as a printable Plan."""

from typing import Any

import numpy as np

from hw_targets.brian2.clamped_lowering import ClampedLowering, lower_clamped
from hw_targets.brian2.config import Brian2Config
from hw_targets.brian2.counts import layer_counts
from hw_targets.brian2.network_lowering import NetworkLowering, lower_network
from hw_targets.brian2.pair_lowering import PairLowering, lower_pair
from oscsim.io import jsonable_float
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan, Row, fingerprint

Lowered = PairLowering | ClampedLowering | NetworkLowering

_LOWER = {"pair": lower_pair, "clamped": lower_clamped, "network": lower_network}


def lower_layer(spec: PhaseLayerSpec, config: Brian2Config) -> tuple[Plan, Lowered]:
    """Lower one layer; pure, imports no backend.

    Raises
    ------
    LoweringError
        rates that do not fit floating-point seconds.
    """
    lowered = _LOWER[spec.dynamics](spec, config)
    accuracy = lowered.accuracy
    entries = (
        ("layer", layer_section(spec)),
        ("config", config.model_dump()),
        ("integrator", {"method": "rk4", "order": 4, "codegen": "numpy", "number_format": "float64"}),
        *lowered.sections(),
        ("counts", layer_counts(spec, lowered).entry),
        ("accuracy", {name: getattr(accuracy, name) for name in accuracy.__dataclass_fields__}),
    )
    return Plan("brian2", spec.digest, tuple((name, tidy(part)) for name, part in entries)), lowered


def layer_section(spec: PhaseLayerSpec) -> dict[str, Any]:
    """Shape and physical frequencies; a channel's frequency is carrier + omega / (2 pi time unit)."""
    hertz = spec.carrier_hz + spec.omega[:, spec.valid] / (2.0 * np.pi * spec.time_unit_s)
    return {
        "dynamics": spec.dynamics,
        "mask": spec.mask,
        "heads": spec.n_heads,
        "oscillators": spec.n_oscillators,
        "padded": int((~spec.valid).sum()),
        "channels": spec.n_channels,
        "time_unit_s": spec.time_unit_s,
        "carrier_hz": spec.carrier_hz,
        "lowest_frequency_hz": hertz.min(),
        "highest_frequency_hz": hertz.max(),
    }


def tidy(value: Any) -> Any:
    """Plain JSON: nine digits of every float (the last bits of exp() depend on the processor)."""
    if isinstance(value, Row):  # rounded where it was made
        return value
    if isinstance(value, dict):
        return {name: tidy(part) for name, part in value.items()}
    if isinstance(value, list):
        return [tidy(part) for part in value]
    if isinstance(value, np.ndarray):
        largest = float(np.abs(value).max(initial=0.0))
        finite = largest if np.isfinite(largest) and largest > 0 else 1.0
        return f"{fingerprint(np.round(value / finite, 9) + 0.0)} x {finite:.9g}"
    if isinstance(value, float):  # numpy's float64 included
        return jsonable_float(float(f"{value:.9g}"))
    return value
