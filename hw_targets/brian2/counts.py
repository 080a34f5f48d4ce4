"""Counts of the ideal phase oscillators that a layer stands for, on the layer's carrier."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2.clamped_lowering import ClampedLowering
from hw_targets.brian2.network_lowering import NetworkLowering
from hw_targets.brian2.pair_lowering import PairLowering
from oscsim.circuits.events import MEAN_WALK, UNQUANTISED_BITS, Events
from oscsim.counts import Counts
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import SETTLE_RESIDUAL

Array = NDArray[np.float64]
# Equal frequencies differ by this much of themselves after their mean has been taken off.
_ROUNDING = 1e-14


def layer_counts(spec: PhaseLayerSpec, lowered: PairLowering | NetworkLowering | ClampedLowering) -> Counts:
    """Counts of an array of oscillators that settles as far as this plan's run does, to SETTLE_RESIDUAL.

    pair: one injection-locked oscillator and one coupler per cell. network, clamped: an oscillator per token,
    head and channel (clamped: and a held one), one-way couplers. Each cell runs for the time that the plan
    predicts, at most ``max_duration`` of its own clock, at least one carrier cycle. Phase oscillators have
    continuous couplers and exact read-outs; they are counted as ones of UNQUANTISED_BITS.
    """
    cycles_per_unit = spec.carrier_hz * spec.time_unit_s
    if isinstance(lowered, PairLowering):
        events = _pair(spec, lowered, cycles_per_unit)
    elif isinstance(lowered, NetworkLowering):
        events = _network(spec, lowered, cycles_per_unit)
    else:
        events = _clamped(spec, lowered, cycles_per_unit)
    return events.counts(spec.carrier_hz, UNQUANTISED_BITS, UNQUANTISED_BITS, UNQUANTISED_BITS)


def _cycles(own_duration: Array, rate: Array, cycles_per_unit: float) -> Array:
    """Carrier cycles of durations on own clocks; one for what does not move."""
    units = np.divide(own_duration, rate, out=np.zeros_like(own_duration), where=rate > 0.0)
    return np.maximum(cycles_per_unit * units, 1.0)


def _pair(spec: PhaseLayerSpec, lowered: PairLowering, cycles_per_unit: float) -> Events:
    own = np.minimum(lowered.predicted, lowered.max_duration)
    cycles, coupled = _cycles(own, lowered.rate, cycles_per_unit), lowered.coupling != 0.0
    cells, couplers, coupling_cycles = float(cycles.size), float(coupled.sum()), float(cycles[coupled].sum())
    starts = cells if spec.psi_0 is not None else 0.0
    return Events(
        cells, float(cycles.sum()), couplers, coupling_cycles, couplers, coupling_cycles, starts, cells
    )


def _network(spec: PhaseLayerSpec, lowered: NetworkLowering, cycles_per_unit: float) -> Events:
    """A channel in which every oscillator can be held relaxes at its weakest pull; else it runs longest."""
    count, longest = int(lowered.valid.sum()), lowered.looks[-1] * lowered.step
    rounding = _ROUNDING * float(np.abs(spec.omega).max())
    held = np.abs(lowered.detuning) <= np.abs(lowered.matrix).sum(axis=2)[:, :, None] + rounding
    pull = np.where(np.isfinite(lowered.pull), lowered.pull, 0.0)[:, None]
    rest = np.log(1.0 / SETTLE_RESIDUAL) * np.divide(
        lowered.rate, pull, out=np.zeros_like(lowered.rate), where=pull > 0.0
    )
    own = np.where(held[:, lowered.valid].all(axis=1), np.minimum(rest, longest), longest)
    cycles = _cycles(own, lowered.rate, cycles_per_unit)  # (H, D)
    per_channel = np.count_nonzero(lowered.matrix, axis=(1, 2)).astype(float)
    couplers = float(per_channel.sum()) * cycles.shape[1]
    coupling_cycles = float(per_channel @ cycles.sum(axis=1))
    oscillators, walk = float(count * cycles.size), MEAN_WALK * float(np.sqrt(count))
    return Events(
        oscillators, float(count * cycles.sum()), couplers, coupling_cycles,
        couplers * walk, coupling_cycles * walk, oscillators, oscillators,
    )  # fmt: skip


def _clamped(spec: PhaseLayerSpec, lowered: ClampedLowering, cycles_per_unit: float) -> Events:
    """Held oscillators run until the last free one ends."""
    valid = spec.valid
    cycles = _cycles(lowered.own_duration, lowered.speed, cycles_per_unit)[:, valid]
    per_row = np.count_nonzero(lowered.coupling, axis=2).astype(float)[:, valid, None]
    free, walk = float(cycles.size), MEAN_WALK * float(np.sqrt(2 * valid.sum()))
    couplers, coupling_cycles = float(per_row.sum()) * cycles.shape[2], float((per_row * cycles).sum())
    return Events(
        2.0 * free, float(cycles.sum()) + free * float(cycles.max()), couplers, coupling_cycles,
        couplers * walk, coupling_cycles * walk, 2.0 * free, free,
    )  # fmt: skip
