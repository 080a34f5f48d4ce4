"""A layer to start from, and a run that must not warn."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hw_targets import get_target
from oscsim import Comparison, ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncResult, compare, solve


@pytest.fixture
def layer() -> Callable[..., PhaseLayerSpec]:
    """Random layer about half of whose pairs lock; every field can be overridden."""

    def build(
        heads: int = 2, count: int = 17, channels: int = 3, seed: int = 0, **fields: Any
    ) -> PhaseLayerSpec:
        rng = np.random.default_rng(seed)
        shape = (heads, count, channels)
        gain = np.linspace(1.0, 2.0, heads)
        return PhaseLayerSpec(
            **{
                "omega": 0.5 / np.sqrt(channels) * rng.standard_normal(shape),
                "theta": rng.uniform(-1.2, 1.2, shape),
                "values": rng.standard_normal((heads, count, 5)),
                "coupling": FrequencyCoupling(alpha=np.linspace(0.2, 0.6, heads)),
                "gain": gain,
            }
            | fields
        )

    return build


@pytest.fixture
def explicit(layer: Callable[..., PhaseLayerSpec]) -> Callable[..., PhaseLayerSpec]:
    """The same with a random coupling matrix, which the tile kernels compute and not the fused op."""

    def build(heads: int = 2, count: int = 17, channels: int = 3, **fields: Any) -> PhaseLayerSpec:
        matrix = np.random.default_rng(1).standard_normal((heads, count, count))
        return layer(heads, count, channels, coupling=ExplicitCoupling(matrix=matrix), **fields)

    return build


@pytest.fixture
def run() -> Callable[..., SyncResult]:
    """Lower and run on the interpreter; any warning is an error."""

    def lower_and_run(spec: PhaseLayerSpec, **options: Any) -> SyncResult:
        target = get_target("triton")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return target.lower(spec, target.config(device="cpu", **options)).run()

    return lower_and_run


@pytest.fixture
def conforms(run: Callable[..., SyncResult]) -> Callable[..., Comparison]:
    """Run, compare with the reference, require agreement."""

    def check(spec: PhaseLayerSpec, **options: Any) -> Comparison:
        comparison = compare(run(spec, **options), solve(spec))
        assert comparison.status == "conforms", (spec, comparison)
        return comparison

    return check
