"""A layer to measure chips with: couplings of all sizes and both signs, 65 % of its cells locked."""

import numpy as np
from scipy.special import ndtri

from oscsim.coupling import ExplicitCoupling, FixedOrder
from oscsim.spec import PhaseLayerSpec

SPREAD = 0.304


def random_layer(strength: float, tokens: int = 64, seed: int = 0) -> PhaseLayerSpec:
    """A pair layer with K = r = 1 and J_ij independent and uniform on (-1, 1), so ``a_ij = J_ij``.

    Its frequencies are the normal quantiles ``omega_i = 0.304 Phi^-1((i + 1/2)/N)``, so that the mismatch
    ``|omega_i - omega_j|`` is half-normal with scale 0.43. Off the diagonal 65 % of the cells lock, and the
    root mean square of S is 0.475 (with it, as tokens lock to themselves: 66 % and 0.477).

    Parameters
    ----------
    strength : largest locking strength relative to the carrier, ``a_max/omega_0``; it sets time_unit_s.

    >>> from oscsim import solve
    >>> result = solve(random_layer(0.1))
    >>> round(result.locked_fraction, 2), round(float(result.locked.mean()), 2)
    (0.65, 0.66)
    """
    coupling = np.random.default_rng([seed, tokens]).uniform(-1.0, 1.0, (1, tokens, tokens))
    omega = SPREAD * ndtri((np.arange(tokens) + 0.5) / tokens)
    carrier_hz = 1e9
    return PhaseLayerSpec(
        omega=omega[None, :, None],
        theta=np.zeros((1, tokens, 1)),
        gain=[1.0],
        coupling=ExplicitCoupling(coupling),
        order_parameter=FixedOrder([1.0]),
        carrier_hz=carrier_hz,
        time_unit_s=1.0 / (2.0 * np.pi * carrier_hz * strength),
    )
