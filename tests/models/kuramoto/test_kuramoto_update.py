"""Steps of phases: the bound, and the exact flow against the closed form and an ODE solver."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from models.kuramoto.update import Bound, flow_step
from oscsim.closed_form import clamped_flow


def drives() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Phases, drives G and reaches of both signs, some extreme."""
    rng = np.random.default_rng(5)
    theta = rng.uniform(-7, 7, 400)
    drive = rng.uniform(0.01, 1, 400) * np.exp(1j * rng.uniform(-np.pi, np.pi, 400))
    reach = rng.choice([-1, 1], 400) * 10 ** rng.uniform(-3, 1, 400)
    return theta, drive, reach


def stepped(theta: np.ndarray, drive: np.ndarray, reach: np.ndarray) -> np.ndarray:
    turned = drive * np.exp(-1j * theta)
    parts = (torch.from_numpy(np.ascontiguousarray(part)) for part in (turned.imag, turned.real, reach))
    return flow_step(*parts).numpy()


def test_the_flow_is_the_closed_form_of_held_sources() -> None:
    theta, drive, reach = drives()
    expected = clamped_flow(theta, drive, reach, 1.0) - theta
    # float64; starts next to the unstable point amplify rounding by up to e^|x|
    allowed = 1e-13 * np.exp(np.minimum(np.abs(reach * drive), 20.0)) + 1e-13
    assert (np.abs(stepped(theta, drive, reach) - expected) <= allowed).all()


def test_the_flow_is_what_an_ode_solver_finds() -> None:
    theta, drive, reach = (part[:40] for part in drives())

    def slope(_: float, phase: np.ndarray) -> np.ndarray:
        return reach * (drive * np.exp(-1j * phase)).imag

    solved = solve_ivp(slope, (0.0, 1.0), theta, rtol=1e-11, atol=1e-12).y[:, -1] - theta
    assert np.abs(stepped(theta, drive, reach) - solved).max() < 1e-8


def test_the_first_order_of_the_flow_is_the_euler_step() -> None:
    theta, drive, _ = drives()
    small = np.full(theta.shape, 1e-6)
    euler = small * (drive * np.exp(-1j * theta)).imag
    assert np.abs(stepped(theta, drive, small) - euler).max() < 1e-11  # second order: reach^2 / 2


@pytest.mark.parametrize("reach", [1e30, -1e30, 200.0, -200.0, 0.0])
def test_the_flow_survives_extremes(reach: float) -> None:
    tangent = torch.tensor([0.0, 1e-30, 1e-3, -1.0, 0.0, 0.0, 1e-20], requires_grad=True)
    radial = torch.tensor([0.0, 1.0, -1.0, 0.0, 1.0, -1.0, -1.0], requires_grad=True)
    rate = torch.full((7,), reach, requires_grad=True)
    step = flow_step(tangent, radial, rate)
    step.sum().backward()
    assert step.isfinite().all() and (step.abs() <= 1.0001 * torch.pi).all()
    assert rate.grad is not None and rate.grad.isfinite().all()
    if reach > 0:  # a quarter turn, to the mean
        assert step[3].item() == pytest.approx(-torch.pi / 2, abs=1e-6)
    if reach < 0:  # away from the mean
        assert step[3].item() == pytest.approx(torch.pi / 2, abs=1e-6)
    if reach == 0:
        assert step.abs().max() == 0


def test_a_start_near_the_mean_leaves_it_as_the_closed_form_says() -> None:
    tangent, reach = torch.tensor([1e-4]), torch.tensor([-8.0])  # float32: R - C is below its resolution
    theta = -np.arcsin(1e-4)
    expected = clamped_flow(np.array([theta]), np.array([1.0 + 0j]), np.array([-8.0]), 1.0) - theta
    found = flow_step(tangent, torch.sqrt(1 - tangent.square()), reach)
    assert found.item() == pytest.approx(float(expected[0]), rel=1e-5)


def test_the_bound_keeps_small_updates_and_limits_large_ones() -> None:
    bound = Bound(0.5)
    small = 1e-4 * torch.randn(3, 8)
    # 1 - 1 / sqrt(1 + x^2) < x^2 / 2 with x = rms / rho < 1e-3
    assert torch.allclose(bound(small), small, rtol=1e-6, atol=0)
    for size in (1.0, 1e4, 1e18, 1e30):
        update = bound(size * torch.randn(3, 8))
        assert update.isfinite().all()
        assert (update.square().mean(dim=-1).sqrt() <= 0.5 * (1 + 1e-6)).all()
    middle = torch.randn(3, 8)
    expected = 0.5 * middle / torch.sqrt(0.25 + middle.square().mean(dim=-1, keepdim=True))
    assert torch.allclose(bound(middle), expected, rtol=1e-5)


def test_the_bound_has_a_gradient_at_zero() -> None:
    update = torch.zeros(2, 4, requires_grad=True)
    Bound(1.0)(update).sum().backward()
    assert update.grad is not None and torch.allclose(update.grad, torch.ones(2, 4))
