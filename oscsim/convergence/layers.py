"""The layers on which circuits are compared with theory: pairs across the locking edge, and networks."""

import numpy as np

from oscsim.coupling import ExplicitCoupling, FixedOrder
from oscsim.spec import PhaseLayerSpec

CARRIER_HZ = 1e9


def time_unit_s(epsilon: float, carrier_hz: float = CARRIER_HZ) -> float:
    """Seconds per time unit that make a unit locking strength ``epsilon`` of the carrier.

    >>> round(time_unit_s(0.1) * 2 * np.pi * 1e9, 9)
    10.0
    """
    return 1.0 / (2.0 * np.pi * carrier_hz * epsilon)


def pair_layer(ratios: tuple[float, ...], epsilon: float) -> PhaseLayerSpec:
    """One injection-locked cell per ratio: ``d = ratio``, ``a = 1``, in heads of their own.

    Cell (h, 0, 1) of the result is ratio h; its closed form is ``S = sqrt(1 - ratio^2)``, or 0.

    >>> pair_layer((0.8, 1.05), 0.01).omega[:, 0, 0].tolist()
    [0.8, 1.05]
    """
    heads = len(ratios)
    omega = np.zeros((heads, 2, 1))
    omega[:, 0, 0] = ratios
    return PhaseLayerSpec(
        omega=omega,
        theta=np.zeros((heads, 2, 1)),
        coupling=ExplicitCoupling(matrix=np.ones((heads, 2, 2))),
        gain=np.ones(heads),
        order_parameter=FixedOrder(r=np.ones(heads)),
        time_unit_s=time_unit_s(epsilon),
        carrier_hz=CARRIER_HZ,
    )


def network_layer(count: int, spread: float, epsilon: float, seed: int) -> PhaseLayerSpec:
    """A network with couplings uniform in (0.2, 1.8), symmetric, mean 1, and normal frequencies.

    ``K = 1``; frequencies have mean 0 and standard deviation ``spread / 2``.

    >>> network_layer(8, 0.35, 0.03, seed=0).omega.std().round(12)
    np.float64(0.175)
    """
    rng = np.random.default_rng([seed, count])
    omega = rng.standard_normal(count)
    omega = (omega - omega.mean()) / omega.std() * spread / 2.0
    upper = np.triu(rng.uniform(0.2, 1.8, (count, count)), 1)
    return PhaseLayerSpec(
        omega=omega[None, :, None],
        theta=rng.uniform(-0.3, 0.3, (1, count, 1)),
        coupling=ExplicitCoupling(matrix=(upper + upper.T + np.eye(count))[None]),
        gain=[1.0],
        dynamics="network",
        time_unit_s=time_unit_s(epsilon),
        carrier_hz=CARRIER_HZ,
    )
