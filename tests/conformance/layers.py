"""A small layer with two unlike heads that tests start from."""

import numpy as np

from oscsim import FrequencyCoupling, PhaseLayerSpec

HEADS, COUNT, CHANNELS = 2, 3, 4


def fields(**changes):
    """Constructor arguments of the layer, some of them changed."""
    rng = np.random.default_rng(0)
    shape = (HEADS, COUNT, CHANNELS)
    return {
        "omega": rng.standard_normal(shape),
        "theta": rng.standard_normal(shape),
        "values": rng.standard_normal((HEADS, COUNT, 5)),
        "coupling": FrequencyCoupling(alpha=[0.5, 1.0]),
        "gain": [1.0, 2.0],
    } | changes


def layer(heads=2, count=6, channels=2, spread=0.7, seed=0, **changes):
    """A random layer of any size with gains near 1; about half of the pairs lock."""
    rng = np.random.default_rng(seed)
    shape = (heads, count, channels)
    return PhaseLayerSpec(
        **{
            "omega": spread / np.sqrt(2 * channels) * rng.standard_normal(shape),
            "theta": rng.uniform(-0.5, 0.5, shape),
            "values": rng.standard_normal((heads, count, 3)),
            "coupling": FrequencyCoupling(alpha=rng.uniform(0.2, 0.6, heads)),
            "gain": rng.uniform(0.8, 1.5, heads),
        }
        | changes
    )
