"""The network kernel: two oscillators, the locked state, averages, and when it gives up."""

import numpy as np
import pytest
import torch

from hw_targets import get_target
from hw_targets.triton.run import load_kernels
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.target import ConvergenceWarning


def two(difference, gain=1.0, coupling=None, **fields):
    """Two oscillators with coupling 1 that lock while the difference is below the gain."""
    return PhaseLayerSpec(
        omega=[[[0.0], [difference]]],
        theta=[[[0.2], [-0.4]]],
        values=[[[1.0], [2.0]]],
        coupling=coupling or FrequencyCoupling(alpha=[0.0]),
        gain=[gain],
        dynamics="network",
        **fields,
    )


@pytest.mark.parametrize("ratio", [0.0, 0.6, 0.95, 1.3, 4.0])
def test_two_oscillators_obey_the_pair_law(run, ratio):
    result = run(two(2.5 * ratio, gain=2.5))
    expected = np.sqrt(1.0 - ratio**2) if ratio <= 1 else 0.0
    condition = 1.0 / np.sqrt(abs(1.0 - ratio**2))
    assert abs(result.sync[0, 0, 1] - expected) <= 1e-5 * max(1.0, condition)
    assert result.sync[0, 0, 0] == pytest.approx(1.0, abs=1e-6)
    assert result.locked[0, 0, 1] == (ratio <= 1)
    assert result.status == (SyncStatus.SETTLED if ratio <= 1 else SyncStatus.DRIFTING)


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_locked_networks_reach_the_newton_fixed_point(layer, conforms, mask):
    omega = 0.06 * np.random.default_rng(3).standard_normal((2, 8, 3)) + 50.0
    padding = np.arange(8) == 5
    conforms(layer(2, 8, 3, omega=omega, dynamics="network", mask=mask, padding=padding))


def test_asymmetric_and_negative_couplings_conform(layer, conforms):
    matrix = 1.0 + 0.3 * np.random.default_rng(5).standard_normal((1, 6, 6))
    omega = 0.05 * np.random.default_rng(6).standard_normal((1, 6, 1))
    fields = {"omega": omega, "dynamics": "network", "coupling": ExplicitCoupling(matrix=matrix)}
    assert conforms(layer(1, 6, 1, **fields)).oracle.startswith("stable fully locked")
    anti = two(0.3, coupling=ExplicitCoupling(matrix=[[[1.0, -0.8], [-0.8, 1.0]]]))
    conforms(anti)


def test_a_weakly_driven_oscillator_settles_although_its_steps_are_below_rounding(run):
    spec = PhaseLayerSpec(
        omega=[[[0.0], [0.0], [0.025]]],
        theta=[[[2.4], [2.4], [2.92]]],
        coupling=ExplicitCoupling(matrix=[[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.15, 0.0, 0.0]]]),
        gain=[1.0],
        mask="causal",
        dynamics="network",
    )
    result = run(spec)
    assert result.status == SyncStatus.SETTLED
    assert np.sin(result.phase[0, 2, 0] - result.phase[0, 0, 0]) == pytest.approx(0.5, abs=1e-6)


def test_scale_of_time_does_not_matter(run):
    slow, fast = run(two(0.6)), run(two(0.6e40, gain=1e40))
    assert np.allclose(slow.sync, fast.sync, atol=1e-6)


def test_phases_turn_with_the_frame_and_the_order_parameter_is_theirs(run):
    result = run(two(0.6))
    z = np.exp(1j * result.phase)
    assert np.sin(result.phase[0, 1, 0] - result.phase[0, 0, 0]) == pytest.approx(0.6, abs=1e-5)
    assert np.allclose(result.order_parameter, np.abs(z.mean(axis=1)), atol=1e-12)


def test_a_run_that_is_too_short_says_so(layer):
    target = get_target("triton")
    spec = two(1.02)
    with pytest.warns(ConvergenceWarning, match="max_steps"):
        result = target.lower(spec, target.config(device="cpu", max_steps=256)).run()
    assert result.status == SyncStatus.NOT_CONVERGED
    assert compare(result, solve(spec)).conforms is False


def test_drifting_network_reports_partial_locking(layer, run):
    omega = np.array([0.0, 0.05, 3.0])[None, :, None]
    spec = layer(1, 3, 1, omega=omega, coupling=FrequencyCoupling(alpha=[0.0]), dynamics="network")
    result = run(spec, average_tolerance=1e-3)
    assert result.status == SyncStatus.DRIFTING
    assert result.locked[0, 0, 1]
    assert not result.locked[0, 0, 2]
    assert result.accuracy.averaging_error == 1e-3


def test_every_network_knob_changes_the_plan_or_the_answer(run):
    spec = two(1.5)
    reference = run(spec)
    assert not np.array_equal(run(spec, step=0.125).sync, reference.sync)
    target = get_target("triton")
    plans = {
        target.lower(spec, target.config(**change)).plan.digest
        for change in (
            {},
            {"step": 0.125},
            {"max_steps": 300},
            {"average_tolerance": 1e-3},
            {"device": "cpu"},
        )
    }
    assert len(plans) == 5


def test_integration_is_of_fourth_order():
    """The phase after a fixed time, before it has settled, converges like step^4."""

    def final(step, steps):
        phase = torch.zeros((1, 16, 16))
        phase[0, 1, 0] = 2.0
        matrix = torch.zeros((1, 16, 16))
        matrix[0, 0, 1] = matrix[0, 1, 0] = 0.5
        samples = torch.full((1, steps, 16, 16), float("nan"))
        still = [torch.zeros_like(phase) for _ in range(3)]
        load_kernels(True).network_steps[(1, 1)](
            torch.zeros(1, dtype=torch.int32), phase, still[0], still[1], matrix,
            samples, still[2], steps, step, COUNT=16, WIDTH=16, LANES=16,
        )  # fmt: skip
        assert not samples.isnan().any()
        return float(phase[0, 1, 0] - phase[0, 0, 0])

    # psi' = -sin psi: tan(psi/2) decays exponentially
    exact = 2.0 * np.arctan(np.tan(1.0) * np.exp(-4.0))
    coarse, fine = abs(final(1.0, 4) - exact), abs(final(0.5, 8) - exact)
    assert 1e-4 < coarse < 1e-2
    assert 10.0 < coarse / fine < 40.0
