"""The attention of a Kuramoto block against its definition, written out pair by pair."""

import math

import pytest
import torch

from models.kuramoto import KuramotoAttention, KuramotoConfig, KuramotoLanguageModel
from models.kuramoto.attention import circle
from oscsim.errors import SpecError

IMPLEMENTATIONS = ["native", "eager", "triton"]


def layer_of(heads: int = 2, width: int = 16, gates: bool = True, seed: int = 0) -> KuramotoAttention:
    torch.manual_seed(seed)
    layer = KuramotoAttention(KuramotoConfig(width=width, heads=heads, gates=gates))
    with torch.no_grad():
        layer.log_tau += 0.3 * torch.randn(heads)  # heads that differ
        layer.omega += 0.1 * torch.randn_like(layer.omega)
    return layer


def defined_weights(layer: KuramotoAttention, theta: torch.Tensor) -> torch.Tensor:
    """A of one passage (N, k) in float64, from the equation of docs/spec.md and no shared code."""
    theta = theta.double()
    tokens = theta.shape[0]
    heads, channels = layer.omega.shape
    gates = []
    for gate in (layer.gate_q, layer.gate_k):
        if gate is None:
            gates.append(torch.ones(tokens, heads, channels, dtype=torch.float64))
            continue
        features = torch.cat([theta.cos(), theta.sin()], dim=1)
        raw = features @ gate.weight.double().T + gate.bias.double()
        raw = torch.log1p(raw.exp()).view(tokens, heads, channels)
        gates.append(raw / raw.mean(dim=2, keepdim=True))
    rows = torch.zeros(heads, tokens, tokens, dtype=torch.float64)
    phases = theta.view(tokens, heads, channels)
    for head in range(heads):
        omega, tau = layer.omega[head].double(), layer.log_tau[head].double().exp()
        for t in range(tokens):
            scores = torch.stack(
                [
                    tau / math.sqrt(channels)
                    * (gates[0][t, head] * gates[1][u, head]
                       * torch.cos(phases[t, head] - phases[u, head] + omega * (t - u))).sum()
                    for u in range(t + 1)
                ]
            )  # fmt: skip
            rows[head, t, : t + 1] = scores.softmax(dim=0)
    return rows.detach()


def defined_pull(weights: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    """sum_u A_tu sin(theta_uj - theta_tj) of one passage (N, k)."""
    heads, tokens, _ = weights.shape
    phases = theta.double().view(tokens, heads, -1)
    sines = torch.sin(phases.unsqueeze(0) - phases.unsqueeze(1))  # (t, u, H, k/H)
    return torch.einsum("htu,tuhj->thj", weights, sines).reshape(tokens, -1)


def rounding(layer: KuramotoAttention) -> float:
    """What float32 may change in a pull: scores of size tau k are off by that times eps, weights then too.

    sum_u A = 1 and |sin| <= 1, so the pull is off by twice the error of a score; 8 roundings enter one.
    """
    size = (layer.log_tau.exp() * math.sqrt(layer.omega.shape[1])).max().item()
    return 16 * torch.finfo(torch.float32).eps * (1 + 4 * size)


@pytest.mark.parametrize("gates", [True, False])
@pytest.mark.parametrize("heads", [1, 2])
def test_weights_are_those_of_the_definition(heads: int, gates: bool) -> None:
    layer, theta = layer_of(heads, gates=gates), 0.8 * torch.randn(11, 16)
    found = layer.weights(theta.unsqueeze(0))[0].double()
    assert (found - defined_weights(layer, theta)).abs().max() <= rounding(layer)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_the_pull_is_that_of_the_definition(implementation: str) -> None:
    layer, theta = layer_of(), 0.8 * torch.randn(11, 16)
    layer.implementation = implementation
    expected = defined_pull(defined_weights(layer, theta), theta)
    assert (layer(theta.unsqueeze(0))[0].double() - expected).abs().max() <= rounding(layer)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_the_pull_is_the_tangent_of_the_circular_mean_in_every_layer(implementation: str) -> None:
    torch.manual_seed(3)
    model = KuramotoLanguageModel(KuramotoConfig(width=16, heads=2, hidden=24, phase_spread=2.0))
    model.use(implementation)
    tokens = torch.randint(256, (2, 19))
    inputs = model.layer_inputs(tokens)
    assert len(inputs) == 4
    for block, theta in zip(model.typed_blocks(), inputs, strict=True):
        layer = block.attention
        pull = layer(theta)
        tangent, radial = layer.circular_mean(theta)
        weights = layer.weights(theta).double()
        phasors = torch.polar(torch.ones_like(theta).double(), theta.double())
        mean = layer.joined(weights.to(phasors.dtype) @ layer.split(phasors))
        turned = mean * phasors.conj()
        assert (pull.double() - turned.imag).abs().max() <= rounding(layer)
        assert (tangent.double() - turned.imag).abs().max() <= rounding(layer)
        assert (radial.double() - turned.real).abs().max() <= rounding(layer)
        assert turned.imag.abs().max() > 100 * rounding(layer)  # there is something to agree on


def test_gates_are_positive_with_mean_one_in_each_head() -> None:
    scores = layer_of(heads=4).scores(torch.randn(2, 5, 16))
    for gate in scores[1:]:
        assert gate.min() > 0
        assert torch.allclose(gate.mean(dim=-1), torch.ones(2, 4, 5), atol=1e-6)
        assert gate.std() > 0.01


def test_scores_depend_on_distance_not_on_position() -> None:
    layer = layer_of()
    theta = torch.randn(1, 1, 16).expand(1, 9, 16)  # the same phases at every position
    weights = layer.weights(theta)[0]
    scores = weights.log() - weights.diagonal(dim1=1, dim2=2).log().unsqueeze(-1)  # s_tu - s_tt
    for offset in range(1, 9):
        along = scores.diagonal(offset=-offset, dim1=1, dim2=2)
        assert (along - along[:, :1]).abs().max() < 1e-5


def test_circle_is_cos_then_sin() -> None:
    assert torch.allclose(
        circle(torch.tensor([0.0, math.pi / 2])), torch.tensor([1.0, 0.0, 0.0, 1.0]), atol=1e-7
    )


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(SpecError, match="width 10 and 4 heads"):
        KuramotoAttention(KuramotoConfig(width=10, heads=4))
