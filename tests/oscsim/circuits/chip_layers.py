"""Small layers that the tests of chips are made of."""

import numpy as np

from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec

CARRIER = 1e9


def pair(tokens=5, seed=0, asymmetric=True, strength=0.02, **changes):
    """A pair layer with explicit couplings of both signs; ``strength`` is a time unit of the carrier."""
    random = np.random.default_rng(seed)
    coupling = random.uniform(-1.0, 1.0, (1, tokens, tokens))
    fields = {
        "omega": 0.3 * random.standard_normal((1, tokens, 1)),
        "theta": np.zeros((1, tokens, 1)),
        "gain": [1.0],
        "coupling": ExplicitCoupling(coupling if asymmetric else coupling + coupling.transpose(0, 2, 1)),
        "order_parameter": FixedOrder([1.0]),
        "time_unit_s": 1.0 / (2.0 * np.pi * CARRIER * strength),
        "carrier_hz": CARRIER,
    }
    return PhaseLayerSpec(**{**fields, **changes})


def network(tokens=5, heads=1, channels=1, seed=0, strength=0.02, coupling=None, **changes):
    """A network with a symmetric coupling."""
    random = np.random.default_rng(seed)
    if coupling is None:
        coupling = random.uniform(-1.0, 1.0, (heads, tokens, tokens))
        coupling = coupling + coupling.transpose(0, 2, 1)
    fields = {
        "omega": 0.3 * random.standard_normal((heads, tokens, channels)),
        "theta": random.uniform(0.0, 6.0, (heads, tokens, channels)),
        "gain": np.ones(heads),
        "coupling": ExplicitCoupling(coupling),
        "order_parameter": FixedOrder(np.ones(heads)),
        "dynamics": "network",
    }
    return pair(strength=strength, **{**fields, **changes})
