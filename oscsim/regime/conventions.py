"""Order parameters with which the closed form can be asked about a network: four conventions."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from oscsim.closed_form import synchronization

Array = NDArray[np.float64]

CONVENTIONS: Mapping[str, str] = MappingProxyType({
    "given": "r of the phases the network starts from, drawn uniformly from [0, 2π)",
    "steady": "r(t) = |(1/N) Σ exp(iθ)| of the network, averaged over time in its steady state",
    "one": "r = 1",
    "self-consistent": "the largest r with r² = mean over all i, j of the closed form's own cos ψ*",
})  # fmt: skip
_ITERATIONS = 100_000
_TOLERANCE = 1e-15


def self_consistent_order(omega: Array, coupling: Array, gain: float) -> float:
    """Order parameter that agrees with the phase differences the closed form itself predicts.

    For any phases ``r^2 = (1/N^2) sum_ij cos(theta_i - theta_j)``. With the pair law's
    ``cos psi*_ij = sqrt(1 - (d_ij/(K r J_ij))^2)`` where locked and 0 where not (docs/spec.md section 2)
    this is an equation for r alone. Its right-hand side grows with r, is at most 1 at r = 1 and at least
    1/N, so a largest solution always exists, between 1/sqrt(N) and 1; fixed-point iteration from r = 1
    descends to it.

    Parameters
    ----------
    omega : (N,) scalar frequencies, rad / time unit; coupling : (N, N) J >= 0; gain : K, rad / time unit.

    >>> omega = np.array([0.3, -0.3])
    >>> r = self_consistent_order(omega, np.ones((2, 2)), gain=1.0)
    >>> bool(abs(r**2 - (1.0 + np.sqrt(1.0 - (0.6 / r) ** 2)) / 2.0) < 1e-14)
    True
    """
    d = np.abs(omega[:, None] - omega[None, :])
    ones, r = np.ones_like(d), 1.0
    for _ in range(_ITERATIONS):
        following = float(np.sqrt(synchronization(ones, d, gain * r * coupling).mean()))
        if r - following <= _TOLERANCE:
            break
        r = following
    return r
