"""Kuramoto attention as torch and users meet it: registration, compilation, memory, messages, decoding."""

import subprocess
import sys

import pytest
import torch
from kuramoto_oracle import random_case

from hw_targets.triton.ops import KuramotoCache, kuramoto_attention
from hw_targets.triton.ops.kuramoto_op import kuramoto_attention_op
from oscsim.errors import ConfigError
from oscsim.tolerance import kuramoto_error

IMPLS = pytest.mark.parametrize("impl", ["eager", "native", "triton"])


def given(case, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    return list(case.leaves(dtype).values())


@IMPLS
def test_opcheck(impl):
    valid = torch.tensor([[True] * 5, [True, False, True, True, False]])
    torch.library.opcheck(
        kuramoto_attention_op, (*given(random_case(2, 2, 5, 8)), valid, True, "accurate", impl)
    )


@IMPLS
def test_compiles_without_a_graph_break_and_gives_the_same_bits(impl):
    case = random_case(1, 2, 17, 8)

    def loss(theta, gate_q, gate_k, drift, tau):
        return kuramoto_attention(theta * 1.0, gate_q, gate_k, drift, tau=tau, impl=impl).square().sum()

    plain, compiled = given(case), given(case)
    expected = torch.autograd.grad(loss(*plain), plain)
    value = torch.compile(loss, fullgraph=True, backend="aot_eager")(*compiled)
    for x, y in zip(torch.autograd.grad(value, compiled), expected, strict=True):
        assert torch.equal(x, y)


def test_vmap_is_refused_with_what_to_do():
    def one(theta):
        return kuramoto_attention(theta, theta, theta, torch.zeros(2, 8), tau=1.0)

    with pytest.raises(ConfigError, match=r"torch.vmap batch, expected none.*pass \(batch, heads, N, k\)"):
        torch.vmap(one)(torch.rand(3, 1, 2, 4, 8))


def test_a_second_derivative_is_refused():
    leaves = given(random_case(1, 1, 4, 8))
    value = kuramoto_attention(*leaves[:4], tau=leaves[4])
    (first,) = torch.autograd.grad(value.sum(), leaves[0], create_graph=True)
    with pytest.raises(RuntimeError, match="kuramoto_attention_backward"):
        torch.autograd.grad(first.sum(), leaves[0])


@IMPLS
def test_autocast_outside_changes_nothing_and_16_bits_keep_their_type(impl):
    leaves = given(random_case(1, 2, 9, 8))
    value = kuramoto_attention(*leaves[:4], tau=leaves[4], impl=impl)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(kuramoto_attention(*leaves[:4], tau=leaves[4], impl=impl), value)
    half = given(random_case(1, 2, 9, 8), torch.bfloat16)
    value = kuramoto_attention(*half[:4], tau=half[4], impl=impl)
    kinds = [x.dtype for x in torch.autograd.grad(value.sum(), half)]
    assert value.dtype == torch.bfloat16 and kinds == [torch.bfloat16] * 3 + [torch.float32] * 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"theta": torch.zeros(2, 5, 8)}, r"theta: given \(2, 5, 8\), expected \(batch, heads, N, k\)"),
        ({"gate_q": torch.zeros(1, 2, 5, 7)}, r"gate_q: given \(1, 2, 5, 7\).*expected theta's"),
        ({"gate_k": torch.zeros(1, 2, 5, 8).double()}, r"gate_k: .*float64.*expected theta's"),
        ({"drift": torch.zeros(8)}, r"drift: given \(8,\).*expected \(heads, k\) = \(2, 8\)"),
        ({"tau": torch.ones(3)}, r"tau: given \(3,\).*expected a number or \(2,\)"),
        ({"precision": "half"}, "precision: given 'half', expected 'accurate'"),
        ({"impl": "cuda"}, "impl: given 'cuda', expected one of triton, native, eager"),
        ({"lengths": torch.tensor([1.5])}, r"lengths: given \(1,\) torch.float32, expected \(1,\) whole"),
        ({"padding": torch.zeros(1, 4, dtype=torch.bool)}, r"padding: given \(1, 4\)"),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    shape = (1, 2, 5, 8)
    tensors = {"theta": torch.zeros(shape), "gate_q": torch.ones(shape), "gate_k": torch.ones(shape)}
    arguments = tensors | {"drift": torch.zeros(2, 8), "tau": 1.0} | changes
    with pytest.raises(ConfigError, match=message):
        kuramoto_attention(**arguments)


