"""Many small networks integrated side by side: fourth order, a fixed step on each network's own clock.

    theta_i' = omega_i + (K/N) sum_j J_ij sin(theta_j - theta_i)              (docs/spec.md section 4)

The coupling of a scalar frequency is a Gaussian kernel, whose eigenvalues fall off so fast that about
twenty of them reproduce it to rounding; so one evaluation costs O(N) instead of O(N^2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import SpecError
from oscsim.tolerance import REGIME_STEP

Array = NDArray[np.float64]
# Eigenvalues below this share of their sum (the trace K) are dropped; a rate then errs by sqrt(N) times that.
_NEGLIGIBLE = 1e-15
# What rounding leaves of eigenvalues that are zero is smaller than this share of the sum.
_ROUNDING = 1e-12
# Steps between stored samples: the fastest pair turns by at most 4 REGIME_STEP = 0.8 rad.
SAMPLE_EVERY = 2


@dataclass(frozen=True, eq=False)
class Networks:
    """Networks (S,) of equal size, ready to be integrated.

    Parameters
    ----------
    omega : (S, N) frequencies, mean removed per network (a rotating frame), rad / time unit.
    factor : (S, N, R), ``(K/N) J = factor factor^T``.
    step : (S, 1) time units per step: REGIME_STEP over the largest rate of the network.
    """

    omega: Array
    factor: Array
    step: Array

    def __getitem__(self, chosen: NDArray[np.int_]) -> "Networks":
        return Networks(self.omega[chosen], self.factor[chosen], self.step[chosen])


def networks(omega: Array, coupling: Array, gain: float) -> Networks:
    """Set up networks of frequencies (S, N) and symmetric positive semidefinite coupling J (S, N, N).

    Raises
    ------
    SpecError
        another coupling, which has no such factor; :func:`oscsim.integrate` takes any.

    >>> setup = networks(np.array([[0.3, -0.3]]), np.ones((1, 2, 2)), gain=1.0)
    >>> setup.factor.shape, float(setup.step.round(6)[0, 0])
    ((1, 2, 1), 0.153846)
    """
    omega = omega - omega.mean(axis=1, keepdims=True)
    matrix = coupling * (gain / omega.shape[1])
    rate = matrix.sum(axis=2).max(axis=1) + np.abs(omega).max(axis=1)
    value, vector = np.linalg.eigh(matrix)
    if (
        not np.array_equal(coupling, coupling.swapaxes(1, 2))
        or (value.min(1) < -_ROUNDING * value.sum(1)).any()
    ):
        raise SpecError(
            f"coupling: given an asymmetric matrix or one with the eigenvalue {value.min():.3g}, expected a "
            "symmetric positive semidefinite one; use oscsim.integrate for others"
        )
    value = np.where(value > _NEGLIGIBLE * value.sum(axis=1, keepdims=True), value, 0.0)
    rank = int((value > 0).sum(axis=1).max())
    factor = vector[..., -rank:] * np.sqrt(value[:, None, -rank:])
    return Networks(omega, np.ascontiguousarray(factor), REGIME_STEP / rate[:, None])


def velocity(setup: Networks, theta: Array) -> Array:
    """``theta'`` (S, N) at phases (S, N), in the frame that rotates with the mean frequency."""
    z = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    pull = setup.factor @ (setup.factor.swapaxes(1, 2) @ z)
    return setup.omega + pull[..., 1] * z[..., 0] - pull[..., 0] * z[..., 1]


def advance(setup: Networks, theta: Array, steps: int) -> Array:
    """Classical Runge-Kutta steps; samples (steps / SAMPLE_EVERY + 1, S, N), the first one is the start.

    >>> setup = networks(np.array([[0.3, -0.3]]), np.ones((1, 2, 2)), gain=1.0)
    >>> end = advance(setup, np.zeros((1, 2)), 400)[-1, 0]
    >>> bool(abs(np.sin(end[0] - end[1]) - 0.6) < 1e-12)
    True
    """
    h = setup.step
    samples = np.full((steps // SAMPLE_EVERY + 1, *theta.shape), np.nan)
    samples[0] = theta = theta.copy()
    for number in range(1, steps + 1):
        a = velocity(setup, theta)
        b = velocity(setup, theta + 0.5 * h * a)
        c = velocity(setup, theta + 0.5 * h * b)
        d = velocity(setup, theta + h * c)
        theta += (h / 6.0) * (a + 2.0 * (b + c) + d)
        if number % SAMPLE_EVERY == 0:
            samples[number // SAMPLE_EVERY] = theta
    return samples
