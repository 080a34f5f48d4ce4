"""Networks of oscillators reduced to their phases: what a circuit does if its couplers are weak."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.beat_average import pair_averages
from oscsim.phase_reduction.coupling_function import CouplingFunction

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
_STEP = 0.1  # of 1/(fastest rate): error of RK4 (0.1)^4/120 per unit of time, below 1e-6
_SAMPLES = 4096
_NEGLIGIBLE = 1e-10  # harmonics below this share of the first move a locked phase by about as much


@dataclass(frozen=True, eq=False)
class PhaseModel:
    """``theta_i' = detuning_i + sum_j kappa_ij Q(theta_j - theta_i) + |kappa_ij| shift`` in natural units.

    [KURAMOTO] section 5.2, integrated by the classical Runge-Kutta method of order 4. Harmonic n of the
    coupling is one product of the couplers with ``e^{i n theta}``.

    Parameters
    ----------
    coupling : of the family.
    detuning : (B, n) free frequencies, rad per natural unit of time (relative to anything common).
    kappa : (M, n, n) couplers, row = driven, signed.
    matrix : (B,) which of the M matrices a batch uses.

    >>> sine = CouplingFunction(np.array([0.0, -0.5j]), 0.0)
    >>> kappa = 0.5 * (1.0 - np.eye(2))[None]
    >>> model = PhaseModel(sine, np.array([[0.3, -0.3]]), kappa, np.zeros(1, int))
    >>> theta = model.run(np.zeros((1, 2)), np.array([0.0, 40.0]))[-1, 0]
    >>> round(float(np.sin(theta[0] - theta[1])), 9)
    0.6
    """

    coupling: CouplingFunction
    detuning: Array
    kappa: Array
    matrix: Indices

    @property
    def harmonics(self) -> Indices:
        """Numbers n of the harmonics that count."""
        size = np.abs(self.coupling.coefficients[1:])
        return np.flatnonzero(size > _NEGLIGIBLE * size.max(initial=0.0)) + 1

    @property
    def fastest(self) -> float:
        """Bound of |d theta'/d theta|, per natural unit of time."""
        n = self.harmonics
        steepest = 2.0 * float((n * np.abs(self.coupling.coefficients[n])).sum())
        return 2.0 * steepest * float(np.abs(self.kappa).sum(axis=2).max(initial=0.0))

    @property
    def _constant(self) -> Array:
        """(B, n) what does not depend on phases."""
        signed, size = self.kappa.sum(axis=2), np.abs(self.kappa).sum(axis=2)
        mean = signed * self.coupling.coefficients[0].real + size * self.coupling.shift
        return self.detuning + mean[self.matrix]

    def rates(self, theta: Array) -> Array:
        """theta' (B, n) at phases (B, n)."""
        return self._constant + self._pulled(theta, self.kappa[self.matrix])

    def _pulled(self, theta: Array, kappa: Array) -> Array:
        n = self.harmonics
        phasor: NDArray[np.complex128] = np.exp(1j * theta[..., None] * n)
        parts = np.concatenate([phasor.real, phasor.imag], axis=-1)
        source = np.matmul(kappa, parts)
        source = source[..., : len(n)] + 1j * source[..., len(n) :]
        return 2.0 * ((phasor.conj() * source) @ self.coupling.coefficients[n]).real

    def run(self, theta_0: Array, times: Array, step: float | None = None) -> Array:
        """Phases (len(times), B, n), continuous from theta_0 (B, n), at increasing times, the first 0.

        Parameters
        ----------
        step : largest step; None for a tenth of the fastest time in couplings and beats.
        """
        constant, kappa = self._constant, self.kappa[self.matrix]
        if step is None:
            step = _STEP / max(self.fastest + float(np.ptp(constant, axis=1).max(initial=0.0)), 1e-300)
        out = np.full((len(times), *theta_0.shape), np.nan)
        out[0] = theta = np.array(theta_0, float)
        for k, span in enumerate(np.diff(times), start=1):
            count = max(1, int(np.ceil(span / step)))
            h = span / count
            for _ in range(count):
                theta = theta + h * self._slope(theta, h, constant, kappa)
            out[k] = theta
        return out

    def _slope(self, theta: Array, h: float, constant: Array, kappa: Array) -> Array:
        """Mean rate over one step of RK4; the constant part is exact."""
        a = self._pulled(theta, kappa) + constant
        b = self._pulled(theta + 0.5 * h * a, kappa) + constant
        c = self._pulled(theta + 0.5 * h * b, kappa) + constant
        d = self._pulled(theta + h * c, kappa) + constant
        return (a + 2.0 * b + 2.0 * c + d) / 6.0


@dataclass(frozen=True, eq=False)
class NetworkState:
    """What a phase model reads out, per batch.

    Parameters
    ----------
    theta : (B, n) phases at the end, rad, continuous from the start.
    mean : (B, n, n) complex, ``<exp(i(theta_i - theta_j))>``: at rest of the end, else over whole beats.
    at_rest : (B,) bool, whether all phases of a batch turn at one frequency.
    error : (B,) estimated error of the mean; infinite where a beat was not seen often enough.
    """

    theta: Array
    mean: NDArray[np.complex128]
    at_rest: NDArray[np.bool_]
    error: Array


def settled_network(
    model: PhaseModel, theta_0: Array, settle: float, window: float, residual: float = 1e-9
) -> NetworkState:
    """Run for ``settle`` units of time, then average over ``window`` more what is not at rest.

    A batch is at rest when its frequencies differ by less than ``residual`` of the fastest rate.

    Parameters
    ----------
    theta_0 : (B, n) rad. settle, window : natural units of time.
    """
    before = model.run(theta_0, np.array([0.0, settle]))[-1]
    spread = np.ptp(model.rates(before), axis=1)
    at_rest = spread <= residual * max(model.fastest, 1e-300)
    theta = before.copy()
    mean: NDArray[np.complex128] = np.exp(1j * (before[:, :, None] - before[:, None, :]))
    error, moving = np.zeros(len(before)), np.flatnonzero(~at_rest)
    if len(moving):
        part = PhaseModel(model.coupling, model.detuning[moving], model.kappa, model.matrix[moving])
        path = part.run(before[moving], np.linspace(0.0, window, _SAMPLES))
        theta[moving] = path[-1]
        for k, batch in enumerate(moving):
            mean[batch], error[batch] = pair_averages(path[:, k])
    return NetworkState(theta, mean, at_rest, error)
