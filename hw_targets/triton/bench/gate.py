"""No speed without correctness: what is going to be timed is first held against float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from hw_targets.triton.bench import kuramoto_reference, ssa_reference
from hw_targets.triton.bench.contender import BOTH, FORWARD, OURS, Contender
from hw_targets.triton.bench.contenders import ours
from hw_targets.triton.bench.options import BenchOptions, Case
from hw_targets.triton.bench.reference import DRAWS, Expected, Noise, Rounding, root_mean_square, worst
from hw_targets.triton.bench.workload import Workload, build

DENSE_SIZES = (33, 257)
SPARSE_SIZES = (640,)
"""Large enough that most tiles of a window of +-128 tokens are left out."""
BATCH, MOST_HEADS = 2, 3
_SAMPLED_ROWS = 32
# A baseline may be rough (it is not under test), but has to compute the same thing.
BASELINE_TOLERANCE = 0.05


@dataclass(frozen=True)
class Check:
    """One tensor of one case; it holds where no element is further off than it may be."""

    case: str
    n: int
    tensor: str
    error: float
    allowed: float

    @property
    def ok(self) -> bool:
        """Whether it holds."""
        return self.error <= self.allowed

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self) | {"ok": self.ok}

    def __str__(self) -> str:
        return f"{self.case}, N = {self.n}, {self.tensor}: error {self.error:.3g}, allowed {self.allowed:.3g}"


def gate_sizes(case: Case) -> tuple[int, ...]:
    """Sizes the gate runs at; sizes that are measured get sampled rows on top."""
    return SPARSE_SIZES if case.sparse else DENSE_SIZES


def check_case(case: Case, options: BenchOptions, sizes: tuple[int, ...] = ()) -> list[Check]:
    """Forward and every gradient of the op at the run's own precision, dtype, mask and sparsity."""
    checks, options = [], replace(options, heads=min(options.heads, MOST_HEADS))
    for n in sizes or gate_sizes(case):
        load = build(case, n, options, batch=1 if case.sparse else BATCH)
        checks += check_workload(load, ours(load, options), options)
        if load.tiles is not None:
            checks += _same_bits(load, options)
    return checks


def check_workload(load: Workload, contender: Contender, options: BenchOptions) -> list[Check]:
    """Hold one contender against float64: every element, and every tensor's root mean square."""
    rounding = Rounding.of(options)
    exact, *noisy = (
        _expected(load, rounding, noise)
        for noise in (None, *(Noise(rounding, seed) for seed in range(DRAWS)))
    )
    (output,) = contender.run(FORWARD)
    got = {"output": output, **dict(zip(load.learned, contender.run(BOTH), strict=True))}
    checks = []
    for name, tensor in got.items():
        label = name if name == "output" else f"gradient by {name}"
        check = _check(load, label, tensor, exact[name])
        checks.append(check)
        if check.ok:
            pair = root_mean_square(tensor, exact[name], [x[name].value for x in noisy], rounding)
            checks.append(Check(load.case.name, load.n, f"{label}, root mean square", *pair))
    return checks


def _expected(load: Workload, rounding: Rounding, noise: Noise | None) -> dict[str, Expected]:
    reference, causal = _reference(load), load.case.causal
    output = reference.forward(load.learned, causal, rounding, noise=noise)
    return {"output": output, **reference.gradients(load.learned, load.d_output, causal, rounding, noise)}


def _reference(load: Workload) -> ModuleType:
    return ssa_reference if load.case.kind == "ssa" else kuramoto_reference


def check_rows(load: Workload, contender: Contender, options: BenchOptions) -> Check:
    """Hold sampled rows at a measured size against float64; baselines only roughly."""
    draw = torch.Generator().manual_seed(options.seed)
    rows = torch.randperm(load.n, generator=draw)[:_SAMPLED_ROWS].sort().values
    (output,) = contender.run(FORWARD)
    expected = _reference(load).forward(load.learned, load.case.causal, Rounding.of(options), rows)
    if contender.name != OURS:
        value = expected.value
        expected = Expected(value, torch.full_like(value, BASELINE_TOLERANCE * float(value.abs().max())))
    return _check(
        load, f"{contender.name}: output, {len(rows)} rows", output[:, :, rows.to(output.device)], expected
    )


def _same_bits(load: Workload, options: BenchOptions) -> Iterator[Check]:
    """Leaving tiles out changes no bit, forwards or backwards."""
    with_map, without = ours(load, options), ours(load, options, tiles=False)
    for what, names in ((FORWARD, ["output"]), (BOTH, [f"gradient by {name}" for name in load.learned])):
        for name, a, b in zip(names, with_map.run(what), without.run(what), strict=True):
            difference = 0.0 if torch.equal(a, b) else float((a.double() - b.double()).abs().max())
            yield Check(load.case.name, load.n, f"{name}, against all tiles", difference, 0.0)


def _check(load: Workload, name: str, got: Tensor, expected: Expected) -> Check:
    return Check(load.case.name, load.n, name, *worst(got, expected))
