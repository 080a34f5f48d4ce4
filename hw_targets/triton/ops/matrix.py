"""The synchronization matrix itself, for read-outs: memory grows with N^2 and there is no gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import check_options, check_shapes, per_head, per_row, valid_tokens
from hw_targets.triton.ops.implementations import choose
from hw_targets.triton.ops.problem import Implementation, Precision
from hw_targets.triton.ops.ssa_op import ssa_problem
from oscsim.errors import ConfigError


@torch.no_grad()
def synchronization_matrix(
    omega: Tensor,
    *,
    alpha: Tensor | float,
    gain: Tensor | float,
    order_parameter: Tensor | float,
    causal: bool = False,
    precision: Precision = "accurate",
    padding: Tensor | None = None,
    lengths: Tensor | None = None,
    impl: Implementation = "eager",
) -> Tensor:
    """Return S, the numbers that :func:`ssa_attention` weighs values with, before normalisation.

    S_ij = sqrt(relu( J_ij^2 - d_ij^2/(K r_i)^2 ))   [SSA] Hays, arXiv 2602.14445 (2026)

    Parameters and errors as for :func:`ssa_attention`; ``impl`` is "eager" or "triton", whose numbers come
    from the kernels' own tiles.

    Returns
    -------
    (batch, heads, N, N), 0 where masked.

    >>> omega = torch.tensor([0.0, 0.6]).view(1, 1, 2, 1)
    >>> synchronization_matrix(omega, alpha=0.0, gain=1.0, order_parameter=1.0)[0, 0, 0, 1].item()
    0.800000011920929
    """
    if impl not in ("eager", "triton"):
        raise ConfigError(
            f"impl: given {impl!r}, expected 'eager' or 'triton': no other forms the whole matrix"
        )
    chosen = choose(impl, omega.device)
    check_shapes(omega, omega[..., :1].float(), chosen)
    check_options(precision, "smooth", None, 0.0, None, chosen)
    problem = ssa_problem(
        omega,
        omega[..., :1].to(torch.float32 if impl == "triton" else omega.dtype),
        per_head("alpha", alpha, omega),
        per_head("gain", gain, omega),
        per_row(order_parameter, omega),
        valid=valid_tokens(omega.shape[0], omega.shape[2], padding, lengths, omega.device),
        causal=causal,
        precision=precision,
    )
    if impl == "eager":
        from hw_targets.triton.ops.eager import scores

        return scores(problem).sync
    from hw_targets.triton.ops.fused import synchronization

    return synchronization(problem)
