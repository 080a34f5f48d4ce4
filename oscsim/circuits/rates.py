"""Slowest rates of what has to come to rest: no run shorter than 1/rate can tell rest from slow motion."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from oscsim.circuits.circuit import Circuit
from oscsim.circuits.lowering import loading_shift

Array = NDArray[np.float64]

# Runs have to last that many times 1/rate before anything counts as rest: e^-4 = 2 % of the way is left, and
# how the motion shrinks (rest_distance) tells the remainder. Runs are planned for ln(2 pi/accuracy).
RELAXATIONS = 4.0
# Frequencies closer than this (relative) are equal: tuning curves are inverted to 1e-12.
_EQUAL = 1e-11


def slowest_rate(circuit: Circuit, batch: int, members: NDArray[np.int64], mean: Array) -> float:
    """Slowest relaxation, rad per natural unit, of oscillators of a network that do not turn mutually.

    The smallest nonzero eigenvalue of ``L = diag(sum_j w_ij) - w`` with ``w_ij = b_1 kappa_ij cos``, the
    linearised phase equations. Parts that no coupler joins have no rate (0) unless their free frequencies
    are equal: these stay where they are.

    Parameters
    ----------
    members : (m,) oscillators. mean : (m, m) mean cosine of their phase differences.
    """
    if len(members) < 2:
        return np.inf
    weights = circuit.kappa[circuit.matrix[batch]][np.ix_(members, members)]
    weights = weights * circuit.reduction.coupling.strength * mean
    np.fill_diagonal(weights, 0.0)
    parts, label = connected_components(weights != 0.0, directed=False)
    if parts > 1 and _apart(circuit, batch, members, label).any():
        return 0.0
    rates = [np.inf]
    for part in range(parts):
        own = weights[np.ix_(label == part, label == part)]
        if len(own) > 1:
            decay = np.sort(np.abs(np.linalg.eigvals(np.diag(own.sum(axis=1)) - own).real))
            rates.append(float(decay[1]))  # the first is that of turning all together
    return min(rates)


def drift_rates(circuit: Circuit) -> Array:
    """(B,) slowest beat, rad per natural unit, of parts of a network that no coupler joins; else infinite."""
    slowest = np.full(circuit.array.batches, np.inf)
    for batch, matrix in enumerate(circuit.matrix):
        parts, label = connected_components(circuit.kappa[matrix] != 0.0, directed=False)
        if parts > 1:
            apart = _apart(circuit, batch, np.arange(circuit.array.size), label)
            slowest[batch] = apart[apart > 0.0].min(initial=np.inf)
    return slowest


def _apart(circuit: Circuit, batch: int, members: NDArray[np.int64], label: NDArray[np.int32]) -> Array:
    """Differences of the mean frequencies of parts, 0 where they are equal as wanted and as built."""
    loads = loading_shift(circuit.reduction, circuit.kappa[circuit.matrix[[batch]]], True)[0]
    built = circuit.detuning[batch] + loads
    wanted = circuit.array.detuning[batch]
    count = np.bincount(label)

    def gaps(values: Array) -> Array:
        mean = np.bincount(label, values[members]) / count
        return np.abs(mean[:, None] - mean)[np.triu_indices(len(count), 1)]

    equal = gaps(wanted) <= 1e-14 * np.abs(wanted).max(initial=0.0)
    beat = gaps(built)
    same = equal & (beat <= _EQUAL * circuit.reduction.cycle.frequency)
    return np.where(same, 0.0, np.maximum(beat, 1e-300))
