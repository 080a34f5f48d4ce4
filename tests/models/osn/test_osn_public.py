"""The public implementation's parameters load, and give what its equations say."""

import numpy as np
import pytest
import torch
from torch.nn import functional

import oscsim
from models.osn import load_public_state_dict, public_compatible_layer
from models.osn.public import matched_transformer_block, public_compatible_block
from oscsim.errors import ConfigError, SchemaError, SpecError

WIDTH, HEADS, LENGTH = 64, 4, 33


def _state(seed, frequency_scale):
    """Parameters of default linear layers; W_omega scaled, phases halved so that r is not small."""
    torch.manual_seed(seed)
    state = {"K": torch.randn(()) * 0.2 + 1.0, "alpha": torch.randn(HEADS) * 0.3 + 1.0}
    for name in ("W_omega", "W_theta", "W_v", "W_o"):
        for key, tensor in torch.nn.Linear(WIDTH, WIDTH).state_dict().items():
            state[f"{name}.{key}"] = tensor
    state["W_omega.weight"] *= frequency_scale
    state["W_theta.weight"] *= 0.5
    return state


def _formula(state, x, keep=None):
    """The equations of docs/spec.md section 2 with the public parameters, in float64; also S."""
    p, x = {name: tensor.double() for name, tensor in state.items()}, x.double()
    parts = []
    for name in ("W_omega", "W_theta", "W_v"):
        flat = x @ p[f"{name}.weight"].T + p[f"{name}.bias"]
        parts.append(flat.view(*x.shape[:2], HEADS, -1).permute(0, 2, 1, 3))
    omega, theta, values = parts
    squared = (omega.unsqueeze(3) - omega.unsqueeze(2)).square().sum(dim=-1)
    coupling = torch.exp(-functional.softplus(p["alpha"]).view(-1, 1, 1) * squared)
    order = torch.exp(1j * theta).mean(dim=2).abs().mean(dim=-1)
    strength = functional.softplus(p["K"]) * order[..., None, None] * coupling
    ratio = squared.sqrt() / strength
    sync = torch.where(ratio <= 1.0, coupling * (1.0 - ratio.clamp(max=1.0).square()).sqrt(), 0.0)
    if keep is not None:
        smallest = sync.sort(dim=-1, descending=True).values[..., keep - 1 : keep]
        sync = torch.where(sync >= smallest, sync, 0.0)
    mixed = (sync / sync.sum(dim=-1, keepdim=True)) @ values
    flat = mixed.permute(0, 2, 1, 3).reshape(x.shape)
    return flat @ p["W_o.weight"].T + p["W_o.bias"], sync


def _loaded(state, **options):
    layer = public_compatible_layer(WIDTH, HEADS, **options)
    load_public_state_dict(layer, state)
    return layer.eval()


def _inputs(seed):
    return torch.randn(2, LENGTH, WIDTH, generator=torch.Generator().manual_seed(seed))


def _locked_share(sync):
    return (sync[..., ~torch.eye(LENGTH, dtype=torch.bool)] > 0).double().mean().item()


