"""The sections of a plan: what is run, in which numbers, for how long, and what it costs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.cells import Cells
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.network import Network
from hw_targets.lava.program import STAGES, CellProgram, NetworkProgram
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Row, fingerprint
from oscsim.tolerance import Accuracy

Entries = dict[str, Any]

# A cell looks up four sines for a Runge-Kutta step and one cosine for its sum; an oscillator of a network
# looks up one of each per stage.
CELL_LOOKUPS = 5
STAGE_LOOKUPS = 2


def head_entries(
    spec: PhaseLayerSpec, config: LavaConfig, picks: dict[str, Row]
) -> tuple[tuple[str, Entries], ...]:
    """The configuration as given, what lowering picked and why, and the layer in numbers."""
    layer = {
        "dynamics": spec.dynamics,
        "mask": spec.mask,
        "heads": spec.n_heads,
        "oscillators": spec.n_oscillators,
        "channels": spec.n_channels,
        "padded": int((~spec.valid).sum()),
    }
    return ("config", config.model_dump()), ("picks", dict(picks)), ("layer", layer)


def accuracy_entries(accuracy: Accuracy) -> Entries:
    """What the run promises."""
    return {
        "epsilon": digits(accuracy.epsilon),
        "band": digits(accuracy.band),
        "averaging_error": digits(accuracy.averaging_error),
        "excluded_share": accuracy.excluded_share,
    }


def cell_entries(cells: Cells, program: CellProgram, form: NumberFormat) -> Entries:
    """The cells and their parameters."""
    return {
        "process": "PairCells",
        "process_model": form.tag,
        "cells": len(cells.steps),
        "half_turn_ahead": int(cells.turned.sum()),
        "idle": int((cells.steps == 0).sum()),
        "phase": _array(program.phase),
        "mismatch": _array(program.mismatch),
        "coupling": _array(program.coupling),
        **_widths(form),
    }


def cell_clock(cells: Cells, program: CellProgram, form: NumberFormat, accuracy: Accuracy) -> Entries:
    """Own-clock step, steps of the cells, and what they cannot decide."""
    steps = cells.steps if len(cells.steps) else np.zeros(1, np.int64)
    inside = np.abs(cells.ratio - 1.0) <= accuracy.band
    return {
        "own_clock_step": digits(form.step),
        "steps_shortest": int(steps.min()),
        "steps_median": int(np.sort(steps)[len(steps) // 2]),
        "steps_longest": int(steps.max()),
        "steps": fingerprint(cells.steps),
        "predicted_settling_own_clock": digits(form.step * int(steps.max())),
        "lava_steps": program.lava_steps,
        "residual": digits(form.residual),
        "resolution": digits(form.resolution),
        "cells_inside_band": int(inside.sum()),
        "cells_out_of_steps": int((~cells.complete & ~inside).sum()),
    }


def cell_resources(cells: Cells, program: CellProgram, form: NumberFormat) -> Entries:
    """Operations as executed: cells that have used up their steps are silent."""
    updates = int(cells.steps.sum())
    return {
        "neurons": len(cells.steps),
        "synapses": 0,
        "neuron_updates": updates,
        "sine_lookups": CELL_LOOKUPS * updates,
        "spikes": 0,
        "synaptic_operations": 0,
        "lava_steps": program.lava_steps,
        "bits_per_neuron": _neuron_bits(form, sums=2),
    }


def network_entries(net: Network, program: NetworkProgram, form: NumberFormat) -> Entries:
    """The oscillators, their synapses and frames."""
    widths = _widths(form)
    if isinstance(form.arithmetic, FixedPoint):
        widths |= {
            "weight_bits": program.weight_bits,
            "gain_shift": program.gain_shift,
            "largest_row_sum": int(np.abs(program.weights).sum(axis=1).max(initial=0)),
        }
    return {
        "process": "PhaseOscillators",
        "process_model": form.tag,
        "dense_processes": 2,
        "oscillators": len(net.theta),
        "theta": _array(program.theta),
        "drift": _array(program.drift),
        "gain": _array(program.gain),
        "weights": _array(program.weights),
        "rotating_frame_rad_per_time_unit": [digits(x) for x in net.frame.ravel()],
        "own_clock_per_time_unit": [digits(x) for x in net.clock],
        **widths,
    }


def network_clock(net: Network, program: NetworkProgram, form: NumberFormat, most_chunks: int) -> Entries:
    """Own-clock step, time steps of Lava, and a mean-field guess of when the network rests."""
    stages, chunk = STAGES[program.integrator], program.chunk
    rows = np.abs(net.matrix).sum(axis=1)
    weakest = rows[rows > 0].min(initial=np.inf)
    # the most weakly driven oscillator relaxes at most at the sum of its couplings
    time = np.log(1.0 / form.residual) / weakest if np.isfinite(weakest) else 0.0
    return {
        "own_clock_step": digits(form.step),
        "lava_steps_per_step": stages,
        "steps_per_look": chunk,
        "steps_longest": chunk * most_chunks,
        "lava_steps_longest": program.lava_steps(chunk * most_chunks),
        "predicted_settling_own_clock": digits(time),
        "residual": digits(form.residual),
        "resolution": digits(form.resolution),
    }


def network_resources(net: Network, program: NetworkProgram) -> Entries:
    """Operations of one Lava time step as executed: Dense multiplies every entry of its matrix."""
    count = len(net.theta)
    return {
        "neurons": count,
        "synapses": 2 * int(np.count_nonzero(program.weights)),
        "neuron_updates_per_lava_step": count,
        "sine_lookups_per_lava_step": STAGE_LOOKUPS * count,
        "spikes_per_lava_step": 2 * count,
        "synaptic_operations_per_lava_step": 2 * count * count,
        "bits_per_graded_spike": program.payload_bits,
    }


def digits(value: float) -> float:
    """Six significant digits: enough to read, and the same on every processor."""
    return float(f"{value:.6g}")


def _array(array: NDArray[Any]) -> str:
    """Fingerprint of an array; floats to nine decimals, whose last bits depend on the processor."""
    return fingerprint(array if array.dtype.kind == "i" else array.round(9) + 0.0)


def _widths(form: NumberFormat) -> Entries:
    """Bits of everything in a fixed-point format."""
    arithmetic = form.arithmetic
    if not isinstance(arithmetic, FixedPoint):
        return {}
    return {
        "phase_bits": arithmetic.phase_bits,
        "sine_table_entries": 1 << arithmetic.sine_bits,
        "payload_bits": arithmetic.payload_bits,
        "parameter_bits": arithmetic.parameter_bits,
        "accumulator_bits": arithmetic.accumulator_bits,
        "step_least_significant_bits": arithmetic.step_lsb,
    }


def _neuron_bits(form: NumberFormat, sums: int) -> int:
    """State and parameters of one neuron: phase, two parameters, sums that grow with the steps."""
    arithmetic = form.arithmetic
    if not isinstance(arithmetic, FixedPoint):
        return 64 * (3 + sums)
    return arithmetic.phase_bits + 2 * arithmetic.parameter_bits + sums * (arithmetic.payload_bits + 24)
