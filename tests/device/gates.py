"""The gates of the device check: each yields what it compared, with the error and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import ssa_oracle
import torch
from torch import Tensor

from hw_targets import get_target
from hw_targets.triton.bench import gate as bench_gate
from hw_targets.triton.bench.options import CASES, BenchOptions
from hw_targets.triton.ops.kuramoto import kuramoto_attention
from hw_targets.triton.ops.order import prefix_order_parameter
from hw_targets.triton.ops.ssa import ssa_attention
from hw_targets.triton.ops.ssa_op import ssa_attention_op
from hw_targets.triton.ops.tile_map import block_map
from oscsim import compare, solve
from oscsim.tolerance import FLOAT32_EPSILON, SIXTEEN_BIT_OPERAND

PRECISIONS = ("accurate", "fast", "fp32")
# Allowed relative root mean square error: twice that of eager torch at the same precision, plus four times
# what the float64 answer moves by when its inputs are rounded as that precision does, plus this for all other
# rounding of S (tolerance.py: 1e-5 per condition, times some thirty for 1/S in a gradient; 2^-8 when fast).
OUTPUT_FLOOR = {"accurate": 10 * FLOAT32_EPSILON, "fp32": 10 * FLOAT32_EPSILON, "fast": 2.0**-6}
GRADIENT_FLOOR = {"accurate": 300 * FLOAT32_EPSILON, "fp32": 300 * FLOAT32_EPSILON, "fast": 2.0**-3}
NAMES = ("omega", "values", "alpha", "gain", "order_parameter")


@dataclass(frozen=True)
class Place:
    """Where the gates run: the GPU, or at tiny sizes the interpreter."""

    device: str
    sizes: tuple[int, ...]
    long: int

    @property
    def precisions(self) -> tuple[str, ...]:
        """All three on a GPU; the interpreter does the same arithmetic in each."""
        return PRECISIONS[:1] if self.dry else PRECISIONS

    def random_case(self, *shape: int, **options: Any) -> ssa_oracle.Case:
        """A case of the oracle; one sequence is enough for the interpreter."""
        return ssa_oracle.random_case(*shape, batch=1 if self.dry else 2, **options)

    @property
    def dry(self) -> bool:
        """Whether this is the interpreter."""
        return self.device == "cpu"


Finding = tuple[str, float, float]


def ssa_cases(place: Place) -> Iterator[tuple[str, ssa_oracle.Case]]:
    """Masks, rows, padding, odd sizes, clusters, ramps, the edge."""
    make = place.random_case
    for n in place.sizes:
        for causal in (False, True):
            yield f"N = {n}{', causal' if causal else ''}", make(n, 16, 16, causal=causal, seed=n)
        yield f"N = {n}, causal, r per row", make(n, 16, 16, causal=True, rows=True, seed=n)
    n = place.sizes[-1]
    base = make(n, 16, 16, seed=1)
    steps = torch.arange(n, dtype=torch.float64)
    yield "padding", replace(base, valid=torch.stack([steps % 7 != 3, steps < n - 5])[: len(base.omega)])
    cluster = torch.where(steps % 2 == 0, 100.0, -100.0)[:, None]
    yield "clusters at ±100", replace(base, omega=0.02 / 0.1 * base.omega * 0.1 + cluster)
    ramp = torch.zeros_like(base.omega)
    ramp[..., 0] = 0.01 * (steps + 65536 - n)
    yield "ramp up to 65,536", replace(base, omega=base.omega + ramp)
    yield "common offset 1e6", replace(base, omega=base.omega + 1e6)
    near = torch.zeros_like(base.omega)
    near[..., 0] = 0.2 * (steps % 5)
    yield "lattice of near-edge pairs", replace(base, omega=near + 1e-3 * base.omega)


def synchronization(place: Place) -> Iterator[Finding]:
    """Output against the oracle, gradients against the float64 twin, in three precisions."""
    for name, case in ssa_cases(place):
        kind = torch.float32 if "1e6" not in name and "ramp" not in name else torch.float64
        given = case.rounded(kind)
        truth = _run(_arguments(given, torch.float64, "cpu"), "eager")
        oracle = ssa_oracle.attention(given)
        yield f"{name}: twin against oracle", _relative(truth["output"], oracle), 1e-9
        for precision in place.precisions:
            twin = _run(_arguments(given, kind, place.device), "eager", precision=precision)
            got = _run(_arguments(given, kind, place.device), "triton", precision=precision)
            moved = _run(_arguments(_rounded(given, precision), torch.float64, "cpu"), "eager")
            for part, value in truth.items():
                floor = OUTPUT_FLOOR if part == "output" else GRADIENT_FLOOR
                allowed = 2 * _relative(twin[part], value) + 4 * _relative(moved[part], value)
                allowed += floor[precision]
                yield f"{name}, {precision}: {part}", _relative(got[part], value), allowed


def exactness(place: Place) -> Iterator[Finding]:
    """Same bits twice, from all tiles or a map's, whatever later tokens are; dropout as the twin."""
    n = place.long
    case = place.random_case(n, 16, 16, causal=True, rows=True).rounded(torch.float32)
    given = _arguments(case, torch.float32, place.device)
    first, second = (_run(given, "triton") for _ in range(2))
    yield "two runs", _different(first, second), 0.0
    changed = replace(case, omega=case.omega.clone(), values=case.values.clone())
    changed.omega[:, :, n // 2 :] += 0.5
    changed.values[:, :, n // 2 :] *= -3.0
    other = _run(_arguments(changed, torch.float32, place.device), "triton")["output"]
    same = torch.equal(first["output"][:, :, : n // 2], other[:, :, : n // 2])
    yield "later tokens change earlier rows", float(not same), 0.0
    ramp = replace(case, omega=case.omega.clone(), causal=False)
    ramp.omega[..., 0] += torch.arange(n) / 8.0
    given = _arguments(ramp, torch.float32, place.device)
    dense = _run(given, "triton")
    keys = ("alpha", "gain", "order_parameter", "causal")
    tiles = block_map(given["omega"], **{key: given[key] for key in keys}, impl="triton")
    yield (
        f"map of {tiles.active_share:.0%} of the tiles",
        _different(dense, _run(given, "triton", block_map=tiles)),
        0.0,
    )
    outputs = []
    for impl in ("eager", "triton"):
        torch.manual_seed(5)
        outputs.append(_run(given, impl, dropout=0.3))
    for part in outputs[0]:
        error = _relative(outputs[1][part], outputs[0][part].double())
        yield f"dropout, {part}", error, GRADIENT_FLOOR["accurate"]


def extremes(place: Place) -> Iterator[Finding]:
    """No NaN and no infinity, forwards or backwards."""
    n, shape = place.sizes[-1], (1, 2, place.sizes[-1], 16)
    draw = torch.Generator().manual_seed(0)
    base = torch.randn(shape, generator=draw)
    kinds = {
        "identical tokens": (torch.ones(shape), 1.0), "nothing locked": (1e3 * base, 1.0),
        "everything locked": (1e-3 * base, 1.0), "K r = 0": (base, 0.0),
        "pairs exactly at the edge": (torch.arange(n).float()[:, None].expand(shape) / 4.0, 1.0),
    }  # fmt: skip
    for name, (omega, gain) in kinds.items():
        for precision in place.precisions:
            given = {
                "omega": omega.to(place.device).contiguous().requires_grad_(),
                "values": base.to(place.device).requires_grad_(),
                **{key: torch.full((2,), x, device=place.device, requires_grad=True)
                   for key, x in (("alpha", 0.0), ("gain", gain), ("order_parameter", 1.0))},
            }  # fmt: skip
            parts = _run(given, "triton", precision=precision)
            bad = [part for part, x in parts.items() if not x.isfinite().all()]
            yield f"{name}, {precision}: {', '.join(bad) or 'all finite'}", float(len(bad)), 0.0


def kuramoto(place: Place) -> Iterator[Finding]:
    """Every precision and, on a GPU, 16-bit phases, against float64."""
    for dtype in ("float32",) if place.dry else ("float32", "bfloat16"):
        for precision in place.precisions:
            options = BenchOptions(
                impl="triton", device=place.device, precision=precision, dtype=dtype, heads=2, channels=16
            )
            for check in bench_gate.check_case(CASES["kuramoto"], options, place.sizes[-1:]):
                yield f"{dtype}, {precision}: {check.tensor}, N = {check.n}", check.error, check.allowed
    theta = torch.randn(2, 2, place.sizes[-1], 16, generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([place.sizes[-1], 5])
    rest = {"tau": 0.8, "causal": False}
    drift = torch.linspace(0, 0.1, 32).view(2, 16)
    both = []
    for kind, device, impl in ((torch.float64, "cpu", "eager"), (torch.float32, place.device, "triton")):
        at = theta.to(device, kind)
        a = kuramoto_attention(
            at, at.cos(), at.sin(), drift.to(device, kind), lengths=lengths.to(device), impl=impl, **rest
        )
        both.append(a)
    yield "full mask, lengths", _relative(both[1], both[0]), OUTPUT_FLOOR["accurate"]


def order(place: Place) -> Iterator[Finding]:
    """Prefix order parameter and its gradient."""
    theta = torch.randn(2, 2, place.long, 16, generator=torch.Generator().manual_seed(2))
    found = []
    for kind, device, impl in ((torch.float64, "cpu", "eager"), (torch.float32, place.device, "triton")):
        at = theta.to(device, kind).requires_grad_()
        r = prefix_order_parameter(at, impl=impl)
        found.append((r, *torch.autograd.grad(r.sum(), at)))
    for name, expected, got in zip(("r", "gradient"), *found, strict=True):
        yield name, _relative(got, expected), OUTPUT_FLOOR["accurate"]


def target(place: Place) -> Iterator[Finding]:
    """The target `triton` on layers of the frozen exam."""
    from frozen_specs import COUNT, frozen_spec

    for index in range(0, COUNT, 100 if place.dry else 10):
        spec, chosen = frozen_spec(index), get_target("triton")
        result = chosen.lower(spec, chosen.config(device=place.device)).run()
        comparison = compare(result, solve(spec))
        yield f"layer {index}: {comparison.status}", float(not comparison.conforms), 0.0


def registration(place: Place) -> Iterator[Finding]:
    """opcheck and torch.compile without a graph break."""
    case = place.random_case(place.sizes[-1], 16, 16, causal=True, rows=True)
    given = _arguments(case, torch.float32, place.device)
    tensors = [given[name] for name in NAMES]
    plain = (None, [], None, True, "accurate", "smooth", 0.03, 0.0, 0, 0, "triton")
    torch.library.opcheck(ssa_attention_op, (*tensors, *plain))
    yield "opcheck", 0.0, 0.0

    def loss(omega: Tensor) -> Tensor:
        rest = {key: x.detach() for key, x in given.items() if key not in ("omega", "causal")}
        return ssa_attention(omega * 1.0, **rest, causal=True, impl="triton").square().sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager" if place.dry else "inductor")
    grads = []
    for function in (loss, compiled):
        leaf = given["omega"].detach().clone().requires_grad_()
        grads.append(torch.autograd.grad(function(leaf), leaf)[0])
    yield "torch.compile, gradient", _relative(grads[1], grads[0].double()), FLOAT32_EPSILON


GATES: dict[str, Callable[[Place], Iterator[Finding]]] = {
    gate.__name__: gate
    for gate in (synchronization, exactness, extremes, kuramoto, order, target, registration)
}


def _arguments(case: ssa_oracle.Case, kind: torch.dtype, device: str) -> dict[str, Any]:
    """Leaves on the device; only frequencies stay in float64 where ``kind`` is and the values are not."""
    given = case.arguments(kind)
    low = torch.float32 if device == "cuda" or kind == torch.float32 else kind
    for name, x in given.items():
        if isinstance(x, Tensor):
            placed = x.detach().to(device)
            given[name] = placed.to(low).requires_grad_() if name == "values" else placed
            if x.requires_grad:
                given[name].requires_grad_()
    return given


def _rounded(case: ssa_oracle.Case, precision: str) -> ssa_oracle.Case:
    """Inputs as rounding moves them.

    Frequencies relative to the centre of their head, but to no more than about a lock radius (beyond it,
    kernels take differences); values relative to themselves.
    """
    size = SIXTEEN_BIT_OPERAND if precision == "fast" else FLOAT32_EPSILON
    draw = torch.Generator().manual_seed(3)
    centred = case.omega - case.omega.mean(dim=-2, keepdim=True)
    noise, more = (
        2 * torch.rand(x.shape, generator=draw, dtype=torch.float64) - 1 for x in (case.omega, case.values)
    )
    omega = case.omega + size * noise * centred.clamp(-1.0, 1.0)
    return replace(case, omega=omega, values=case.values * (1 + size * more))


def _run(given: dict[str, Any], impl: str, **options: Any) -> dict[str, Tensor]:
    """Output and gradients of a fixed loss."""
    values = given["values"]
    if impl == "triton" and values.dtype == torch.float64:
        given = given | {"values": values.detach().float().requires_grad_()}
    output = ssa_attention(**given, impl=impl, **options)
    draw = torch.Generator().manual_seed(9)
    d_output = torch.randn(output.shape, generator=draw, dtype=torch.float64).to(output.device, output.dtype)
    grads = torch.autograd.grad(output, [given[name] for name in NAMES], d_output)
    return {"output": output.detach(), **dict(zip(NAMES, grads, strict=True))}


def _relative(got: Tensor, expected: Tensor) -> float:
    """Root mean square error over the expected root mean square; infinite where something is not finite."""
    got, expected = got.detach().double().cpu(), expected.detach().double().cpu()
    if got.shape != expected.shape or not got.isfinite().all():
        return float("inf")
    size = expected.square().mean().sqrt().clamp(min=1e-3)  # everything is of order one, or zero
    return float((got - expected).square().mean().sqrt() / size)


def _different(a: dict[str, Tensor], b: dict[str, Tensor]) -> float:
    """How many tensors are not the same bits."""
    return float(sum(not torch.equal(a[name], b[name]) for name in a))
