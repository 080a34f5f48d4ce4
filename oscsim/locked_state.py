"""The fully locked state of a phase network: an exact oracle where it exists (docs/spec.md section 4)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_ITERATIONS = 60
_RESIDUAL = 1e-13  # of the largest rate in the problem: a few hundred roundings of float64


@dataclass(frozen=True, eq=False)
class LockedState:
    """Phases (n,) of one channel rotating at one common frequency, and how errors grow into them.

    Parameters
    ----------
    theta : (n,) rad, theta_0 = 0; frequency : Omega, rad / time unit.
    condition : (n,) error of phase i, one common rotation removed, per relative error of every rate.
    eigenvalues : (n,) complex, of the Jacobian ``d theta_i' / d theta_j`` at the state, 1 / time unit,
        largest real part first. The first is 0, the common rotation; all others decay.
    """

    theta: Array
    frequency: float
    condition: Array
    eigenvalues: NDArray[np.complex128]

    @property
    def slowest_rate(self) -> float:
        """Rate at which the most persistent small perturbation decays, 1 / time unit; infinite for n = 1.

        >>> M = np.array([[0.0, 0.5], [0.5, 0.0]])  # two oscillators: sqrt(a^2 - d^2), as a pair cell
        >>> round(locked_state(M, np.array([0.3, -0.3]), causal=False).slowest_rate, 12)
        0.8
        """
        return float(-self.eigenvalues[1].real) if len(self.eigenvalues) > 1 else float("inf")


def locked_state(matrix: Array, omega: Array, causal: bool) -> LockedState | None:
    """The stable state in which all oscillators rotate at one frequency, or None if there is none.

    Solves ``omega_i - Omega = sum_j M_ij sin(theta_i - theta_j)``, M = K J / n: full masks by Newton
    from theta = 0, causal ones row by row with Omega = omega_0 (each row is one injection-locked cell).
    A state counts only when every perturbation but the common rotation decays.

    Parameters
    ----------
    matrix : (n, n) M, masked entries 0; omega : (n,) rad / time unit; padding already removed.

    >>> M = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> state = locked_state(M, np.array([0.3, -0.3]), causal=False)
    >>> bool(abs(np.sin(state.theta[0] - state.theta[1]) - 0.6) < 1e-12)
    True
    >>> locked_state(M, np.array([0.6, -0.6]), causal=False) is None
    True
    """
    offset = float(omega[0])  # a common offset must not eat the digits of the differences
    omega = omega - offset
    solved = _rows(matrix, omega) if causal else _newton(matrix, omega)
    if solved is None:
        return None
    theta, frequency = solved
    if not stable(matrix, omega, theta):
        return None
    scale = np.abs(matrix).sum(axis=1) + np.abs(omega - frequency)
    jacobian = jacobian_at(matrix, theta)
    return LockedState(theta, offset + frequency, _condition(jacobian, scale), _eigenvalues(jacobian))


def rest_error(matrix: Array, omega: Array, theta: Array) -> float:
    """How far phases (n,) are from rotating at one frequency, relative to each row's own rates."""
    speed = _rates(matrix, omega - omega[0], theta)
    away = np.abs(speed - speed.mean())
    scale = np.abs(matrix).sum(axis=1) + np.abs(omega - omega.mean())
    return float(np.divide(away, scale, out=np.zeros_like(away), where=scale > 0).max())


def _condition(jacobian: Array, scale: Array) -> Array:
    response = np.linalg.inv(_gauge_fixed(jacobian))
    response[0] = 0.0  # row 0 answers for the frequency; theta_0 itself is fixed by the gauge
    return np.abs(response - response.mean(axis=0)) @ scale


def _gauge_fixed(jacobian: Array) -> Array:
    """Newton matrix for the unknowns (Omega, theta_1, ...): theta_0 = 0 removes the common rotation."""
    system = jacobian.copy()
    system[:, 0] = -1.0
    return system


def _rates(matrix: Array, omega: Array, theta: Array) -> Array:
    return omega - (matrix * np.sin(theta[:, None] - theta[None, :])).sum(axis=1)


def jacobian_at(matrix: Array, theta: Array) -> Array:
    """(n, n) ``d theta_i'/d theta_j`` of a channel with coupling (n, n) at phases (n,), 1 / time unit."""
    pull = matrix * np.cos(theta[:, None] - theta[None, :])
    np.fill_diagonal(pull, 0.0)
    return pull - np.diag(pull.sum(axis=1))


def _newton(matrix: Array, omega: Array) -> tuple[Array, float] | None:
    count = len(omega)
    theta, frequency = np.zeros(count), float(omega.mean())
    scale = np.abs(matrix).sum(axis=1).max() + np.abs(omega - frequency).max()
    for _ in range(_ITERATIONS):
        residual = _rates(matrix, omega, theta) - frequency
        if np.abs(residual).max() <= _RESIDUAL * max(scale, np.finfo(float).tiny):
            return theta, frequency
        try:
            step = np.linalg.solve(_gauge_fixed(jacobian_at(matrix, theta)), -residual)
        except np.linalg.LinAlgError:
            return None
        # a step of more than a radian leaves the region where the linearisation means anything
        step *= min(1.0, 1.0 / max(np.abs(step[1:]).max(initial=0.0), 1e-300))
        frequency += step[0]
        theta[1:] += step[1:]
    return None


def _rows(matrix: Array, omega: Array) -> tuple[Array, float] | None:
    theta = np.zeros(len(omega))
    for i in range(1, len(omega)):
        drive = (matrix[i, :i] * np.exp(1j * theta[:i])).sum()
        lag = omega[0] - omega[i]
        if abs(drive) == 0 or abs(lag) >= abs(drive):
            return None
        theta[i] = np.angle(drive) - np.arcsin(lag / abs(drive))
    return theta, float(omega[0])


def stable(matrix: Array, omega: Array, theta: Array) -> bool:
    """Exactly one neutral direction (the common rotation), everything else decays."""
    if len(theta) == 1:
        return True
    growth = _eigenvalues(jacobian_at(matrix, theta)).real
    scale = (np.abs(matrix).sum(axis=1) + np.abs(omega - omega.mean())).max()
    return bool(growth[1] < -1e-9 * scale and growth[0] < 1e-9 * scale)


def _eigenvalues(jacobian: Array) -> NDArray[np.complex128]:
    """Largest real part first, so that the common rotation leads."""
    found = np.linalg.eigvals(jacobian).astype(np.complex128)
    return found[np.argsort(-found.real, kind="stable")]
