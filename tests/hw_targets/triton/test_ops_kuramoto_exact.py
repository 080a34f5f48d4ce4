"""What Kuramoto attention promises: its identity, masks, long positions, no NaN, the same bits again."""

import math
from fractions import Fraction

import pytest
import torch
from kuramoto_oracle import NAMES, answer, random_case

from hw_targets.triton.ops import kuramoto_attention
from hw_targets.triton.ops.kuramoto_features import drift_angles
from oscsim.tolerance import kuramoto_error

IMPLS = pytest.mark.parametrize("impl", ["eager", "native", "triton"])
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")


def call(leaves: dict[str, torch.Tensor], **options: object) -> torch.Tensor:
    return kuramoto_attention(*(leaves[name] for name in NAMES[:4]), tau=leaves["tau"], **options)


def detached(case, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    return {name: x.detach() for name, x in case.leaves(dtype).items()}


def gradients(leaves: dict[str, torch.Tensor], **options: object) -> list[torch.Tensor]:
    given = {name: x.clone().requires_grad_() for name, x in leaves.items()}
    value = call(given, **options)
    weight = torch.linspace(-1, 1, value.numel()).view(value.shape)
    return [value.detach(), *torch.autograd.grad(value, list(given.values()), weight)]


@IMPLS
@pytest.mark.parametrize("causal", [True, False])
def test_the_increment_is_the_mean_sine_of_phase_differences(impl, causal):
    """Weights from one call per source would need N calls: with tau = 0 they are uniform and known."""
    case = random_case(1, 2, 17, 8, causal=causal)
    leaves = detached(case) | {"tau": torch.zeros(2)}
    theta = leaves["theta"].double()
    sine = torch.sin(theta[..., None, :, :] - theta[..., :, None, :])
    mask = torch.ones(17, 17, dtype=torch.float64)
    mask = mask.tril() if causal else mask
    expected = torch.einsum("tu,bhtuk->bhtk", mask / mask.sum(dim=-1, keepdim=True), sine)
    value = call(leaves, causal=causal, impl=impl)
    assert (value - expected).abs().max() < kuramoto_error(0.0)


@IMPLS
def test_later_tokens_change_no_bit_of_earlier_rows(impl):
    case = random_case(1, 2, 130 if impl != "triton" else 70, 8)
    leaves = detached(case)
    before = call(leaves, impl=impl)
    cut = 40
    changed = dict(leaves)
    for name in ("theta", "gate_q", "gate_k"):
        changed[name] = leaves[name].clone()
        changed[name][:, :, cut:] = 1e3 * leaves[name][:, :, cut:] + 1.0
    after = call(changed, impl=impl)
    assert torch.equal(before[:, :, :cut], after[:, :, :cut])
    assert not torch.equal(before[:, :, cut:], after[:, :, cut:])


@IMPLS
def test_batched_equals_looped(impl):
    leaves = detached(random_case(3, 2, 17, 8))
    together = gradients(leaves, impl=impl)[0]
    alone = [
        call({n: x[i : i + 1] if x.dim() == 4 else x for n, x in leaves.items()}, impl=impl) for i in range(3)
    ]
    assert torch.equal(together, torch.cat(alone))


@IMPLS
@pytest.mark.parametrize("causal", [True, False])
def test_padding_equals_leaving_out_and_may_hold_anything(impl, causal):
    leaves = detached(random_case(2, 2, 20, 8))
    lengths = torch.tensor([13, 0])
    padding = torch.arange(20) >= lengths[:, None]
    holes = dict(leaves)
    for name in ("theta", "gate_q", "gate_k"):
        holes[name] = leaves[name].masked_fill(padding[:, None, :, None], math.nan)
    padded = gradients(holes, causal=causal, padding=padding, impl=impl)
    assert all(torch.equal(x, y) for x, y in zip(
        padded, gradients(holes, causal=causal, lengths=lengths, impl=impl), strict=True
    ))  # fmt: skip
    for x in padded[:4]:
        assert not x[0, :, 13:].any() and not x[1].any()
    short = {n: x[:1, :, :13] if x.dim() == 4 else x for n, x in leaves.items()}
    alone = call(short, causal=causal, impl=impl)
    assert (padded[0][0, :, :13] - alone[0]).abs().max() <= (0 if impl == "native" else 1e-6)
    assert all(x.isfinite().all() for x in padded)


@IMPLS
def test_phases_may_be_unwrapped_by_thousands_of_turns(impl):
    case = random_case(1, 2, 17, 8, spread=1e4)
    value = call(detached(case), impl=impl)
    expected = answer(case, torch.ones(case.theta.shape))
    assert (value - expected.increment).abs().max() < kuramoto_error(expected.score_size)


def test_drift_angles_are_reduced_before_they_are_rounded():
    drift = torch.tensor([[0.7, -3.1, 1e-3]])
    positions = torch.tensor([0, 1, 4097, 65_535, 65_536])
    angles = drift_angles(drift, positions)
    for j, omega in enumerate(drift[0].tolist()):
        for row, t in enumerate(positions.tolist()):
            turns = Fraction(omega) * t / (2 * PI)
            exact = float((turns - round(turns)) * 2 * PI)
            assert abs(angles[0, row, j].item() - exact) < 1e-10, (omega, t)


def test_native_at_position_65536():
    """Only a few tokens take part, at both ends of 65,600 positions."""
    n, few = 65_600, 12
    case = random_case(1, 2, 2 * few, 8)
    where = torch.cat([torch.arange(few), torch.arange(n - few, n)])
    padding = torch.ones(1, n, dtype=torch.bool)
    padding[0, where] = False
    leaves = detached(case)
    wide = dict(leaves)
    for name in ("theta", "gate_q", "gate_k"):
        wide[name] = torch.zeros(1, 2, n, 8).index_copy(2, where, leaves[name])
    wide["drift"] = wide["drift"].clone().requires_grad_()
    value = call(wide, padding=padding, impl="native")
    theta, gate_q, gate_k = (leaves[name][0].double() for name in ("theta", "gate_q", "gate_k"))
    score = torch.zeros(2, 2 * few, 2 * few, dtype=torch.float64)
    for t in range(2 * few):
        turn = leaves["drift"].double()[:, None] * (where[t] - where)[:, None]
        overlap = gate_q[:, t, None] * gate_k * torch.cos(theta[:, t, None] - theta + turn)
        score[:, t] = leaves["tau"].double()[:, None] / math.sqrt(8) * overlap.sum(dim=-1)
    weights = torch.softmax(score.masked_fill(torch.ones(2 * few, 2 * few).triu(1).bool(), -1e300), dim=-1)
    expected = torch.einsum("htu,htuk->htk", weights, torch.sin(theta[:, None] - theta[:, :, None]))
    assert (value[0, :, where] - expected).abs().max() < kuramoto_error(20.0)
    (by_drift,) = torch.autograd.grad(value.sum(), wide["drift"])
    assert by_drift.isfinite().all() and by_drift.abs().max() > 1e3


@IMPLS
def test_the_same_bits_on_every_run_and_for_any_number_of_threads(impl):
    leaves = detached(random_case(2, 2, 65, 8, padded=True))
    threads = torch.get_num_threads()
    first = gradients(leaves, impl=impl)
    try:
        torch.set_num_threads(1 if threads > 1 else 2)
        second = gradients(leaves, impl=impl)
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(x, y) for x, y in zip(first, second, strict=True))


