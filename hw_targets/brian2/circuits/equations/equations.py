"""What a family hands to Brian2: equations with units, parameters, and the coupling as numpy functions."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.circuit import Circuit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Coupling = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class StageFunction:
    """A numpy function of stage vectors (an entry per oscillator): inside the integrator, so order 4 is kept.

    Parameters
    ----------
    call : the function; arguments, result : names of units.
    """

    call: Callable[..., Array]
    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True, eq=False)
class Equations:
    """One family's circuit.

    Parameters
    ----------
    text : Brian2 equations. states : names of the state variables, in the order of ``Circuit.start``.
    units : SI value of one natural unit of each state.
    functions : by name. parameters : name -> (B, n) or a number, in the SI unit that the text declares.
    ports : states that coupling currents (and noise) enter.
    turning : whether the equations are those in the frame of the carrier.
    """

    text: str
    states: tuple[str, ...]
    units: tuple[float, ...]
    functions: dict[str, StageFunction]
    parameters: dict[str, Array | float]
    ports: tuple[str, ...]
    turning: bool = field(default=False)


def delay_line(signal: str, port: str, unit: str, turn: str = "") -> str:
    """The all-pass of a port, ``(delay/2) y' = s - y`` (docs/circuits.md).

    >>> delay_line("v", "p", "volt")
    'dp/dt = (v - p)/half_delay : volt'
    """
    return f"d{port}/dt = ({signal} - {port})/half_delay{turn} : {unit}"


def coupling(couplers: Array, matrix: Indices, batches: Indices, count: int) -> Coupling:
    """``sum_j couplers_ij s_j`` for stage vectors of the chosen batches: products of matrices.

    Parameters
    ----------
    couplers : (M, n, n); matrix : (B,) which of them a batch uses; batches : the ones that run.

    >>> pull = coupling(np.array([[[0.0, 2.0], [3.0, 0.0]]]), np.zeros(1, int), np.zeros(1, int), 2)
    >>> pull(np.array([1.0, 10.0])).tolist()
    [20.0, 3.0]
    """
    if count == 2:  # a pair: two products beat any call of a matrix product
        own = couplers[matrix[batches]]
        cross = np.stack([own[:, 0, 1], own[:, 1, 0]], axis=1)
        same = np.stack([own[:, 0, 0], own[:, 1, 1]], axis=1)
        alone = not same.any()

        def pair(signal: Array) -> Array:
            s = signal.reshape(-1, 2)
            return (cross * s[:, ::-1] if alone else cross * s[:, ::-1] + same * s).ravel()

        return pair
    used, where = np.unique(matrix[batches], return_inverse=True)
    turned = np.ascontiguousarray(couplers[used].transpose(0, 2, 1))
    order = np.argsort(where, kind="stable")
    sizes = np.bincount(where)
    if (sizes == sizes[0]).all():  # equally many batches per matrix: one product of stacks

        def stacked(signal: Array) -> Array:
            s = signal.reshape(-1, count)[order].reshape(len(used), -1, count)
            out = np.empty((len(order), count))
            out[order] = (s @ turned).reshape(-1, count)
            return out.ravel()

        def in_order(signal: Array) -> Array:
            return (signal.reshape(len(used), -1, count) @ turned).ravel()

        return in_order if (order == np.arange(len(order))).all() else stacked

    def uneven(signal: Array) -> Array:
        return np.matmul(signal.reshape(-1, 1, count), turned[where]).ravel()

    return uneven


def loads(circuit: Circuit, batches: Indices) -> Array:
    """(b n,) total conductance that resistive couplers put on every oscillator, in 1/Z; zeros if one-way."""
    total = np.abs(circuit.kappa).sum(axis=2)[circuit.matrix[batches]].ravel()
    return total if circuit.oscillator.reciprocal else np.zeros_like(total)
