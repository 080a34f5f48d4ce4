"""Lowering of the pair law with frequency coupling to the fused attention op."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.config import TritonConfig
from hw_targets.triton.counts import attention_counts
from hw_targets.triton.frequency_grid import frequency_grid
from hw_targets.triton.ops.tile_shape import tile_shape
from hw_targets.triton.plan import Lowered, accuracy_entry, layer_entry
from hw_targets.triton.strength import lock_reach
from hw_targets.triton.values_scale import scaled_values
from hw_targets.triton.work import attention_work
from oscsim.coupling import FrequencyCoupling
from oscsim.pair_terms import spec_order_parameter
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan, fingerprint
from oscsim.tolerance import FLOAT32, SIXTEEN_BIT, Accuracy

Array = NDArray[np.float64]

PRODUCTS = {
    "accurate": "float16 operands in two parts, three products",
    "fast": "one product of float16 operands",
    "fp32": "IEEE float32 (no TF32)",
}
VALUE_PRODUCTS = {"accurate": "float32 in three bfloat16 parts", "fast": "bfloat16", "fp32": "IEEE float32"}


def lower_attention(spec: PhaseLayerSpec, coupling: FrequencyCoupling, config: TritonConfig) -> Lowered:
    """Inputs of the op in units of each head's lock radius, and the plan.

    The pair law is unchanged under omega -> c omega, K -> c K, alpha -> alpha / c^2 (docs/spec.md section 1);
    c is a power of two, so no digit changes.

    Raises
    ------
    LoweringError
        a row locks on mismatches, or over a range of couplings, that float32 cannot hold.
    """
    reach, alone = lock_reach(spec, coupling, frequency_grid(spec))
    exponent = _exponent(spec, reach, alone)
    order = np.where(alone, 0.0, spec_order_parameter(spec))
    if spec.mask == "full" and np.ptp(order[:, spec.valid], axis=1).max() == 0:
        order = order[:, spec.valid][:, :1]
    values, value_scale = scaled_values(spec)
    omega = np.where(spec.valid[None, :, None], spec.omega, 0.0)
    with np.errstate(over="ignore", under="ignore"):
        arrays: dict[str, NDArray[Any]] = {
            "omega": np.ldexp(omega, -exponent[:, None, None])[None],
            "values": values[None],
            "alpha": np.ldexp(coupling.alpha, 2 * exponent),
            "gain": np.ldexp(spec.gain, -exponent),
            "order_parameter": order[None],
            "valid": spec.valid[None],
        }
    accuracy = SIXTEEN_BIT if config.precision == "fast" else FLOAT32
    plan = _plan(spec, config, arrays, exponent, accuracy)
    return Lowered(plan, arrays, {}, (), accuracy, {"value": value_scale})


def _exponent(spec: PhaseLayerSpec, reach: Array, alone: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(H,) power of two that the frequencies of a head are divided by: its largest reach."""
    live = np.where(alone, 0.0, reach).max(axis=1)
    largest = np.abs(np.where(spec.valid[None, :, None], spec.omega, 0.0)).max(axis=(1, 2))
    _, exponent = np.frexp(np.where(live > 0, np.minimum(live, 1e300), largest))
    return exponent.astype(np.int64)


def _plan(
    spec: PhaseLayerSpec,
    config: TritonConfig,
    arrays: dict[str, NDArray[Any]],
    exponent: NDArray[np.int64],
    accuracy: Accuracy,
) -> Plan:
    width = arrays["values"].shape[3]
    tile = tile_shape("triton", spec.n_channels, width, config.precision)
    numbers = {
        "precision": config.precision,
        "frequency_product": PRODUCTS[config.precision],
        "value_product": VALUE_PRODUCTS[config.precision],
        "rows_far_from_the_centre": "differences of float32 parts, channel by channel",
        "frequency_unit_rad_per_time_unit": [math.ldexp(1.0, int(e)) for e in exponent],
        "order_parameters_per_head": arrays["order_parameter"].shape[2],
    }
    inputs = {name: fingerprint(arrays[name]) for name in ("omega", "values", "valid")}
    work = attention_work(spec, tile, config.precision, width)
    return Plan(
        target="triton",
        spec_digest=spec.digest,
        entries=(
            ("layer", layer_entry(spec)),
            ("device", {"asked": config.device}),
            ("op", {"name": "ssa_attention", "tile": list(tile), "mask": spec.mask}),
            ("numbers", numbers),
            ("work", work),
            ("counts", attention_counts(spec, work, tile, config.precision, width).entry),
            ("accuracy", accuracy_entry(accuracy)),
            ("inputs", inputs),
        ),
    )
