"""How differences of a locked network answer to noise and to frequencies that are slightly off."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_continuous_lyapunov

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def largest_variance(jacobian: Array, read: Mask) -> float:
    """Largest stationary variance of a difference ``theta_i - theta_j`` that is read, per kappa^2.

    Every oscillator has white noise of its own, of intensity kappa^2. Differences to oscillator 0 follow
    ``x' = A x + D xi``, D = (-1 | I): their covariance solves ``A C + C A^T + kappa^2 D D^T = 0`` (Lyapunov).
    ``1/lambda`` of the slowest eigenvalue, where the Jacobian is symmetric and some difference is along its
    slowest mode; more where one-way couplings hand noise on from oscillator to oscillator. In time units.

    Parameters
    ----------
    jacobian : (n, n) of a stable locked state (``oscsim.locked_state.jacobian_at``), 1 / time unit.
    read : (n, n), which differences count.

    >>> pair = np.array([[-0.4, 0.4], [0.4, -0.4]])  # lambda = 0.8
    >>> round(largest_variance(pair, np.ones((2, 2), bool)), 12)
    1.25
    """
    count = len(jacobian)
    if count == 1 or not read.any():
        return 0.0
    covariance = np.zeros((count, count))
    noise = np.ones((count - 1, count - 1)) + np.eye(count - 1)  # D D^T
    covariance[1:, 1:] = solve_continuous_lyapunov(_reduced(jacobian), -noise)
    own = np.diag(covariance)
    return float((own[:, None] + own[None, :] - covariance - covariance.T)[read].max())


def largest_shift(jacobian: Array, read: Mask) -> float:
    """How far a difference that is read moves, rad, per frequency (rad / time unit) that all may be off by.

    ``A x = -D e`` of frequencies off by e: the largest sum of ``|d(theta_i - theta_j)/d e_k|`` over k.

    >>> pair = np.array([[-0.4, 0.4], [0.4, -0.4]])
    >>> round(largest_shift(pair, np.ones((2, 2), bool)), 12)  # 2/lambda: the two are off in opposite ways
    2.5
    """
    count = len(jacobian)
    if count == 1 or not read.any():
        return 0.0
    moved = np.zeros((count, count))
    to_first = np.hstack([-np.ones((count - 1, 1)), np.eye(count - 1)])
    moved[1:] = np.linalg.solve(_reduced(jacobian), -to_first)
    return max(float(np.abs(moved[i] - moved[read[i]]).sum(axis=1).max(initial=0.0)) for i in range(count))


def _reduced(jacobian: Array) -> Array:
    """Of differences to oscillator 0; the common rotation is gone, since rows of a Jacobian sum to 0."""
    return jacobian[1:, 1:] - jacobian[0, 1:]
