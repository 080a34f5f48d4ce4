"""The averaged coupling function of two oscillators, from the limit cycle and phase response of one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_SAMPLES_PER_WAVE, _FEWEST, _NEGLIGIBLE = 8, 3, 1e-14


@dataclass(frozen=True, eq=False)
class CouplingFunction:
    """``theta_i' = omega_i + sum_j kappa_ij Q(theta_j - theta_i) + |kappa_ij| shift``, first order in kappa.

    ``Q(x) = c_0 + sum_n 2 Re(c_n e^{i n x})`` is the average over one turn of the phase response times the
    transmitted signal, ``shift`` the average of the response times the load (negative current)
    [KURAMOTO] section 5.2. Units: rad per natural unit of time and unit of kappa.

    Parameters
    ----------
    coefficients : (n + 1,) complex c_0 ... c_n.
    shift : speed-up of an oscillator per unit of ``|kappa|`` that loads it.
    """

    coefficients: NDArray[np.complex128]
    shift: float

    @property
    def sines(self) -> Array:
        """b_n of ``b_n sin(n x)``, n = 1, 2, ...: what locks."""
        return -2.0 * self.coefficients[1:].imag

    @property
    def cosines(self) -> Array:
        """a_n of ``a_n cos(n x)``, n = 1, 2, ...: what only shifts the common frequency of a mutual pair."""
        return 2.0 * self.coefficients[1:].real

    @property
    def strength(self) -> float:
        """b_1: an ideal coupler of strength kappa pulls with ``kappa b_1 sin(theta_j - theta_i)``."""
        return float(self.sines[0])

    @property
    def lag(self) -> float:
        """Lag of the fundamental [SAKAGUCHI], rad: ``a_1 cos x + b_1 sin x = |.| sin(x + lag)``."""
        return float(np.arctan2(self.cosines[0], self.sines[0]))

    def __call__(self, x: Array | float) -> Array:
        """Q at phase differences ``x = theta_source - theta_target``."""
        n = np.arange(1, len(self.coefficients))
        terms = self.coefficients[1:] * np.exp(1j * np.multiply.outer(x, n))
        return self.coefficients[0].real + 2.0 * terms.real.sum(axis=-1)

    def odd(self, x: Array | float) -> Array:
        """``[Q(x) - Q(-x)]/2 = sum_n b_n sin(n x)``."""
        n = np.arange(1, len(self.coefficients))
        return np.sin(np.multiply.outer(x, n)) @ self.sines

    def slope(self, x: Array | float) -> Array:
        """d Q / dx."""
        n = np.arange(1, len(self.coefficients))
        return (2j * n * self.coefficients[1:] * np.exp(1j * np.multiply.outer(x, n))).real.sum(axis=-1)

    def delayed(self, angle: Array) -> "CouplingFunction":
        """The function when harmonic n of the signal arrives ``angle[n]`` rad later, (n + 1,)."""
        return CouplingFunction(self.coefficients * np.exp(-1j * angle), self.shift)


def coupling_function(response: Array, signal: Array, load: Array) -> CouplingFunction:
    """Average a phase response against what a coupler transmits and draws.

    ``c_n = sum_ports conj(Z_n) s_n`` of their Fourier coefficients. Harmonics are kept down to 1e-14 of the
    largest, at least 3 and at most an eighth of the samples (beyond, sampling itself is in doubt).

    Parameters
    ----------
    response, signal, load : (samples, ports) along one turn, evenly spaced in phase.

    >>> x = 2 * np.pi * np.arange(64)[:, None] / 64
    >>> q = coupling_function(-np.sin(x) / 2, 2 * np.cos(x), 2 * np.cos(x))
    >>> round(q.strength, 12), round(q.lag, 12)
    (0.5, 0.0)
    """
    count = len(response)
    z, s = np.fft.fft(response, axis=0) / count, np.fft.fft(signal, axis=0) / count
    # <Z(phi) s(phi + x)> = sum_n conj(Z_n) s_n e^{i n x}
    coefficients = (z.conj() * s).sum(axis=1)[: count // _SAMPLES_PER_WAVE + 1]
    size = np.abs(coefficients)
    kept = max(_FEWEST, int(np.flatnonzero(size > _NEGLIGIBLE * size.max())[-1]))
    return CouplingFunction(coefficients[: kept + 1], -float((response * load).sum(axis=1).mean()))
