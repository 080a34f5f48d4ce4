"""The Kuramoto language model: causality, ablations, read-out, optimiser groups."""

from dataclasses import replace

import pytest
import torch

from models.kuramoto import KuramotoConfig, KuramotoLanguageModel
from oscsim.errors import ConfigError, SpecError

SMALL = KuramotoConfig(width=16, heads=2, blocks=2, hidden=24, context=16)
VARIANTS = {
    "plain": {},
    "projection": {"values": "projection"},
    "no feed-forward": {"feed_forward": False},
    "no gates": {"gates": False},
    "flow": {"step": "flow"},
    "tied": {"tied": True},
}


def model_of(**changes: object) -> KuramotoLanguageModel:
    torch.manual_seed(1)
    return KuramotoLanguageModel(replace(SMALL, **changes))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("implementation", ["native", "eager"])
def test_no_row_changes_by_a_bit_when_later_bytes_do(variant: str, implementation: str) -> None:
    model = model_of(**VARIANTS[variant])
    if variant not in ("projection", "flow"):
        model.use(implementation)
    tokens = torch.randint(256, (2, 16))
    before = model(tokens)
    for position in (0, 7, 14):
        changed = tokens.clone()
        changed[:, position + 1 :] = torch.randint(256, (2, 15 - position))
        after = model(changed)
        assert torch.equal(after[:, : position + 1], before[:, : position + 1])
        assert not torch.equal(after[:, position + 1 :], before[:, position + 1 :])


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "plain"])
def test_each_option_changes_the_answer_and_trains(variant: str) -> None:
    model, tokens = model_of(**VARIANTS[variant]), torch.randint(256, (2, 16))
    assert not torch.equal(model(tokens), model_of()(tokens))
    losses = model.losses(tokens[:, :-1], tokens[:, 1:])
    assert losses.penalty == 0
    losses.cross_entropy.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


def test_ablations_have_the_parameters_that_the_documentation_says() -> None:
    full = model_of().parameter_count()
    blocks, width, hidden = SMALL.blocks, SMALL.width, SMALL.hidden
    assert model_of(values="projection").parameter_count() == full
    assert model_of(gates=False).parameter_count() == full - blocks * 2 * (2 * width + 1) * width
    assert model_of(feed_forward=False).parameter_count() == full - blocks * (3 * width * hidden + 1)
    assert model_of(step="flow").parameter_count() == full + blocks * (width - 1)
    assert model_of(tied=True).parameter_count() == full - 256 * width


def test_logits_are_cosines_between_phases_and_prototypes() -> None:
    model, theta = model_of(), torch.randn(1, 3, 16)
    assert model.prototypes is not None
    with torch.no_grad():
        model.log_scale.fill_(0.7)
        cosines = torch.cos(theta[0, :, None].double() - model.prototypes.double()).sum(dim=-1)
        expected = torch.exp(torch.tensor(0.7).double()) * cosines
        assert torch.allclose(model.logits(theta)[0].double(), expected, atol=1e-4)


def test_a_rotation_by_whole_turns_changes_only_the_feed_forward() -> None:
    model = model_of(feed_forward=False)
    theta = torch.randn(1, 9, 16)
    block = model.typed_blocks()[0]
    turns = 2 * torch.pi * torch.randint(-3, 4, (1, 9, 16))
    assert torch.allclose(block(theta + turns) - turns, block(theta), atol=2e-5)  # phases of 20 rad, eps 2e-6


def test_every_parameter_is_in_one_optimiser_group() -> None:
    model = model_of()
    groups = model.parameter_groups(1.0, 0.1)
    held = [id(parameter) for group in groups for parameter in group["params"]]
    assert sorted(held) == sorted(id(parameter) for parameter in model.parameters())
    decaying = {id(parameter) for parameter in groups[0]["params"]}
    assert id(model.phases.weight) not in decaying and id(model.prototypes) not in decaying
    assert [group["weight_decay"] for group in groups] == [0.1, 0.0, 0.0]
    assert [group["lr"] for group in groups] == [1.0, 1.0, SMALL.drift_rate]


def test_phases_stay_float32_under_autocast() -> None:
    model, tokens = model_of(step="flow"), torch.randint(256, (2, 16))
    exact = model(tokens)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model(tokens)
        theta = model.typed_blocks()[0](model.phases(tokens))
    assert theta.dtype == torch.float32 and rounded.dtype == torch.float32
    assert not torch.equal(rounded, exact)  # the feed-forward does use bfloat16
    assert (rounded - exact).abs().max() < 0.1  # 2^-8 of updates of order 1, over 16 coordinates


def test_the_start_is_as_the_configuration_says() -> None:
    model = model_of(temperature=3.0, phase_spread=0.25, bound=2.0)
    attention = model.typed_blocks()[0].attention
    weights = attention.log_tau.exp() * (SMALL.width / SMALL.heads) ** 0.5
    assert torch.allclose(weights, torch.full((2,), 3.0))
    assert 0.24 < model.phases.weight.abs().max() <= 0.25
    huge = model.typed_blocks()[0].bound(1e6 * torch.ones(1, 1, 16))
    assert torch.allclose(huge, torch.full((1, 1, 16), 2.0))


def test_diagnostics_are_those_of_the_phases() -> None:
    model = model_of()
    with torch.no_grad():
        model.phases.weight.zero_()  # every token alike: in step with its sources and with all
    first = model.diagnose(torch.randint(256, (2, 16)))[0]
    assert first["local_order"] == pytest.approx(1.0, abs=1e-5)
    assert first["global_order"] == pytest.approx(1.0, abs=1e-5)
    assert first["mean_abs_omega"] == pytest.approx(
        model.typed_blocks()[0].attention.omega.abs().mean().item()
    )
    assert 0 < first["attention_entropy"] <= 4.0  # log2 of 16 tokens
    model.phases.weight.data.uniform_(-3.14, 3.14)
    other = model.diagnose(torch.randint(256, (2, 16)))[0]
    assert other["global_order"] < 0.6 and other["global_order"] < other["local_order"]


@pytest.mark.parametrize("variant", ["projection", "flow"])
def test_what_takes_torchs_attention_takes_no_other(variant: str) -> None:
    model = model_of(**VARIANTS[variant])
    model.use(None)
    with pytest.raises(ConfigError, match="given 'native' for a kuramoto model with"):
        model.use("native")


def test_impossible_configurations_are_refused() -> None:
    for change, message in (
        ({"width": 0}, "width: given 0; expected a whole number, at least 1"),
        ({"values": "mean"}, "values: given 'mean'; expected one of 'circular_mean', 'projection'"),
        ({"gates": 1}, "gates: given 1; expected True or False"),
        ({"dropout": 1.0}, "dropout: given 1.0"),
        ({"bound": float("nan")}, "bound: given nan"),
        ({"bound": 0.0}, "bound: given 0.0; expected more than 0"),
        ({"temperature": 0.0}, "temperature: given 0.0; expected more than 0"),
        ({"values": "projection", "step": "flow"}, "given values='projection' with step='flow'"),
    ):
        with pytest.raises(SpecError, match=message):
            replace(SMALL, **change)
