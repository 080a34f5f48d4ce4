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
    if "padding" in change:
        wrong["padding"] = torch.zeros(change["padding"], dtype=torch.bool)
    with pytest.raises(ConfigError, match=message):
        cache.append(**wrong)
    assert len(cache) == 20
    full = appended(SSACache(impl="eager", **STRENGTH), [21], omega, values, theta=theta)
    torch.testing.assert_close(cache.append(**last), full[:, :, 20:], rtol=0, atol=1e-6)


def test_another_constant_order_parameter_is_refused():
    omega, values, _ = tokens()
    cache = SSACache(impl="eager", **STRENGTH)
    appended(cache, [10], omega, values, order_parameter=0.7)
    with pytest.raises(ConfigError, match="given another one"):
        cache.append(omega, values, order_parameter=0.8)
    with pytest.raises(ConfigError, match="precision"):
        SSACache(precision="half", **STRENGTH)
