"""Decoding with a cache: the same rows as the full causal pass, in any chunks."""

import numpy as np
import pytest
import torch

from hw_targets.triton.ops.decode import SSACache
from hw_targets.triton.ops.order import prefix_order_parameter
from hw_targets.triton.ops.ssa import ssa_attention
from oscsim.errors import ConfigError
from oscsim.tolerance import FLOAT32_EPSILON

EVERY = pytest.mark.parametrize("impl", ["eager", "native", "triton"])
STRENGTH = {"alpha": 0.3, "gain": 1.5}


def tokens(batch=2, heads=2, n=21, seed=0):
    """Frequencies, values, phases."""
    make = torch.Generator().manual_seed(seed)
    omega = 0.5 * torch.randn(batch, heads, n, 3, generator=make)
    values = torch.randn(batch, heads, n, 5, generator=make)
    return omega, values, torch.randn(batch, heads, n, 4, generator=make)


def appended(cache, chunks, omega, values, **given):
    """Outputs of all tokens, appended in chunks of these sizes; given: tensors cut along their tokens."""
    outputs, first = [], 0
    for size in chunks:
        part = slice(first, first + size)
        rest = {
            name: x[:, part] if name == "padding" else x[:, :, part] if torch.is_tensor(x) else x
            for name, x in given.items()
        }
        outputs.append(cache.append(omega[:, :, part], values[:, :, part], **rest))
        first += size
    return torch.cat(outputs, dim=2)


@EVERY
@pytest.mark.parametrize("chunks", [[1, 1, 1, 128], [131], [94, 1, 1, 1, 34], [60, 70, 1]])
def test_any_chunks_equal_the_full_pass(impl, chunks):
    # more tokens than a tile of any implementation has; the interpreter is slow
    omega, values, theta = tokens(batch=1 if impl == "triton" else 2, n=131)
    order = prefix_order_parameter(theta, impl=impl)
    full = ssa_attention(omega, values, order_parameter=order, causal=True, impl=impl, **STRENGTH)
    cache = SSACache(impl=impl, **STRENGTH)
    given = appended(cache, chunks, omega, values, order_parameter=order)
    streamed = appended(SSACache(impl=impl, **STRENGTH), chunks, omega, values, theta=theta)
    assert len(cache) == 131
    assert torch.equal(given, full) if impl != "eager" else torch.allclose(given, full, atol=1e-6)
    # the streamed order parameter may differ by a rounding
    np.testing.assert_allclose(streamed, full, rtol=0, atol=100 * FLOAT32_EPSILON)


@EVERY
def test_one_order_parameter_for_all(impl):
    omega, values, _ = tokens()
    full = ssa_attention(omega, values, order_parameter=0.7, causal=True, impl=impl, **STRENGTH)
    parts = appended(SSACache(impl=impl, **STRENGTH), [5, 16], omega, values, order_parameter=0.7)
    np.testing.assert_allclose(parts, full, rtol=0, atol=FLOAT32_EPSILON)


@EVERY
def test_padded_prompts_of_unequal_length(impl):
    omega, values, theta = tokens()
    padding = torch.zeros(2, 21, dtype=torch.bool)
    padding[0, :6] = True
    parts = appended(
        SSACache(impl=impl, **STRENGTH), [10, 1, 10], omega, values, theta=theta, padding=padding
    )
    assert not parts[0, :, :6].any()
    cut = [x[:1, :, 6:] for x in (omega, values)]
    alone = appended(SSACache(impl=impl, **STRENGTH), [15], *cut, theta=theta[:1, :, 6:])
    np.testing.assert_allclose(parts[:1, :, 6:], alone, rtol=0, atol=100 * FLOAT32_EPSILON)


def test_select_reorders_and_repeats_sequences():
    omega, values, theta = tokens(batch=3)
    indices = torch.tensor([2, 0, 0, 1])
    cache = SSACache(impl="eager", **STRENGTH)
    appended(cache, [10], omega, values, theta=theta)
    cache.select(indices)
    later = [x[indices][:, :, 10:] for x in (omega, values, theta)]
    parts = cache.append(*later[:2], theta=later[2])
    full = appended(SSACache(impl="eager", **STRENGTH), [21], omega, values, theta=theta)
    torch.testing.assert_close(parts, full[indices][:, :, 10:], rtol=0, atol=1e-6)
    with pytest.raises(ConfigError, match=r"indices: given \[4\], expected at least one, each in 0..3"):
        cache.select(torch.tensor([4]))
    with pytest.raises(ConfigError, match="whole numbers"):
        cache.select(torch.tensor([0.5]))


