"""Lowering of the network law: one program holds the whole network of a head."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.config import TritonConfig
from hw_targets.triton.counts import network_counts
from hw_targets.triton.plan import (
    Launch,
    Lowered,
    accuracy_entry,
    launch_entry,
    layer_entry,
    power_of_two,
    require_at_most,
)
from oscsim.pair_terms import coupling, network_matrix
from oscsim.phase import wrap
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan
from oscsim.tolerance import FLOAT32_EPSILON, FLOAT32_SETTLE_RESIDUAL, Accuracy

Array = NDArray[np.float64]

LARGEST_NETWORK = 128
LANES = 16
FIRST_STEPS = 256
# Bytes of sampled phases that are kept; older ones are dropped.
_LARGEST_SAMPLES = 2**28


def lower_network(spec: PhaseLayerSpec, config: TritonConfig) -> Lowered:
    """Arrays, constants and plan of a network layer.

    Every head runs in its own time unit, 1 / max_il (sum_j |K J_ij / n_i| + |omega_i^l - Omega^l|), so no
    rate exceeds 1, and in the frame of Omega: the mean frequency, or for a causal mask the first
    oscillator's, which nothing drives.
    """
    advice = "the brian2 target and oscsim.integrate have no such limit"
    require_at_most("oscillators of a network", spec.n_oscillators, LARGEST_NETWORK, advice)
    matrix = network_matrix(spec, coupling(spec))
    frequency = _rotating(spec)
    row_rate = np.abs(matrix).sum(axis=2)[:, :, None] + np.abs(frequency)
    fastest = row_rate.max(axis=(1, 2))
    fastest = np.where(fastest > 0, fastest, 1.0)[:, None, None]
    count = power_of_two(spec.n_oscillators)
    width = -(-spec.n_channels // LANES) * LANES
    phase = wrap(spec.theta)
    rounded = phase.astype(np.float32)
    arrays: dict[str, NDArray[Any]] = {
        "phase": _padded(rounded, count, width),
        "carry": _padded(rounded - phase, count, width),
        "frequency": _padded(frequency / fastest, count, width),
        "matrix": _padded(matrix / fastest, count, count),
    }
    launch = Launch(
        "network_steps",
        (spec.n_heads, width // LANES),
        ("phase", "carry", "frequency", "matrix", "velocity"),
        {"COUNT": count, "WIDTH": width, "LANES": LANES},
        warps=4 if count <= 32 else 8,
    )
    scales = {"row_rate": row_rate / fastest, "time_unit": 1.0 / fastest[:, 0, 0]}
    accuracy = Accuracy(FLOAT32_EPSILON, averaging_error=config.average_tolerance)
    buffers = {"velocity": ((spec.n_heads, count, width), "float32")}
    needed = _predicted_steps(matrix / fastest, np.abs(frequency) / fastest, config)
    plan = _plan(spec, config, launch, scales, accuracy, needed)
    counts = network_counts(plan["work"], _taken(needed, plan["steps"]), arrays, buffers)
    plan = replace(plan, entries=(*plan.entries, ("counts", counts.entry)))
    return Lowered(plan, arrays, buffers, (launch,), accuracy, scales)


def _rotating(spec: PhaseLayerSpec) -> Array:
    """(H, N, D) frequencies in the rotating frame; 0 for padding."""
    index = np.flatnonzero(spec.valid)
    used = spec.omega[:, index] - spec.omega[:, index[:1]]  # a common offset goes before it can round
    if spec.mask == "full":
        used = used - used.mean(axis=1, keepdims=True)
    frequency = np.zeros_like(spec.omega)
    frequency[:, index] = used
    return frequency


def _padded(array: NDArray[Any], rows: int, columns: int) -> NDArray[np.float32]:
    padded = np.zeros((len(array), rows, columns), np.float32)
    padded[:, : array.shape[1], : array.shape[2]] = array
    return padded


def _predicted_steps(matrix: Array, frequency: Array, config: TritonConfig) -> list[int]:
    """Steps of every head until rest, by the mean field of its weakest row; the most there are where an
    oscillator is too far off to be held: how long its average takes only the run can tell.
    """
    pull = np.abs(matrix * ~np.eye(matrix.shape[1], dtype=bool)).sum(axis=2)  # (H, N)
    held = (frequency <= pull[:, :, None]).all(axis=(1, 2))
    weakest = np.where(pull > 0.0, pull, np.inf).min(axis=1)
    time = np.where(np.isfinite(weakest), np.log(1.0 / FLOAT32_SETTLE_RESIDUAL) / weakest, 0.0)
    # nine digits: the last bit of a logarithm depends on the processor, the plan must not
    steps = np.ceil(np.round(np.minimum(time / config.step, config.max_steps), 9))
    return [int(count) for count in np.where(held, steps, config.max_steps)]


def _taken(needed: list[int], steps: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Steps and launches after which run_heads looks late enough."""
    ends = []
    for least in needed:
        taken = launches = 0
        while launches == 0 or taken < min(least, steps["most"]):
            longer = max(int(taken * (steps["growth"] - 1.0)), steps["first"])
            taken += min(longer, steps["kept"], steps["most"] - taken)
            launches += 1
        ends.append((taken, launches))
    return ends


def _plan(
    spec: PhaseLayerSpec,
    config: TritonConfig,
    launch: Launch,
    scales: dict[str, Array],
    accuracy: Accuracy,
    needed: list[int],
) -> Plan:
    count, width = launch.constants["COUNT"], launch.constants["WIDTH"]
    per_step = spec.n_heads * count * width
    steps = {
        "first": FIRST_STEPS,
        "growth": 1.5,
        "kept": max(FIRST_STEPS, min(config.max_steps, _LARGEST_SAMPLES // (4 * per_step))),
        "most": config.max_steps,
        "predicted": needed,
    }
    numbers = {
        "format": "float32, phases with a second float32 for what rounding takes",
        "matrix_product": "IEEE float32 (no TF32)",
        "integrator": "classical Runge-Kutta, order 4",
        "step": config.step,
        "time_unit": [float(f"{unit:.6g}") for unit in scales["time_unit"]],
        "average_tolerance": config.average_tolerance,
    }
    work = {
        "multiply_adds_per_step": 8 * per_step * count,
        "special_functions_per_step": 8 * per_step,
        "additions_per_step": 20 * per_step,
        "multiplications_per_step": 16 * per_step,
        "bytes_stored_per_step": 4 * per_step,
    }
    return Plan(
        target="triton",
        spec_digest=spec.digest,
        entries=(
            ("layer", layer_entry(spec)),
            ("device", {"asked": config.device}),
            ("launch", launch_entry((launch,))),
            ("steps", steps),
            ("numbers", numbers),
            ("work", work),
            ("accuracy", accuracy_entry(accuracy)),
        ),
    )
