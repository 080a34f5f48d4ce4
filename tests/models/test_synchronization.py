"""The differentiable closed form: values against the reference, gradients at the hard places."""

import math

import numpy as np
import pytest
import torch

from models.synchronization import (
    locking_floor,
    prefix_order_parameter,
    squared_mismatch,
    synchronization,
)
from oscsim import closed_form

EDGE = (1.0, 1.0 - 1e-7, 1.0 + 1e-7, math.nextafter(1.0, 0.0))


def _reference(d, alpha, locking):
    j = np.exp(-alpha * d**2)
    return closed_form.synchronization(j, d, locking * j)


def test_matches_the_reference_on_random_pairs():
    rng = np.random.default_rng(0)
    d, alpha, locking = rng.uniform(0, 3, 500), rng.uniform(0, 2, 500), rng.uniform(0.1, 4, 500)
    given = synchronization(*(torch.from_numpy(x) for x in (d**2, alpha, locking)))
    expected = _reference(d, alpha, locking)
    assert 0.1 < (expected > 0).mean() < 0.9
    np.testing.assert_allclose(given.numpy(), expected, atol=1e-13)


def test_mismatch_survives_an_offset_that_the_expanded_square_does_not():
    spread = torch.tensor([[0.0], [1.0 / 64]])
    assert squared_mismatch(spread + 4096.0)[0, 1].item() == 2.0**-12


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_without_coupling_only_identical_oscillators_lock(dtype):
    mismatch = torch.tensor([0.0, 1e-30, 1.0, 1e6], dtype=dtype)
    zero = torch.zeros((), dtype=dtype, requires_grad=True)
    sync = synchronization(mismatch, torch.ones((), dtype=dtype), zero)
    assert sync.tolist() == [1.0, 0.0, 0.0, 0.0]
    sync.sum().backward()
    assert zero.grad is not None and zero.grad.item() == 0.0


@pytest.mark.parametrize("strength", [0.0, 1e-38, 1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("layout", ["identical", "spread", "edge", "far"])
def test_gradients_are_finite_in_every_regime(strength, layout):
    places = {"identical": (0.0, 0.0, 0.0), "spread": (0.0, 0.3, 0.8), "edge": EDGE, "far": (0.0, 1e4, -1e4)}
    omega = torch.tensor(places[layout], requires_grad=True).unsqueeze(-1)
    omega.retain_grad()
    alpha = torch.zeros((), requires_grad=True)
    locking = torch.tensor(strength, requires_grad=True)
    synchronization(squared_mismatch(omega), alpha, locking).sum().backward()
    for leaf in (omega, alpha, locking):
        assert leaf.grad is not None and torch.isfinite(leaf.grad).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.03])
@pytest.mark.parametrize("d", EDGE)
def test_gradient_at_the_edge_is_finite_and_bounded(d, smoothing):
    mismatch = torch.tensor(d, dtype=torch.float64).square().requires_grad_()
    one = torch.ones((), dtype=torch.float64)
    synchronization(mismatch, 0.0 * one, one, smoothing).backward()
    assert mismatch.grad is not None and torch.isfinite(mismatch.grad)
    if smoothing:
        assert abs(mismatch.grad.item()) <= 0.5 / (2.0 * smoothing)


def test_smoothing_changes_the_backward_pass_only():
    mismatch = torch.linspace(0.0, 1.2, 50, dtype=torch.float64)
    one = torch.ones((), dtype=torch.float64)
    forward, slope = [], []
    for smoothing in (0.0, 0.03, 0.3):
        leaf = mismatch.clone().requires_grad_()
        sync = synchronization(leaf, 0.1 * one, one, smoothing)
        sync.sum().backward()
        assert leaf.grad is not None
        forward.append(sync.detach())
        slope.append(leaf.grad)
    assert torch.equal(forward[0], forward[1]) and torch.equal(forward[0], forward[2])
    assert (slope[0] - slope[1]).abs().max() > 0.01 and (slope[1] - slope[2]).abs().max() > 0.01


def test_exact_gradients_match_finite_differences():
    generator = torch.Generator().manual_seed(3)
    omega = 0.3 * torch.randn(2, 5, 3, dtype=torch.float64, generator=generator)
    alpha = torch.tensor([[[0.2]], [[0.9]]], dtype=torch.float64)
    locking = torch.full((2, 5, 1), 1.7, dtype=torch.float64)
    inputs = [tensor.requires_grad_() for tensor in (omega, alpha, locking)]

    def both(omega, alpha, locking):
        return synchronization(squared_mismatch(omega), alpha, locking, smoothing=0.0)

    assert torch.autograd.gradcheck(both, inputs)


def test_prefix_order_parameter_knows_the_past_only():
    theta = torch.tensor([[0.0], [math.pi], [0.0], [math.pi / 2]], dtype=torch.float64)
    expected = [1.0, 0.0, 1.0 / 3.0, math.sqrt(2.0) / 4.0]
    np.testing.assert_allclose(prefix_order_parameter(theta).numpy(), expected, atol=1e-15)


def test_order_parameter_gradient_is_finite_where_phases_cancel():
    theta = torch.zeros(2, 1, requires_grad=True)
    with torch.no_grad():
        theta[1] = math.pi
    prefix_order_parameter(theta).sum().backward()
    assert theta.grad is not None and torch.isfinite(theta.grad).all()


def test_locking_floor_leaves_room_for_the_inverse_cube():
    for dtype in (torch.float32, torch.float64):
        assert math.isfinite(float(torch.tensor(locking_floor(dtype), dtype=dtype) ** -3))