def test_float64_and_reset():
    omega, values, theta = (x.double() for x in tokens())
    cache = SSACache(impl="eager", **STRENGTH)
    first = appended(cache, [3, 18], omega, values, theta=theta)
    cache.reset()
    assert len(cache) == 0
    again = appended(cache, [21], omega[:1], values[:1], theta=theta[:1])
    torch.testing.assert_close(first[:1], again, rtol=0, atol=1e-13)
    assert first.dtype == torch.float64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"omega": (2, 2, 1, 4)}, r"omega: given \(2, 2, 1, 4\).*expected \(2, 2, 1, 3\).*reset"),
        ({"values": (2, 2, 1, 6)}, r"values: given"),
        ({"theta": (2, 2, 1, 3)}, r"theta: given \(2, 2, 1, 3\).*reset"),
        ({"theta": (2, 2, 2, 4)}, r"theta: given"),
        ({"batch": 1}, r"omega: given \(1, 2, 1, 3\)"),
        ({"order_parameter": 0.5}, r"given order_parameter.*expected theta as before"),
        ({"both": True}, r"exactly one of them"),
        ({"padding": (1, 1)}, r"padding: given"),
        ({"nan": True}, r"theta: given NaN"),
        ({"theta dtype": torch.bool}, r"theta: given \(2, 2, 1, 4\) torch.bool, expected .* floating point"),
        (
            {"theta dtype": torch.int64},
            r"theta: given \(2, 2, 1, 4\) torch.int64, expected .* floating point",
        ),
        ({"theta dtype": torch.complex64}, r"theta: given .* torch.complex64, expected .* floating point"),
    ],
)
def test_tokens_that_do_not_continue_the_cache_are_refused_and_change_nothing(change, message):
    omega, values, theta = tokens()
    cache = SSACache(impl="eager", **STRENGTH)
    appended(cache, [20], omega, values, theta=theta)
    last = {"omega": omega[:, :, 20:], "values": values[:, :, 20:], "theta": theta[:, :, 20:]}
    wrong = {
        name: torch.zeros(change[name]) if name in change else x[: change.get("batch", 2)]
        for name, x in last.items()
    }
    if "order_parameter" in change:
        wrong["theta"] = None
        wrong["order_parameter"] = change["order_parameter"]
    if "both" in change:
        wrong["order_parameter"] = 0.5
    if "nan" in change:
        wrong["theta"] = wrong["theta"] * torch.nan
    if "theta dtype" in change:
        wrong["theta"] = wrong["theta"].to(change["theta dtype"])
    if "padding" in change:
        wrong["padding"] = torch.zeros(change["padding"], dtype=torch.bool)
    with pytest.raises(ConfigError, match=message):
        cache.append(**wrong)
    assert len(cache) == 20
    fresh = appended(SSACache(impl="eager", **STRENGTH), [20, 1], omega, values, theta=theta)
    assert torch.equal(cache.append(**last), fresh[:, :, 20:])


def test_another_constant_order_parameter_is_refused():
    omega, values, _ = tokens()
    cache = SSACache(impl="eager", **STRENGTH)
    appended(cache, [10], omega, values, order_parameter=0.7)
    with pytest.raises(ConfigError, match="given another one"):
        cache.append(omega, values, order_parameter=0.8)
    with pytest.raises(ConfigError, match="precision"):
        SSACache(precision="half", **STRENGTH)


KINDS = ("theta", "per token", "constant")


def orders(kind, n=9):
    """Keywords of append, one for each token: phases, one order parameter per token, or one for all."""
    omega, values, theta = tokens(n=n)
    per_token = prefix_order_parameter(theta, impl="eager")
    cuts = [slice(i, i + 1) for i in range(n)]
    given = {
        "theta": [{"theta": theta[:, :, i]} for i in cuts],
        "per token": [{"order_parameter": per_token[:, :, i]} for i in cuts],
        "constant": [{"order_parameter": 0.7} for _ in cuts],
    }[kind]
    return [
        {"omega": omega[:, :, i], "values": values[:, :, i]} | x for i, x in zip(cuts, given, strict=True)
    ]