@pytest.mark.parametrize("impl", ["native", "triton"])
@pytest.mark.parametrize("size", [1e-12, 1e6])
def test_gates_and_gradients_of_any_size_stay_finite_and_right(impl, size):
    case = random_case(1, 1, 17, 8)
    leaves = detached(case)
    leaves["gate_k"] = leaves["gate_k"] * size
    leaves["tau"] = leaves["tau"] / size
    given = {name: x.clone().requires_grad_() for name, x in leaves.items()}
    value = call(given, impl=impl)
    plain = {name: x.clone().requires_grad_() for name, x in detached(case).items()}
    expected = call(plain, impl="eager")
    assert (value - expected).abs().max() < kuramoto_error(10.0)
    weight = torch.linspace(-1, 1, value.numel()).view(value.shape) / size
    found = torch.autograd.grad(value, list(given.values()), weight)
    wanted = torch.autograd.grad(expected, list(plain.values()), weight * size)
    for name, x, y in zip(NAMES, found, wanted, strict=True):
        scaled = x * {"gate_k": size**2, "tau": 1.0}.get(name, size)
        assert x.isfinite().all() and (scaled - y).abs().max() <= 2e-5 * max(1.0, y.abs().max()), name


@pytest.mark.parametrize("impl", ["eager", "native", "triton"])
def test_identical_tokens_and_a_zero_gradient_give_zeros_not_nan(impl):
    theta = torch.full((1, 1, 33, 8), 0.3, requires_grad=True)
    gate = torch.zeros(1, 1, 33, 8, requires_grad=True)
    drift = torch.zeros(1, 8, requires_grad=True)
    value = kuramoto_attention(theta, gate, gate, drift, tau=3.0, impl=impl)
    assert value.abs().max() < kuramoto_error(0.0)
    for x in torch.autograd.grad(value, [theta, gate, drift], torch.zeros_like(value)):
        assert not x.any()


def test_no_kernel_leaves_a_number_unwritten(monkeypatch):
    """Fresh memory is poisoned; what comes out is finite all the same."""
    leaves = detached(random_case(1, 2, 35, 13, padded=True))
    expected = gradients(leaves, impl="triton", padding=None)
    plain = torch.Tensor.new_empty, torch.empty_like

    def poisoned(make):
        def fresh(*args, **kwargs):
            made = make(*args, **kwargs)
            return made.fill_(math.nan) if made.is_floating_point() else made

        return fresh

    monkeypatch.setattr(torch.Tensor, "new_empty", poisoned(plain[0]))
    monkeypatch.setattr(torch, "empty_like", poisoned(plain[1]))
    assert all(torch.equal(x, y) for x, y in zip(gradients(leaves, impl="triton"), expected, strict=True))
