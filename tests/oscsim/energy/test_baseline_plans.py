"""Plans of real targets: everything they count is priced or left out by name, for every dynamics."""

import numpy as np
import pytest
from relative import relative

from hw_targets.registry import get_target
from oscsim.coupling import ExplicitCoupling, FrequencyCoupling
from oscsim.energy import Estimate, load_constants
from oscsim.energy.baselines import gpu_estimate, loihi_estimate
from oscsim.spec import PhaseLayerSpec

BOOK = load_constants()
COUPLINGS = {
    "frequency": FrequencyCoupling(np.array([0.5])),
    "explicit": ExplicitCoupling(np.ones((1, 3, 3))),
}


def layer(dynamics: str, coupling: str, count: int = 3) -> PhaseLayerSpec:
    omega = np.linspace(-0.2, 0.2, count * 2).reshape(1, count, 2)
    return PhaseLayerSpec(
        omega=omega, theta=omega, coupling=COUPLINGS[coupling], gain=np.array([1.0]), dynamics=dynamics
    )


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("dynamics", ["pair", "network", "clamped"])
def test_every_plan_has_a_price(dynamics: str, coupling: str) -> None:
    spec = layer(dynamics, coupling)
    kernels = get_target("triton").lower(spec).plan.counts()
    program = get_target("lava").lower(spec).plan.counts()
    for result in (gpu_estimate(kernels, BOOK), loihi_estimate(program, BOOK)):
        assert isinstance(result, Estimate), result
        assert 0.0 < result.total.low_j < result.total.high_j


def test_sixteen_bits_cost_less_than_products_of_three_parts() -> None:
    spec = layer("pair", "frequency", 64)
    energies = []
    for precision in ("fast", "accurate", "fp32"):
        target = get_target("triton")
        result = gpu_estimate(target.lower(spec, target.config(precision=precision)).plan.counts(), BOOK)
        assert isinstance(result, Estimate)
        energies.append(result.total.value_j)
    assert energies[0] < energies[1]
    assert energies[0] < energies[2]


def test_four_times_the_pairs_cost_about_four_times_as_much_on_the_chip() -> None:
    counts = [get_target("lava").lower(layer("pair", "frequency", n)).plan.counts() for n in (8, 16)]
    small, large = (loihi_estimate(c, BOOK) for c in counts)
    assert isinstance(small, Estimate) and isinstance(large, Estimate)
    ratio = counts[1]["neuron_updates"] / counts[0]["neuron_updates"]
    assert large.total.value_j / small.total.value_j == relative(ratio, rel=1e-12)
    assert 3.0 < ratio < 8.0


def test_four_times_the_pairs_cost_about_four_times_as_much_on_the_gpu() -> None:
    results = [
        gpu_estimate(get_target("triton").lower(layer("pair", "frequency", n)).plan.counts(), BOOK)
        for n in (512, 1024)
    ]
    small, large = results
    assert isinstance(small, Estimate) and isinstance(large, Estimate)
    assert large.total.value_j / small.total.value_j == relative(4.0, rel=0.1)
