"""Lowering of the pair law with an explicit coupling, and of the clamped law, to tiles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.config import TritonConfig
from hw_targets.triton.counts import tile_counts
from hw_targets.triton.frequency_grid import FINEST_EXPONENT, FrequencyGrid, frequency_grid
from hw_targets.triton.plan import (
    Launch,
    Lowered,
    accuracy_entry,
    launch_entry,
    layer_entry,
    power_of_two,
    widened,
)
from hw_targets.triton.strength import explicit_rows, inverse_strength, scaled_alpha
from hw_targets.triton.values_scale import scaled_values
from hw_targets.triton.work import clamped_work, pair_work
from oscsim.coupling import ExplicitCoupling
from oscsim.pair_terms import free_rate, initial_phase
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan, fingerprint
from oscsim.tolerance import FLOAT32

Array = NDArray[np.float64]
Inputs = dict[str, NDArray[Any]]

# Channels per program of the clamped kernels: more would spill at the default tile.
LANES = 16


def lower_tiles(spec: PhaseLayerSpec, config: TritonConfig) -> Lowered:
    """Inputs, launches and plan of a pair or clamped layer."""
    grid = frequency_grid(spec)
    matrix, row_scale = explicit_rows(spec)
    arrays: Inputs = {
        "frequency": grid.parts,
        "matrix": matrix,
        "active": spec.valid.astype(np.int8),
    }
    width = None if spec.values is None else power_of_two(spec.values.shape[2])
    values, value_scale = scaled_values(spec, width)
    arrays["values"] = values
    cells = (spec.n_heads, spec.n_oscillators, spec.n_oscillators)
    buffers = {"sync": (cells, "float32"), "output": (values.shape, "float32")}
    if spec.dynamics == "pair":
        arrays["identity"] = grid.identity
        arrays["inverse_strength"] = inverse_strength(spec, grid, row_scale)
        buffers["locked"] = (cells, "int8")
        launches = (_pair_launch(spec, config, grid),)
    else:
        arrays["alpha"] = scaled_alpha(spec, grid)
        arrays |= _clamped_arrays(spec, row_scale)
        moved = arrays["source_cos"].shape
        names = ("half_cos", "half_sin", "end_cos", "end_sin")
        buffers |= dict.fromkeys(names, (moved, "float32"))
        launches = _clamped_launches(spec, config, grid, moved[2])
        if not isinstance(spec.coupling, ExplicitCoupling):
            del arrays["matrix"]
            buffers["matrix"] = (cells, "float32")
    scales = {"row": row_scale, "value": value_scale}
    plan = _plan(spec, config, grid, launches, arrays, buffers)
    return Lowered(plan, arrays, buffers, launches, FLOAT32, scales)


def _clamped_arrays(spec: PhaseLayerSpec, row_scale: Array) -> Inputs:
    """Held and free phases as unit vectors, and rho K T; padded tokens have no drive and stay."""
    start, rate = initial_phase(spec), free_rate(spec)
    speed = rate * (spec.gain[:, None] * row_scale)[:, :, None]
    with np.errstate(over="ignore"):
        exponent = np.multiply(speed, spec.duration, out=np.zeros_like(speed), where=speed != 0)
    width = -(-spec.n_channels // LANES) * LANES
    return {
        "source_cos": widened(np.cos(spec.theta), width),
        "source_sin": widened(np.sin(spec.theta), width),
        "start_cos": widened(np.cos(start), width),
        "start_sin": widened(np.sin(start), width),
        # 2^100 is as good as infinity here, and times R = 0 it is still 0
        "exponent": widened(np.clip(exponent, -(2.0**100), 2.0**100), width),
    }


def _tile(config: TritonConfig) -> dict[str, Any]:
    return {"BLOCK_M": config.block_m, "BLOCK_N": config.block_n}


def _value_columns(spec: PhaseLayerSpec) -> int:
    return 0 if spec.values is None else power_of_two(spec.values.shape[2])


def _pair_launch(spec: PhaseLayerSpec, config: TritonConfig, grid: FrequencyGrid) -> Launch:
    return Launch(
        kernel="explicit_pair",
        grid=(-(-spec.n_oscillators // config.block_m), spec.n_heads),
        memory=(
            "frequency", "identity", "matrix", "inverse_strength", "active", "values",
            "sync", "locked", "output",
        ),
        constants={
            "CHANNELS": spec.n_channels,
            "PARTS": grid.n_parts,
            "VALUES": _value_columns(spec),
            "CAUSAL": spec.mask == "causal",
            **_tile(config),
        },
        sizes={"n": spec.n_oscillators},
    )  # fmt: skip


def _clamped_launches(
    spec: PhaseLayerSpec, config: TritonConfig, grid: FrequencyGrid, width: int
) -> tuple[Launch, ...]:
    rows, columns = (-(-spec.n_oscillators // block) for block in (config.block_m, config.block_n))
    sizes = {"n": spec.n_oscillators, "width": width}
    causal, tile = {"CAUSAL": spec.mask == "causal"}, _tile(config)
    frequency = Launch(
        "frequency_coupling",
        (rows, columns, spec.n_heads),
        ("frequency", "alpha", "active", "matrix"),
        {"CHANNELS": spec.n_channels, "PARTS": grid.n_parts, **causal, **tile},
        {"n": spec.n_oscillators},
    )
    held, end = ("matrix", "source_cos", "source_sin"), ("end_cos", "end_sin")
    flow = Launch(
        "clamped_flow",
        (rows, spec.n_heads, width // LANES),
        (*held, "start_cos", "start_sin", "exponent", "half_cos", "half_sin", *end),
        {"LANES": LANES, **causal, **tile},
        sizes,
    )
    read_out = Launch(
        "clamped_readout",
        (rows, spec.n_heads),
        (*held, *end, "values", "sync", "output"),
        {"CHANNELS": spec.n_channels, "VALUES": _value_columns(spec), "LANES": LANES, **tile},
        sizes,
    )
    explicit = isinstance(spec.coupling, ExplicitCoupling)
    return (flow, read_out) if explicit else (frequency, flow, read_out)


def _plan(
    spec: PhaseLayerSpec,
    config: TritonConfig,
    grid: FrequencyGrid,
    launches: tuple[Launch, ...],
    arrays: Inputs,
    buffers: dict[str, tuple[tuple[int, ...], str]],
) -> Plan:
    numbers = {
        "format": "float32",
        "matrix_product": "IEEE float32 (no TF32)",
        "mismatch": "sum over channels of squared differences of frequency parts",
        "frequency_parts": grid.n_parts,
        "frequency_step_rad_per_time_unit": [float(unit) for unit in np.ldexp(grid.unit, FINEST_EXPONENT)],
    }
    work_of = pair_work if spec.dynamics == "pair" else clamped_work
    work = work_of(spec, config.block_m, config.block_n, grid.n_parts, _value_columns(spec), LANES)
    # only inputs without sines and exponentials: those differ in the last bit between machines
    inputs = {name: fingerprint(arrays[name]) for name in ("frequency", "matrix", "active") if name in arrays}
    return Plan(
        target="triton",
        spec_digest=spec.digest,
        entries=(
            ("layer", layer_entry(spec)),
            ("device", {"asked": config.device}),
            ("launch", launch_entry(launches)),
            ("numbers", numbers),
            ("work", work),
            ("counts", tile_counts(work, launches, arrays, buffers).entry),
            ("accuracy", accuracy_entry(FLOAT32)),
            ("inputs", inputs),
        ),
    )
