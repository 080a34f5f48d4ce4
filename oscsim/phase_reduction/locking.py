"""Two oscillators with any coupling function: what the closed form becomes when H is not a sine."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import ConfigError
from oscsim.phase_reduction.coupling_function import CouplingFunction
from oscsim.phase_reduction.first_root import first_root
from oscsim.phase_reduction.trigonometric import derivative, lowest, values_at
from oscsim.phase_reduction.turn_average import turn_average

Array = NDArray[np.float64]
_OF_PAIRS = ("detuning", "kappa_01", "kappa_10")
_AT_ONCE = 4096  # cells solved together: a grid of 512 phases each is 16 MB


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Pairs of oscillators, psi = theta_0 - theta_1, to first order in the couplers (natural units of time).

    ``psi' = detuning + kappa_01 Q(-psi) - kappa_10 Q(psi) + (|kappa_01| - |kappa_10|) shift``

    [KURAMOTO] section 5.2. A mutual pair, ``kappa_01 = kappa_10 = kappa``, obeys
    ``psi' = detuning - 2 kappa Q_odd(psi)``.

    Parameters
    ----------
    detuning : (B,) free frequency of oscillator 0 minus that of 1, rad per natural unit of time.
    kappa_01 : (B,) coupler from 1 into 0, signed: a negative one transmits -Q and loads with |kappa|.
    kappa_10 : (B,) coupler from 0 into 1; 0 for a driven oscillator 0.
    coupling : of the family.

    A number in place of an array is the same for all B pairs; three numbers are one pair.

    Raises
    ------
    ConfigError
        arrays that are not one row of B pairs together.

    >>> sine = CouplingFunction(np.array([0.0, -0.5j]), 0.0)
    >>> law = PairLaw(np.array([0.6, 1.2]), np.array([0.5, 0.5]), np.array([0.5, 0.5]), sine)
    >>> state = locked_phases(law, np.zeros(2))
    >>> state.locked.tolist(), state.mean_cosine.round(12).tolist(), state.rate.round(12).tolist()
    ([True, False], [0.8, 0.0], [0.8, 0.0])
    """

    detuning: Array
    kappa_01: Array
    kappa_10: Array
    coupling: CouplingFunction

    def __post_init__(self) -> None:
        given = [np.asarray(getattr(self, name), float) for name in _OF_PAIRS]
        try:
            rows = np.broadcast_arrays(*map(np.atleast_1d, given))
        except ValueError:
            rows = []
        if not rows or rows[0].ndim != 1:
            shapes = ", ".join(f"{name} {v.shape}" for name, v in zip(_OF_PAIRS, given, strict=True))
            raise ConfigError(
                f"PairLaw: given shapes {shapes}; expected numbers, or rows (B,) of one length; flatten them"
            )
        for name, row in zip(_OF_PAIRS, rows, strict=True):
            object.__setattr__(self, name, row)

    @property
    def coefficients(self) -> NDArray[np.complex128]:
        """(B, n + 1) f_0 ... f_n of ``psi' = f_0 + sum_n 2 Re(f_n e^{i n psi})``."""
        c, into, back = self.coupling.coefficients, self.kappa_01[:, None], self.kappa_10[:, None]
        f = into * c.conj() - back * c
        loading = (np.abs(self.kappa_01) - np.abs(self.kappa_10)) * self.coupling.shift
        f[:, 0] = f[:, 0].real + self.detuning + loading
        return f

    def drift(self, psi: Array) -> Array:
        """psi' at phase differences psi (B,), rad per natural unit of time."""
        return values_at(self.coefficients, psi)

    def lock_range(self) -> tuple[Array, Array]:
        """Lowest and highest detuning (B,) at which a locked state exists, from the extremes of the coupling.

        A mutual pair locks for ``|detuning| <= 2 |kappa| max Q_odd``.
        """
        free = self.coefficients.copy()
        free[:, 0] -= self.detuning
        return lowest(-free)[1], -lowest(free)[1]


@dataclass(frozen=True, eq=False)
class PairState:
    """Where pairs end.

    Parameters
    ----------
    locked : (B,) bool, whether a locked state exists; on a circle the flow then reaches one from everywhere.
    psi : (B,) rad, the stable state reached from psi_0, continuous from there; NaN where it rotates.
    rate : (B,) relaxation rate at psi, per natural unit of time; 0 where it rotates.
    mean_cosine : (B,) cos psi, or its mean over whole beats where it rotates: the read-out.
    beat : (B,) mean rotation speed, rad per natural unit of time, signed; 0 where locked.
    """

    locked: NDArray[np.bool_]
    psi: Array
    rate: Array
    mean_cosine: Array
    beat: Array


def locked_phases(law: PairLaw, psi_0: Array | float) -> PairState:
    """The closed form of a pair with coupling function Q: locked or not, where, how fast, its mean cosine.

    Locked cells: the first root of psi' that the flow from psi_0 meets, to 1e-12 rad. A start exactly on an
    unstable state leaves it to the side that rounding says. Rotating cells:
    ``<cos> = (1/T) int cos(psi)/psi' dpsi`` over one turn, T the same integral without the cosine, to 1e-12.

    Parameters
    ----------
    law : of B pairs. psi_0 : (B,) initial differences, rad, or one for all.

    Raises
    ------
    ConfigError
        initial differences that are not B.
    """
    f, start = law.coefficients, np.asarray(psi_0, float)
    if start.shape not in ((), law.detuning.shape):
        raise ConfigError(
            f"psi_0: given shape {start.shape} for {len(f)} pairs; expected ({len(f)},) or a number"
        )
    start = np.broadcast_to(start, law.detuning.shape)
    parts = [_solve(f[k : k + _AT_ONCE], start[k : k + _AT_ONCE]) for k in range(0, max(1, len(f)), _AT_ONCE)]
    return PairState(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _solve(f: NDArray[np.complex128], start: Array) -> tuple[NDArray[np.bool_], Array, Array, Array, Array]:
    sense, ahead = _ahead(f, start)
    x, locked = first_root(ahead)
    psi = np.where(locked, start + sense * x, np.nan)
    rate, cosine, beat = np.zeros_like(x), np.cos(psi), np.zeros_like(x)
    rate[locked] = np.maximum(0.0, -values_at(derivative(ahead[locked]), x[locked])) + 0.0
    free = ~locked
    mean, speed = turn_average(ahead[free])
    beat[free] = sense[free] * speed
    cosine[free] = np.real(np.exp(1j * start[free]) * np.where(sense[free] > 0, mean, mean.conj()))
    return locked, psi, rate, cosine, beat


def _ahead(f: NDArray[np.complex128], start: Array) -> tuple[Array, NDArray[np.complex128]]:
    """Sense of motion at the start (+-1), and coefficients of the speed over the distance travelled."""
    sense = np.where(values_at(f, start) < 0.0, -1.0, 1.0)
    turned = f * np.exp(1j * np.multiply.outer(start, np.arange(f.shape[1])))
    return sense, np.where(sense[:, None] > 0, turned, -turned.conj())
