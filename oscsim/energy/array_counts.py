"""Events of a physical oscillator array that runs for a given time: what is built, and how often it turns."""

import math

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.events import MEAN_WALK, Events
from oscsim.counts import Counts
from oscsim.energy.resolution import Resolution
from oscsim.energy.settling import Settling
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]


def array_counts(
    spec: PhaseLayerSpec, cell: str, found: Settling, running: Array, bits: Resolution, carrier_hz: float
) -> Counts:
    """Counts of one evaluation.

    pair: one cell per unmasked ordered pair and head: one oscillator locked to a clean reference, or two that
    pull each other ("mutual"), one coupler and one cell pitch of wire where ``J`` is not 0.
    network: one oscillator per token, head and channel, a one-way coupler per unmasked nonzero ``J_ij``
    off the diagonal. clamped: one free and one held oscillator per token, head and channel, a one-way coupler
    per unmasked nonzero ``J_ij``. Couplers of n oscillators on a square take ``2/3 sqrt(n)`` cell pitches of
    wire each: the mean distance of two places, walked along the axes.

    Every oscillator has a tuning code and every coupler a coupling code to be written; of a clamped layer
    only free ones with a rate of their own are tuned, since all turn at the carrier. Phases that have to be
    set at the start (all but those of pair cells that start at 0 or pi) are a conversion each. Every cell,
    free oscillator or network oscillator is read once; of a network that does not lock, every pair of
    oscillators, whose averaged phase detector is read.

    Parameters
    ----------
    running : carrier cycles of each entry of ``found``. bits : of couplers, tuning and the read-out.
        Where oscillators are switched off one by one, ``array_seconds`` is their mean.
    """
    if spec.dynamics == "pair":
        events = _pair(spec, cell, found, running)
    else:
        events = (_network if spec.dynamics == "network" else _clamped)(spec, found, running)
    return events.counts(carrier_hz, bits.coupling, bits.tuning, bits.readout)


def _pair(spec: PhaseLayerSpec, cell: str, found: Settling, running: Array) -> Events:
    cells, per_cell = float(found.built.sum()), 2.0 if cell == "mutual" else 1.0
    coupled = found.built & (pair_terms.coupling(spec) != 0.0)
    couplers, coupling_cycles = float(coupled.sum()), float(running[coupled].sum())
    starts = cells if spec.psi_0 is not None else 0.0
    return Events(
        per_cell * cells, per_cell * float(running.sum()), couplers, coupling_cycles,
        couplers, coupling_cycles, starts, cells,
    )  # fmt: skip


def _network(spec: PhaseLayerSpec, found: Settling, running: Array) -> Events:
    count, others = int(spec.valid.sum()), ~np.eye(spec.n_oscillators, dtype=bool)
    allowed = pair_terms.unmasked(spec) & others
    per_channel = (allowed & (pair_terms.coupling(spec) != 0.0)).sum(axis=(1, 2)).astype(float)  # (H,)
    couplers, coupling_cycles = (
        float(per_channel.sum()) * spec.n_channels,
        float(per_channel @ running.sum(1)),
    )
    oscillators, walk = float(count * running.size), MEAN_WALK * math.sqrt(count)
    pairs = float(np.triu(allowed | allowed.T).sum())
    reads = float(np.where(found.locked, count, max(pairs, float(count))).sum())
    return Events(
        oscillators, float(count * running.sum()), couplers, coupling_cycles,
        couplers * walk, coupling_cycles * walk, oscillators, reads,
    )  # fmt: skip


def _clamped(spec: PhaseLayerSpec, found: Settling, running: Array) -> Events:
    """Held oscillators run until the slowest free one is read; a coupler as long as what it drives."""
    allowed = pair_terms.unmasked(spec) & (pair_terms.coupling(spec) != 0.0)
    per_row = allowed.sum(axis=2).astype(float)[:, :, None]  # (H, N, 1) couplers into each free oscillator
    free, walk = float(found.built.sum()), MEAN_WALK * math.sqrt(2 * int(spec.valid.sum()))
    couplers, coupling_cycles = float(per_row.sum()) * spec.n_channels, float((per_row * running).sum())
    return Events(
        2.0 * free, float(running.sum()) + free * float(running.max()), couplers, coupling_cycles,
        couplers * walk, coupling_cycles * walk, 2.0 * free, free, 0.0 if found.tuning is None else free,
    )  # fmt: skip
