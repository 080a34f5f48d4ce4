"""One head of a network at rest: its rates, how they answer to phases, and how phases answer to errors of
rates.

At rest ``drift_i + sum_j M_ij sin(theta_j - theta_i)`` is one common Omega for all oscillators of a
channel. An error e of the rates moves the phases by ``L e``, where L inverts the Jacobian with the common
rotation removed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.moments import Moments
from hw_targets.lava.budget.roundings import Roundings

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rates:
    """Error of the rates of one head: mean (D, n) and covariance (D, D, n, n), own clock."""

    mean: Array
    covariance: Array


@dataclass(frozen=True, eq=False)
class Head:
    """One head of a network at rest; n oscillators in each of D channels.

    Parameters
    ----------
    theta : (D, n) resting phases, rad. drift : (D, n) and matrix : (n, n), own clock.
    gain : (n,) mantissas. weight_step : (n,) value of one step of a synapse of each row.
    """

    theta: Array
    drift: Array
    matrix: Array
    gain: Array
    weight_step: Array

    @property
    def difference(self) -> Array:
        """(D, n, n) theta_j - theta_i."""
        return self.theta[:, None, :] - self.theta[:, :, None]

    @property
    def pull(self) -> Array:
        """(D, n) what the others add to each rate."""
        return (self.matrix * np.sin(self.difference)).sum(axis=2)

    @property
    def jacobian(self) -> Array:
        """(D, n, n) of the rates."""
        slopes = self.matrix * np.cos(self.difference)
        return slopes - np.eye(len(self.gain)) * slopes.sum(axis=2)[:, :, None]

    @property
    def bordered(self) -> Array:
        """(D, n, n) the Jacobian with the unknowns Omega, theta_1, ...; theta_0 does not move."""
        system = self.jacobian
        system[:, :, 0] = -1.0
        return system

    @property
    def response(self) -> Array:
        """(D, n, n) L: phases per rate, that of the first oscillator being zero."""
        found: Array = -np.linalg.inv(self.bordered).astype(np.float64)
        found[:, 0] = 0.0
        return found

    @property
    def rotation(self) -> Array:
        """(D,) common rate Omega at which a channel still turns in its frame."""
        return (self.drift + self.pull).mean(axis=1)

    @property
    def relaxation(self) -> Array:
        """(D,) mean rate at which small deviations decay."""
        return -np.trace(self.jacobian, axis1=1, axis2=2) / max(len(self.gain) - 1, 1)

    def held(self, width: float) -> Array:
        """(D,) time in which a channel turns by ``width`` rad; infinite where it does not turn."""
        with np.errstate(divide="ignore"):
            return width / np.abs(self.rotation) if width > 0 else np.zeros(len(self.theta))

    def lasting(self, width: float, r: Roundings) -> Array:
        """(D,) share of an error's variance that is left when a new one comes every ``width`` rad of
        rotation.

        An error that is held for a time T, no shorter than a step, moves a phase that relaxes at lambda by
        ``x/(1 + x)`` of the variance of a constant one, x = lambda T/2.
        """
        return _part(self.relaxation * np.maximum(self.held(width), r.step) / 2)

    def passing(self, width: float, r: Roundings) -> Array:
        """(D,) the same for a rounding, which climbs from minus to plus a half while ``width`` rad pass.

        Its sum over one width is zero up to one step h at the jump: ``(lambda T)^2/60`` from the integral
        of the sawtooth, and ``(lambda h/2) min(1, h/T)`` from the jumps.
        """
        time = self.held(width)
        with np.errstate(divide="ignore"):
            jumps = self.relaxation * r.step / 2 * np.minimum(1.0, r.step / time)
        return _part((self.relaxation * time) ** 2 / 60 + jumps)


def _part(x: Array) -> Array:
    return np.where(np.isinf(x), 1.0, x / (1.0 + np.where(np.isinf(x), 0.0, x)))


def phase_errors(head: Head, errors: Rates) -> Rates:
    """Errors of the resting phases, as mean (D, n) and covariance (D, D, n, n)."""
    response = head.response
    mean = (response @ errors.mean[..., None])[..., 0]
    return Rates(mean, response[:, None] @ errors.covariance @ response.transpose(0, 2, 1)[None])


def sync_errors(head: Head, phases: Rates) -> Moments:
    """Of ``(1/D) sum_l cos(theta_i - theta_j)``, (n, n)."""
    sines, channels = np.sin(head.difference), len(head.theta)
    mean = (sines * (phases.mean[:, :, None] - phases.mean[:, None, :])).mean(axis=0)
    own = np.diagonal(phases.covariance, axis1=2, axis2=3)
    both = phases.covariance + phases.covariance.transpose(0, 1, 3, 2)
    apart = own[..., :, None] + own[..., None, :] - both
    variance = np.einsum("cij,dij,cdij->ij", sines, sines, apart) / channels**2
    return Moments(mean, np.maximum(variance, 0.0))


def order_errors(head: Head, phases: Rates, allowed: NDArray[np.bool_]) -> Moments:
    """Of the order parameter ``(1/D) sum_l |mean_j exp(i theta_j)|`` of each row, (n,); ``allowed`` (n,
    n).
    """
    channels = len(head.theta)
    member = allowed / allowed.sum(axis=1, keepdims=True)
    middle = np.angle(np.exp(1j * head.theta) @ member.T)
    weight = -member * np.sin(head.theta[:, None, :] - middle[:, :, None])
    mean = np.einsum("cij,cj->i", weight, phases.mean) / channels
    variance = np.einsum("cij,cdjk,dik->i", weight, phases.covariance, weight, optimize=True) / channels**2
    return Moments(mean, np.maximum(variance, 0.0))