def refuse(cache, token, **wrong):
    with pytest.raises(ConfigError, match="given"):
        cache.append(**(token | wrong))


@EVERY
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_a_refused_first_token_leaves_the_cache_empty(impl, kind, other):
    cache, first = SSACache(impl=impl, **STRENGTH), orders(other)[0]
    bad = {"theta": first["theta"] * torch.nan} if other == "theta" else {"order_parameter": -1.0}
    if other == "per token":
        bad = {"order_parameter": -first["order_parameter"] - 1.0}
    refuse(cache, first, **bad)
    assert len(cache) == 0
    fresh = SSACache(impl=impl, **STRENGTH)
    for token in orders(kind, n=3):
        assert torch.equal(cache.append(**token), fresh.append(**token))


@pytest.mark.parametrize("impl", ["eager", "native"])
@pytest.mark.parametrize("kind", KINDS)
def test_after_every_refused_call_the_next_outputs_are_those_of_a_fresh_cache(impl, kind):
    cache, fresh = SSACache(impl=impl, **STRENGTH), SSACache(impl=impl, **STRENGTH)
    for token in orders(kind):
        for name, wrong in (
            ("alpha", -1.0),
            ("alpha", torch.ones(3)),
            ("gain", float("nan")),
            ("gain", "strong"),
            ("gain", torch.ones(2, 2)),
        ):
            kept = getattr(cache, name)
            setattr(cache, name, wrong)
            refuse(cache, token)
            setattr(cache, name, kept)
        for order in (-1.0, torch.inf, "all", True, torch.ones(3), torch.full((2, 2, 1), -1.0)):
            refuse(cache, token, theta=None, order_parameter=order)
        refuse(cache, token, theta=None, order_parameter=torch.ones(2, 2, 1, dtype=torch.complex64))
        refuse(cache, token, theta=torch.full((2, 2, 1, 4), torch.inf), order_parameter=None)
        refuse(cache, token, padding=torch.zeros(2, 2, dtype=torch.bool))
        if len(cache):
            refuse(cache, token, values=token["values"].repeat(1, 1, 1, 2))
            with pytest.raises(ConfigError, match="indices"):
                cache.select(torch.tensor([0, 2]))
        assert torch.equal(cache.append(**token), fresh.append(**token))


def test_a_failing_implementation_leaves_the_cache_as_it_was(monkeypatch):
    cache, fresh = SSACache(impl="eager", **STRENGTH), SSACache(impl="eager", **STRENGTH)
    for token in orders("theta", n=3):
        with monkeypatch.context() as broken:
            broken.setattr("hw_targets.triton.ops.eager.forward", lambda problem: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                cache.append(**token)
        assert torch.equal(cache.append(**token), fresh.append(**token))


def test_a_constant_changed_in_place_is_another_one():
    cache, order = SSACache(impl="eager", **STRENGTH), torch.full((2,), 0.7)
    first, second = orders("constant", n=2)
    cache.append(**(first | {"order_parameter": order}))
    with pytest.raises(ConfigError, match="given another one"):
        cache.append(**(second | {"order_parameter": order.fill_(0.8)}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"impl": "cuda"}, r"impl: given 'cuda', expected one of"),
        ({"alpha": "wide"}, r"alpha: given 'wide', expected a number"),
        ({"alpha": None}, r"alpha: given None, expected a number"),
        ({"alpha": -1.0}, r"alpha: given -1, expected finite numbers >= 0"),
        ({"gain": torch.inf}, r"gain: given inf, expected finite numbers >= 0"),
        ({"gain": True}, r"gain: given True, expected a number"),
        ({"gain": torch.tensor([1.0, torch.nan])}, r"gain: given nan, expected finite"),
        ({"gain": torch.ones(2, dtype=torch.complex64)}, r"gain: given \(2,\) torch.complex64, expected"),
        ({"alpha": torch.ones(2, 2)}, r"alpha: given \(2, 2\) .*at most 1 dimension$"),
    ],
)
def test_unusable_options_are_refused_at_once(change, message):
    with pytest.raises(ConfigError, match=message):
        SSACache(**(STRENGTH | change))