@pytest.mark.parametrize("implementation", ["eager", "native"])
@pytest.mark.parametrize("seed", range(8))
def test_outputs_are_those_of_the_formula_where_part_of_the_pairs_lock(seed, implementation):
    state, x = _state(seed, 0.25), _inputs(seed)
    expected, sync = _formula(state, x)
    layer = _loaded(state)
    layer.implementation = implementation
    assert 0.05 < _locked_share(sync) < 0.6
    with torch.no_grad():
        torch.testing.assert_close(layer(x).double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("seed", range(3))
def test_at_default_initialisation_nothing_locks_and_the_layer_is_linear(seed):
    state, x = _state(seed, 1.0), _inputs(seed)
    expected, sync = _formula(state, x)
    assert _locked_share(sync) == 0.0
    with torch.no_grad():
        torch.testing.assert_close(_loaded(state)(x).double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("keep", [1, 5, LENGTH, 1000])
def test_sparsity_keeps_the_largest_of_every_row(keep):
    state, x = _state(11, 0.2), _inputs(11)
    expected, sync = _formula(state, x, keep=min(keep, LENGTH))
    assert (sync > 0).sum(dim=-1).max() <= keep
    layer = _loaded(state, sparsity_k=keep)
    with torch.no_grad():
        torch.testing.assert_close(layer(x).double(), expected, atol=1e-5, rtol=0)
    layer.implementation = "native"
    with pytest.raises(ConfigError, match="top_k"):
        layer(x)


def test_a_double_layer_takes_a_single_state_and_is_the_reference():
    state, x = _state(12, 0.25), _inputs(12)
    layer = public_compatible_layer(WIDTH, HEADS).double()
    load_public_state_dict(layer, state)
    layer.implementation = "eager"
    with torch.no_grad():
        torch.testing.assert_close(layer(x.double()), _formula(state, x)[0], atol=1e-12, rtol=0)


def test_the_phase_layer_solves_to_what_is_projected():
    state, x = _state(13, 0.25), _inputs(13)[:1].double()
    layer = _loaded(state).double()
    spec = layer.to_spec(x)
    result = oscsim.solve(spec)
    assert (spec.mask, spec.omega.shape) == ("full", (HEADS, LENGTH, WIDTH // HEADS))
    projected = layer.W_o(torch.from_numpy(result.output).transpose(0, 1).flatten(1))
    np.testing.assert_allclose(projected.detach().numpy(), _formula(state, x)[0][0].numpy(), atol=1e-12)
    with pytest.raises(SpecError, match="expected one passage"):
        layer.to_spec(x.expand(2, -1, -1))
    with pytest.raises(SpecError, match="sparsity_k 3; expected None"):
        public_compatible_layer(WIDTH, HEADS, sparsity_k=3).to_spec(x)


@pytest.mark.parametrize("options", [{}, {"dropout": 0.3}, {"sparsity_k": 4}])
@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_the_layer_trains(options, scale):
    layer, x = _loaded(_state(14, scale), **options).train(), _inputs(14)
    before = layer(x).square().mean()
    before.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in layer.parameters())
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    assert layer(x).square().mean() < before


def test_dropout_drops_weights_in_training_only():
    layer, x = _loaded(_state(15, 0.25), dropout=0.5), _inputs(15)
    with torch.no_grad():
        assert torch.equal(layer(x), layer(x))
        layer.train()
        assert not torch.equal(layer(x), layer(x))


def _changed(name, tensor):
    state = _state(16, 1.0)
    if tensor is None:
        del state[name]
    else:
        state[name] = tensor
    return state


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (_changed("W_v.bias", None), "W_v.bias is missing"),
        (_changed("W_q.weight", torch.zeros(1)), "W_q.weight is unknown"),
        (_changed("K", torch.ones(1)), r"K has shape \(1,\)"),
        (_changed("alpha", torch.ones(HEADS + 1)), r"alpha has shape \(5,\)"),
        (_changed("W_omega.weight", torch.zeros(WIDTH, 8)), r"W_omega.weight has shape \(64, 8\)"),
        (
            _changed("W_o.bias", torch.full((WIDTH,), float("nan"))),
            "W_o.bias has entries that are not finite",
        ),
        (_changed("K", torch.tensor(float("inf"))), "K has entries that are not finite"),
        (_changed("K", torch.tensor(1)), "K has entries that are not finite real"),
        (_changed("K", torch.tensor(1e300, dtype=torch.float64)), "K has entries that are not finite"),
        (_changed("K", 1.0), "K is no tensor"),
        (_changed("K", torch.empty((), device="meta")), "K is no tensor with numbers"),
        (_changed("W_o.weight", torch.ones(WIDTH, WIDTH).to_sparse()), "W_o.weight is no tensor with"),
        ({f"ssa.{name}": tensor for name, tensor in _state(16, 1.0).items()}, "K is missing.*prefix.*'ssa.'"),
        ({}, r"expected exactly K \(\), alpha \(4,\), W_omega.weight \(64, 64\)"),
    ],
)
def test_foreign_state_dicts_are_refused_and_change_nothing(state, message):
    layer = public_compatible_layer(WIDTH, HEADS)
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    with pytest.raises(SchemaError, match=message):
        load_public_state_dict(layer, state)
    assert all(torch.equal(tensor, before[name]) for name, tensor in layer.state_dict().items())


def test_impossible_options_are_refused():
    with pytest.raises(SpecError, match="multiple of the heads"):
        public_compatible_layer(10, 4)
    with pytest.raises(SpecError, match="sparsity_k 0"):
        public_compatible_layer(8, 4, sparsity_k=0)
    with pytest.raises(SpecError, match=r"dropout 1\.0"):
        public_compatible_layer(8, 4, dropout=1.0)


def test_parameter_counts_are_the_published_ones():
    counts = [
        sum(parameter.numel() for parameter in build(512, 8, 2048).parameters())
        for build in (public_compatible_block, matched_transformer_block)
    ]
    assert counts == [3_152_393, 3_152_384]


@pytest.mark.parametrize("build", [public_compatible_block, matched_transformer_block])
def test_blocks_are_residual_pre_norm_and_see_every_token(build):
    torch.manual_seed(17)
    block, x = build(WIDTH, HEADS, 128), _inputs(17)
    if build is public_compatible_block:
        load_public_state_dict(block.ssa, _state(17, 0.25))
    mixed = x + block.get_submodule(block.mixing)(functional.layer_norm(x, (WIDTH,)))
    ffn = block.ffn
    wide = functional.gelu(ffn[0](functional.layer_norm(mixed, (WIDTH,))))
    y = block(x)
    torch.testing.assert_close(y, mixed + ffn[2](wide))
    y.square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in block.parameters())
    changed = x.clone()
    changed[:, -1] = torch.randn(WIDTH)
    assert not torch.equal(block(changed)[:, 0], y[:, 0])
