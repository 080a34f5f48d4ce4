"""Lowering: from a layer and a configuration to a visible plan and the numbers that the processes get."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hw_targets.lava.advice import TooCoarse, with_enough
from hw_targets.lava.cells import Cells, clamped_cells, pair_cells, program
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.converter import converted, gain_row, timing_of
from hw_targets.lava.counts import cell_counts, network_counts
from hw_targets.lava.delay import delayed
from hw_targets.lava.duration import RELATIVE, edge_band, network_band
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat, number_format
from hw_targets.lava.held import Held, Schedule, held, held_program, schedule
from hw_targets.lava.held_promise import held_promise
from hw_targets.lava.network import Network, network, network_program
from hw_targets.lava.network_promise import network_promise
from hw_targets.lava.picks import Picked
from hw_targets.lava.plan_chip import hardware_entries
from hw_targets.lava.plan_entries import (
    accuracy_entries,
    cell_clock,
    cell_entries,
    cell_resources,
    head_entries,
)
from hw_targets.lava.plan_network import (
    held_clock,
    held_entries,
    network_clock,
    network_entries,
    network_resources,
)
from hw_targets.lava.program import CellProgram, NetworkProgram
from hw_targets.lava.promises import promise
from hw_targets.lava.unused import refuse_unused
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan
from oscsim.tolerance import AVERAGING_RESIDUAL, EDGE_BAND, Accuracy, rk4_epsilon

# Integration steps of a network between two looks at its data.
CHUNK_STEPS = 128


@dataclass(frozen=True, eq=False)
class Lowered:
    """A lowered layer: the plan, and everything a run needs. Holds no Lava object."""

    spec: PhaseLayerSpec
    config: Picked
    plan: Plan
    accuracy: Accuracy
    number_format: NumberFormat


@dataclass(frozen=True, eq=False)
class LoweredCells(Lowered):
    """A pair or clamped layer; ``held`` (H, N, D) is the phase of the drive, rad (clamped only)."""

    cells: Cells
    program: CellProgram
    held: Any = None


@dataclass(frozen=True, eq=False)
class LoweredNetwork(Lowered):
    """A network layer; ``averaging_residual`` is how far two averages may differ that count as one."""

    network: Network
    program: NetworkProgram
    most_chunks: int
    averaging_residual: float


@dataclass(frozen=True, eq=False)
class LoweredHeld(Lowered):
    """A clamped layer whose held sources send spikes through synapses."""

    held: Held
    program: NetworkProgram
    schedule: Schedule


def lower(spec: PhaseLayerSpec, config: LavaConfig) -> Lowered:
    """Lower a layer (see AbstractTarget.lower)."""
    refuse_unused(spec, config)
    try:
        return _lowered(spec, config)
    except TooCoarse as coarse:
        raise with_enough(coarse, config, lambda changed: _lowered(spec, changed)) from None


def _lowered(spec: PhaseLayerSpec, config: LavaConfig) -> Lowered:
    if spec.dynamics == "clamped" and config.held_sources == "synapses":
        return _lower_held(spec, config)
    return _lower_network(spec, config) if spec.dynamics == "network" else _lower_cells(spec, config)


def _lower_cells(spec: PhaseLayerSpec, given: LavaConfig) -> LoweredCells:
    picks = converted(spec, given)
    config = picks.config
    form = number_format(config)
    timing = timing_of(config, form)
    # an unsigned mantissa is off by at most half of its least significant bit
    accuracy = promise(config, config.parameter_bits + 1, form.step, spec.dynamics)
    held = None
    if spec.dynamics == "pair":
        accuracy = replace(accuracy, band=edge_band(timing))
        cells = pair_cells(spec, timing, accuracy.band)
    else:
        cells, held = clamped_cells(spec, timing, accuracy.epsilon)
    prog = program(cells, form, config.integrator)
    entries = (
        *head_entries(spec, given, picks.rows),
        ("cells", cell_entries(cells, prog, form)),
        ("clock", cell_clock(cells, prog, form, accuracy)),
        ("accuracy", accuracy_entries(accuracy)),
        ("resources", cell_resources(cells, prog, form)),
        *hardware_entries(spec.dynamics, config, form, prog, np.zeros(0, np.int64)),
        ("counts", cell_counts(prog, form).entry),
    )
    plan = Plan("lava", spec.digest, entries)
    return LoweredCells(spec, config, plan, accuracy, form, cells, prog, held)


def _lower_network(spec: PhaseLayerSpec, given: LavaConfig) -> LoweredNetwork:
    net = network(spec)
    picks = converted(spec, given, net.matrix)
    config = picks.config
    form = number_format(config)
    chunk = min(CHUNK_STEPS, config.max_steps)
    prog = network_program(net, config, form, chunk)
    accuracy = network_promise(net, prog, config, form)
    # fixed point: rounding shakes the average, which cannot agree better than the format's own error
    floor = accuracy.epsilon / 8 if isinstance(form.arithmetic, FixedPoint) else 0.0
    residual = max(AVERAGING_RESIDUAL, floor)
    band = max(EDGE_BAND, 2.0 * form.resolution, network_band(form.step, config.max_steps))
    average = accuracy.averaging_error + rk4_epsilon(RELATIVE * form.step)
    # a run adds the estimated error of its own average
    accuracy = replace(accuracy, band=band, averaging_error=average)
    if config.delay_steps:
        accuracy = delayed(accuracy, net, spec.mask, form.step)
    most_chunks = config.max_steps // chunk
    steps, tokens = chunk * most_chunks, len(net.valid)
    entries = (
        *head_entries(spec, given, picks.rows | gain_row(given, prog)),
        ("network", network_entries(net, prog, form)),
        ("clock", network_clock(net, prog, form, most_chunks)),
        ("accuracy", accuracy_entries(accuracy)),
        ("resources", network_resources(spec.n_heads, prog)),
        *hardware_entries(spec.dynamics, config, form, prog, np.full(len(net.theta), tokens)),
        ("counts", network_counts(prog, form, config, steps, tokens, steps * len(net.theta)).entry),
    )
    plan = Plan("lava", spec.digest, entries)
    return LoweredNetwork(spec, config, plan, accuracy, form, net, prog, most_chunks, residual)


def _lower_held(spec: PhaseLayerSpec, given: LavaConfig) -> LoweredHeld:
    these = held(spec)
    picks = converted(spec, given, these.matrix)
    config = picks.config
    form = number_format(config)
    steps = schedule(these, timing_of(config, form), CHUNK_STEPS)
    prog = held_program(these, steps, config, form)
    accuracy = held_promise(these, steps, prog, config, form)
    read = 2 * len(these.free)  # whether they rest is decided from the last two
    entries = (
        *head_entries(spec, given, picks.rows | gain_row(given, prog)),
        ("held", held_entries(these, prog, form)),
        ("clock", held_clock(these, steps, prog, form)),
        ("accuracy", accuracy_entries(accuracy)),
        ("resources", network_resources(spec.n_heads, prog)),
        *hardware_entries(
            spec.dynamics, config, form, prog, np.repeat([len(these.valid), 0], len(these.free))
        ),
        ("counts", network_counts(prog, form, config, steps.steps, len(these.valid), read).entry),
    )
    plan = Plan("lava", spec.digest, entries)
    return LoweredHeld(spec, config, plan, accuracy, form, these, prog, steps)