def test_float64_and_narrow_heads_name_the_implementation_that_takes_them():
    wide = torch.zeros(1, 1, 3, 8, dtype=torch.float64)
    with pytest.raises(ConfigError, match=r"impl='native' expects float32.*use impl='eager'"):
        kuramoto_attention(wide, wide, wide, torch.zeros(1, 8), tau=1.0)
    for k in (4, 130):
        x = torch.zeros(1, 1, 3, k)
        with pytest.raises(ConfigError, match=f"given k = {k}, impl='triton' expects 8 <= k <= 128"):
            kuramoto_attention(x, x, x, torch.zeros(1, k), tau=1.0, impl="triton")


def test_an_empty_batch_gives_an_empty_result():
    x = torch.zeros(0, 2, 3, 8)
    assert kuramoto_attention(x, x, x, torch.zeros(2, 8), tau=1.0).shape == (0, 2, 3, 8)


def test_native_memory_grows_with_n_not_its_square():
    script = (
        "import resource, torch\n"
        "from hw_targets.triton.ops import kuramoto_attention\n"
        "torch.set_num_threads(1)\n"
        "def step(n):\n"
        "    x = [torch.rand(1, 1, n, 8, requires_grad=True) for _ in range(3)]\n"
        "    kuramoto_attention(*x, torch.zeros(1, 8), tau=1.0, impl='native').sum().backward()\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = step(64)\n"
        "print((step(8192) - before) / 1024)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    # one N x N float32 matrix is 256 MiB; forty arrays of N x 2k are 20
    assert float(run.stdout) < 64


def chunks(case, sizes: list[int], padding: torch.Tensor | None = None):
    leaves = [x.detach() for x in given(case)]
    cache = KuramotoCache(leaves[3], tau=leaves[4])
    parts, start = [], 0
    for size in sizes:
        span = slice(start, start + size)
        new = (x[:, :, span] for x in leaves[:3])
        parts.append(cache.append(*new, padding=None if padding is None else padding[:, span]))
        start += size
    assert len(cache) == start
    return torch.cat(parts, dim=2), cache


@pytest.mark.parametrize("sizes", [[1] * 75, [70, 1, 4], [75]])
@pytest.mark.parametrize("padded", [False, True])
def test_decoding_equals_the_full_pass(sizes, padded):
    case = random_case(2, 2, 75, 8, padded=padded)
    leaves = [x.detach() for x in given(case)]
    padding = None if case.valid is None else ~case.valid
    full = kuramoto_attention(*leaves[:4], tau=leaves[4], padding=padding, impl="eager")
    found, _ = chunks(case, sizes, padding)
    assert (found - full).abs().max() < kuramoto_error(10.0)


def test_decoding_keeps_sequences_and_refuses_what_does_not_continue():
    case = random_case(2, 2, 5, 8)
    _, cache = chunks(case, [4])
    leaves = [x.detach() for x in given(case)]
    tokens = [x[:, :, 4:5] for x in leaves[:3]]
    with pytest.raises(ConfigError, match=r"expected \(2, 2, 1, 16\).*call reset"):
        cache.append(*(x[:1] for x in tokens))
    with pytest.raises(ConfigError, match="drift: given"):
        cache.append(*(x[:, :1] for x in tokens))
    with pytest.raises(ConfigError, match=r"padding: given \(1, 1\)"):
        cache.append(*tokens, padding=torch.zeros(1, 1, dtype=torch.bool))
    assert len(cache) == 4
    with pytest.raises(ConfigError, match="indices: given"):
        cache.select(torch.tensor([2]))
    cache.select(torch.tensor([1, 1]))
    found = cache.append(*(x[[1, 1]] for x in tokens))
    full = kuramoto_attention(*(x[1:] for x in leaves[:3]), leaves[3], tau=leaves[4], impl="eager")
    assert (found - full[:, :, 4:]).abs().max() < kuramoto_error(10.0)
    cache.reset()
    with pytest.raises(ConfigError, match="empty cache"):
        cache.select(torch.tensor([0]))
    assert len(cache) == 0 and cache.append(*(x[:1] for x in tokens)).shape == (1, 2, 1, 8)


def test_after_every_refused_call_the_next_increments_are_those_of_a_fresh_cache():
    theta, gate_q, gate_k, drift, tau = (x.detach() for x in given(random_case(2, 2, 5, 8)))
    cache, fresh = KuramotoCache(drift, tau=tau), KuramotoCache(drift, tau=tau)
    for i in range(5):
        token = [x[:, :, i : i + 1] for x in (theta, gate_q, gate_k)]
        for wrong in (torch.ones(3), torch.ones(2, 1), torch.ones(2, dtype=torch.int64)):
            cache.tau = wrong
            with pytest.raises(ConfigError, match="tau: given"):
                cache.append(*token)
        cache.tau = tau
        for refused in ([x.long() for x in token], [token[0], token[1][:1], token[2]]):
            with pytest.raises(ConfigError, match="given"):
                cache.append(*refused)
        with pytest.raises(ConfigError, match="padding: given"):
            cache.append(*token, padding=torch.zeros(2, 1))
        if i > 0:
            with pytest.raises(ConfigError, match="indices: given"):
                cache.select(torch.tensor([0, 2]))
        assert len(cache) == i
        assert torch.equal(cache.append(*token), fresh.append(*token))


def test_a_failing_product_leaves_the_cache_as_it_was(monkeypatch):
    theta, gate_q, gate_k, drift, tau = (x.detach() for x in given(random_case(1, 2, 3, 8)))
    cache, fresh = KuramotoCache(drift, tau=tau), KuramotoCache(drift, tau=tau)
    for i in range(3):
        token = [x[:, :, i : i + 1] for x in (theta, gate_q, gate_k)]
        with monkeypatch.context() as broken:
            broken.setattr("hw_targets.triton.ops.kuramoto_decode.read", lambda unit, mean: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                cache.append(*token)
        assert torch.equal(cache.append(*token), fresh.append(*token))


@pytest.mark.parametrize(
    ("drift", "tau", "message"),
    [
        (torch.zeros(8), 1.0, r"drift: given \(8,\) torch.float32, expected \(heads, k\)"),
        (torch.zeros(2, 8, dtype=torch.int64), 1.0, r"drift: given \(2, 8\) torch.int64, expected"),
        (torch.full((2, 8), torch.nan), 1.0, r"drift: given NaN or infinity"),
        (0.5, 1.0, r"drift: given 0.5, expected a tensor"),
        (torch.zeros(2, 8), torch.ones(3), r"tau: given \(3,\) torch.float32, expected a number or \(2,\)"),
        (torch.zeros(2, 8), torch.ones(2, dtype=torch.bool), r"tau: given \(2,\) torch.bool, expected"),
        (torch.zeros(2, 8), "hot", r"tau: given 'hot', expected a number"),
        (torch.zeros(2, 8), True, r"tau: given True, expected a number"),
        (torch.zeros(2, 8), torch.inf, r"tau: given NaN or infinity"),
    ],
)
def test_unusable_drift_and_tau_are_refused_at_once(drift, tau, message):
    with pytest.raises(ConfigError, match=message):
        KuramotoCache(drift, tau=tau)
