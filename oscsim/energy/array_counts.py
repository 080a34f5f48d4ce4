"""Events of a physical oscillator array that runs for a given time: what is built, and how often it turns."""

import math

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.counts import Counts
from oscsim.energy.settling import Settling
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

# Mean distance of two random places on a square of unit side, walked along the axes: 1/3 for each axis.
_MEAN_WALK = 2.0 / 3.0


def array_counts(
    spec: PhaseLayerSpec, cell: str, found: Settling, running: Array, bits: tuple[int, int], carrier_hz: float
) -> Counts:
    """Counts of one evaluation.

    pair: one cell per unmasked ordered pair and head: one oscillator locked to a clean reference, or two that
    pull each other ("mutual"), one coupler and one cell pitch of wire where ``J`` is not 0.
    network: one oscillator per token, head and channel, a one-way coupler per unmasked nonzero ``J_ij``
    off the diagonal. clamped: one free and one held oscillator per token, head and channel, a one-way coupler
    per unmasked nonzero ``J_ij``. Couplers of n oscillators on a square take ``2/3 sqrt(n)`` cell pitches of
    wire each: the mean distance of two places, walked along the axes.

    Every oscillator has a tuning code and every coupler a coupling code to be written. Phases that have to be
    set at the start (all but those of pair cells that start at 0 or pi) are a conversion each. Every cell,
    free oscillator or network oscillator is read once; of a network that does not lock, every pair of
    oscillators, whose averaged phase detector is read.

    Parameters
    ----------
    running : carrier cycles of each entry of ``found``. bits : of couplers and tuning, of the read-out.
        Where oscillators are switched off one by one, ``array_seconds`` is their mean.
    """
    of_dynamics = {"pair": _pair, "network": _network, "clamped": _clamped}[spec.dynamics]
    built, read, started, cycles, spans = of_dynamics(spec, cell, found, running)
    oscillators, couplers = built
    oscillator_cycles, coupling_cycles = cycles
    coupling_bits, readout_bits = bits
    numbers = {
        "oscillators": oscillators,
        "oscillator_cycles": oscillator_cycles,
        f"couplers.{coupling_bits}": couplers,
        f"coupling_cycles.{coupling_bits}": coupling_cycles,
        "wire_spans": couplers * spans,
        "wire_span_cycles": coupling_cycles * spans,
        "array_seconds": oscillator_cycles / max(oscillators, 1.0) / carrier_hz,
        f"programming_writes.{coupling_bits}": oscillators + couplers,
        f"phase_conversions.{readout_bits}": read,
        f"dac_conversions.{readout_bits}": started,
    }
    return Counts({name: float(number) for name, number in numbers.items()})


Parts = tuple[tuple[float, float], float, float, tuple[float, float], float]


def _pair(spec: PhaseLayerSpec, cell: str, found: Settling, running: Array) -> Parts:
    cells, per_cell = float(found.built.sum()), 2.0 if cell == "mutual" else 1.0
    coupled = found.built & (pair_terms.coupling(spec) != 0.0)
    started = cells if spec.psi_0 is not None else 0.0
    cycles = (per_cell * float(running.sum()), float(running[coupled].sum()))
    return (per_cell * cells, float(coupled.sum())), cells, started, cycles, 1.0


def _network(spec: PhaseLayerSpec, cell: str, found: Settling, running: Array) -> Parts:
    del cell
    count, others = int(spec.valid.sum()), ~np.eye(spec.n_oscillators, dtype=bool)
    allowed = pair_terms.unmasked(spec) & others
    couplers = (allowed & (pair_terms.coupling(spec) != 0.0)).sum(axis=(1, 2)).astype(float)  # (H,)
    oscillators = float(count * running.size)
    pairs = float(np.triu(allowed | allowed.T).sum())
    read = float(np.where(found.locked, count, max(pairs, float(count))).sum())
    cycles = (float(count * running.sum()), float((couplers[:, None] * running).sum()))
    built = (oscillators, float(couplers.sum()) * spec.n_channels)
    return built, read, oscillators, cycles, _MEAN_WALK * math.sqrt(count)


def _clamped(spec: PhaseLayerSpec, cell: str, found: Settling, running: Array) -> Parts:
    """Held oscillators run until the slowest free one is read; a coupler as long as what it drives."""
    del cell
    allowed = pair_terms.unmasked(spec) & (pair_terms.coupling(spec) != 0.0)
    per_row = allowed.sum(axis=2).astype(float)[:, :, None]  # (H, N, 1) couplers into each free oscillator
    free, count = float(found.built.sum()), int(spec.valid.sum())
    cycles = (
        float(running.sum()) + free * float(running.max()),
        float((per_row * running).sum()),
    )
    built = (2.0 * free, float(per_row.sum()) * spec.n_channels)
    return built, free, 2.0 * free, cycles, _MEAN_WALK * math.sqrt(2 * count)
