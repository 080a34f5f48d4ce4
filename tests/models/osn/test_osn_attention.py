"""The layer: equal to the reference solution for either mask, windowed, with finite gradients."""

import numpy as np
import pytest
import torch

import oscsim
from models.osn import SynchronizationAttention, initialise_layer
from oscsim.errors import SpecError


def _layer(dtype=torch.float64, **changes):
    torch.manual_seed(1)
    layer = SynchronizationAttention(**{"width": 12, "heads": 3, "channels": 4, **changes}).to(dtype)
    layer.implementation = "eager" if dtype == torch.float64 else None
    hidden = torch.randn(1, 33, 12, dtype=dtype)
    initialise_layer(layer, hidden, 0.5)
    return layer, hidden


def _heads(layer, hidden):
    with torch.no_grad():
        return layer.attend(layer.oscillators(hidden))[0].numpy()


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("length", [1, 2, 33])
def test_double_layer_equals_the_reference(length, causal):
    layer, hidden = _layer(causal=causal)
    hidden = hidden[:, :length]
    spec = layer.to_spec(hidden)
    result = oscsim.solve(spec)
    assert spec.mask == ("causal" if causal else "full")
    np.testing.assert_allclose(_heads(layer, hidden), result.output, atol=2e-13)
    visible = np.tril(np.ones((length, length), bool)) if causal else np.ones((length, length), bool)
    assert np.array_equal(layer.locked(hidden)[0].numpy() & visible, result.locked & visible)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("implementation", ["eager", "native"])
def test_single_layer_agrees_with_its_own_spec_to_float32(causal, implementation):
    layer, hidden = _layer(torch.float32, causal=causal)
    layer.implementation = implementation
    result = oscsim.solve(layer.to_spec(hidden))
    assert result.conditioning is not None
    condition = np.minimum(result.conditioning.condition, 1e3)
    allowed = 1e-5 * (result.weights * condition).sum(axis=-1, keepdims=True)
    assert np.all(np.abs(_heads(layer, hidden) - result.output) <= np.maximum(allowed, 1e-5))


@pytest.mark.parametrize("dynamics", ["pair", "network", "clamped"])
def test_every_dynamics_and_field_reaches_the_spec(dynamics):
    layer, hidden = _layer()
    spec = layer.to_spec(hidden[0], dynamics=dynamics, duration=0.5, time_unit_s=2e-9, carrier_hz=5e8)
    assert (spec.dynamics, spec.duration, spec.time_unit_s, spec.carrier_hz) == (dynamics, 0.5, 2e-9, 5e8)
    assert (spec.n_heads, spec.n_oscillators, spec.n_channels, spec.mask) == (3, 33, 4, "causal")


def test_wrong_inputs_are_refused():
    layer, hidden = _layer()
    with pytest.raises(SpecError, match="expected one passage"):
        layer.to_spec(hidden.expand(2, -1, -1))
    with pytest.raises(SpecError, match="expected one passage"):
        layer.to_spec(torch.zeros(5, 7))
    with pytest.raises(SpecError, match="unknown field"):
        layer.to_spec(hidden, dt_s=1.0)
    with pytest.raises(SpecError, match="multiple of heads"):
        SynchronizationAttention(width=10, heads=3, channels=4)
    with pytest.raises(SpecError, match="2 channels"):
        SynchronizationAttention(width=12, heads=3, channels=1)


def test_no_pair_outside_the_ramp_window_locks():
    layer, hidden = _layer()
    oscillators = layer.oscillators(hidden)
    with torch.no_grad():
        reach = layer.locking(oscillators.theta)[0].amax(dim=1) / layer.ramp.abs()  # d* <= K r
        steps = torch.arange(hidden.shape[1])
        apart = (steps[:, None] - steps[None, :]).abs()
        outside = apart[None] > reach[:, None, None]
    assert not (layer.locked(hidden)[0] & outside).any()
    with torch.no_grad():
        layer.ramp.fill_(1e6)
    assert torch.equal(layer.locked(hidden)[0], torch.eye(33).bool().expand(3, -1, -1))


def _regime(layer, hidden, name):
    with torch.no_grad():
        if name == "identical":
            layer.ramp.zero_()
            hidden = hidden[:, :1].expand(-1, 9, -1)
        elif name == "nothing locked":
            layer.frequency.weight.mul_(1e3)
        elif name == "everything locked":
            layer.frequency.weight.mul_(1e-3)
            layer.ramp.mul_(1e-3)
        elif name == "no coupling":
            layer.gain_raw.fill_(-200.0)  # softplus underflows: K = 0
        elif name == "edge":  # K = 1 to the last bit, alpha = 0, frequencies 0, 1, 2, ...
            layer.alpha_raw.fill_(-200.0)
            layer.gain_raw.fill_(float(np.log(np.expm1(1.0))))
            layer.ramp.fill_(1.0)
            for weights in (layer.frequency.weight, layer.phase.weight):
                weights.zero_()
    return hidden


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "name", ["identical", "nothing locked", "everything locked", "no coupling", "edge", "usual"]
)
def test_gradients_are_finite(name, dtype, causal):
    layer, hidden = _layer(dtype, causal=causal)
    hidden = _regime(layer, hidden, name).clone().requires_grad_()
    layer(hidden).square().sum().backward()
    for label, parameter in [*layer.named_parameters(), ("input", hidden)]:
        assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), label


def test_the_edge_regime_is_at_the_edge():
    layer, hidden = _layer()
    _regime(layer, hidden, "edge")
    ratio = 1.0 / layer.locking(layer.oscillators(hidden).theta)
    assert (ratio - 1.0).abs().max() < 1e-12


def test_frequencies_and_phases_stay_in_single_precision_under_autocast():
    layer, hidden = _layer(torch.float32)
    plain = layer.oscillators(hidden)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = layer.oscillators(hidden)
        output = layer(hidden)
    assert torch.equal(mixed.omega, plain.omega) and torch.equal(mixed.theta, plain.theta)
    assert mixed.values.dtype == output.dtype == torch.bfloat16
    output.float().square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in layer.parameters())
    # Seven roundings of 2^-9: input, weights and result of W_v; weights and result of the mean; W_o and its
    # result. Each is relative to a sum of magnitudes, up to sqrt(12) < 4 times the largest result here.
    plain_output = layer(hidden)
    assert (output.float() - plain_output).abs().max() < 7 * 2.0**-9 * 4 * plain_output.abs().max()
