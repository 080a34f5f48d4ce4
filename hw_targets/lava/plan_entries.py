"""The sections of a plan: what is run, in which numbers, for how long, and what it costs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.cells import Cells
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.program import CellProgram
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Row, fingerprint
from oscsim.tolerance import Accuracy

Entries = dict[str, Any]

# Sines that a cell looks up in one step: those of the inner stages, and sine and cosine of the new phase.
CELL_LOOKUPS = {"runge_kutta": 5, "euler": 2}
# And of its first phase, before any step.
FIRST_LOOKUPS = 2


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
        "phase": fingerprint_of(program.phase),
        "mismatch": fingerprint_of(program.mismatch),
        "coupling": fingerprint_of(program.coupling),
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
    updates, count = int(cells.steps.sum()), len(cells.steps)
    return {
        "neurons": count,
        "synapses": 0,
        "neuron_updates": updates,
        "sine_lookups": CELL_LOOKUPS[program.integrator] * updates + FIRST_LOOKUPS * count,
        "spikes": 0,
        "synaptic_operations": 0,
        "lava_steps": program.lava_steps,
    }


def digits(value: float) -> float:
    """Six significant digits: enough to read, and the same on every processor."""
    return float(f"{value:.6g}")


def fingerprint_of(array: NDArray[Any]) -> str:
    """Fingerprint of an array; floats to nine decimals, whose last bits depend on the processor."""
    return fingerprint(array if array.dtype.kind == "i" else array.round(9) + 0.0)
