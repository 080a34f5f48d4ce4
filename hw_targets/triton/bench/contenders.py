"""Who takes part in a measurement, and in what order."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from hw_targets.triton.bench import baselines, memory_limit
from hw_targets.triton.bench.contender import DENSE, FLEX, OURS, SDPA, SDPA_LOW, Contender
from hw_targets.triton.bench.options import BenchOptions
from hw_targets.triton.bench.workload import Workload
from hw_targets.triton.ops.kuramoto import kuramoto_attention
from hw_targets.triton.ops.ssa import ssa_attention

# Softmax attention over more tokens than this takes minutes per pass on a CPU.
LARGEST_SDPA_ON_CPU = 16_384


def names(load: Workload, options: BenchOptions) -> tuple[list[str], list[str]]:
    """Contenders of a workload, ours first, and a note for each one that is left out."""
    chosen, notes = [OURS], []
    if options.device == "cuda" or load.n <= LARGEST_SDPA_ON_CPU:
        chosen.append(SDPA)
        if options.dtype != "float32":
            chosen.append(SDPA_LOW.format(dtype=options.dtype))
    else:
        notes.append(f"SDPA: not measured above N = {LARGEST_SDPA_ON_CPU} on a CPU")
    if load.case.kind == "kuramoto" or load.case.sparse:
        return chosen, notes
    if options.flex:
        chosen.append(FLEX)
    else:
        notes.append(f"{FLEX}: not measured (--flex does; compiling it takes about half a minute per size)")
    if load.case.causal or not options.dense:
        return chosen, notes
    needed = baselines.dense_bytes(load)
    free = memory_limit.available(options.device)
    if needed > 0.7 * free:
        notes.append(
            f"{DENSE}: not measured at N = {load.n}: needs about {needed / 2**30:.0f} GiB, "
            f"{free / 2**30:.0f} GiB are free"
        )
    else:
        chosen.append(DENSE)
    return chosen, notes


def contender(name: str, load: Workload, options: BenchOptions) -> Contender:
    """Build one by name."""
    if name == OURS:
        return ours(load, options)
    if name == FLEX:
        return baselines.flex(load, options.device)
    if name == DENSE:
        return baselines.dense(load)
    dtype = torch.float32 if name == SDPA else getattr(torch, options.dtype)
    return _phase_vectors(load, name, dtype) if load.case.kind == "kuramoto" else _softmax(load, name, dtype)


def ours(load: Workload, options: BenchOptions, tiles: bool = True) -> Contender:
    """The op under test; ``tiles`` False leaves a block map out."""
    given, causal = load.learned, load.case.causal
    shared = {"impl": options.implementation, "precision": options.precision, "causal": causal}
    if load.case.kind == "kuramoto":

        def call() -> Tensor:
            return kuramoto_attention(**given, **shared)
    else:

        def call() -> Tensor:
            return ssa_attention(**given, **shared, block_map=load.tiles if tiles else None)

    return Contender(OURS, call, list(given.values()), load.d_output, within=_engine(options))


def _engine(options: BenchOptions) -> Callable[[], AbstractContextManager[object]]:
    if options.engine is None:
        return nullcontext
    from hw_targets.triton.ops import native_ssa

    return partial(native_ssa.using, options.engine)


def _softmax(load: Workload, name: str, dtype: torch.dtype) -> Contender:
    """Attention of the same shape; its cost does not depend on the numbers."""
    draw = torch.Generator().manual_seed(1)
    shape, device = load.d_output.shape, load.d_output.device
    query, key, value = (
        torch.randn(shape, generator=draw).to(device, dtype).requires_grad_(True) for _ in range(3)
    )

    def call() -> Tensor:
        return scaled_dot_product_attention(query, key, value, is_causal=load.case.causal)

    return Contender(name, call, (query, key, value), load.d_output.to(dtype), comparable=False)


def _phase_vectors(load: Workload, name: str, dtype: torch.dtype) -> Contender:
    """Kuramoto attention by SDPA on its vectors of width 2 k, with the trigonometry in eager torch."""
    given = {key: x.detach().to(dtype).requires_grad_(True) for key, x in load.learned.items()}
    position = torch.arange(load.n, device=load.d_output.device, dtype=torch.float32)[:, None]

    def call() -> Tensor:
        theta = given["theta"]
        cosine, sine = theta.cos(), theta.sin()
        phase = (theta.float() + given["drift"].float()[:, None] * position).to(dtype)
        turned = torch.cat((phase.cos(), phase.sin()), dim=-1)
        scale = given["tau"][:, None, None] / math.sqrt(theta.shape[-1])
        query = (given["gate_q"] * scale).repeat(1, 1, 1, 2) * turned
        key = given["gate_k"].repeat(1, 1, 1, 2) * turned
        value = torch.cat((cosine, sine), dim=-1)
        mean = scaled_dot_product_attention(query, key, value, is_causal=load.case.causal, scale=1.0)
        real, imaginary = mean.chunk(2, dim=-1)
        return cosine * imaginary - sine * real

    return Contender(name, call, list(given.values()), load.d_output.to(dtype))
