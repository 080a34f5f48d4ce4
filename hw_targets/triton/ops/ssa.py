"""Selective synchronization attention as one differentiable op."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.block_map import BlockMap
from hw_targets.triton.ops.implementations import choose
from hw_targets.triton.ops.problem import EDGE_SMOOTHING, Edge, Implementation, Precision
from hw_targets.triton.ops.ssa_op import ssa_attention_op
from oscsim.errors import ConfigError

LARGEST_WIDTH = 128


def ssa_attention(
    omega: Tensor,
    values: Tensor,
    *,
    alpha: Tensor | float,
    gain: Tensor | float,
    order_parameter: Tensor | float,
    causal: bool = False,
    precision: Precision = "accurate",
    edge: Edge = "smooth",
    eps: float | None = None,
    padding: Tensor | None = None,
    lengths: Tensor | None = None,
    block_map: BlockMap | None = None,
    dropout: float = 0.0,
    top_k: int | None = None,
    impl: Implementation | None = None,
) -> Tensor:
    """Return the synchronization-weighted mean of the values, exact and in memory O(N).

    y_i = sum_j S_ij V_j / sum_j S_ij,  S_ij = sqrt(relu( J_ij^2 - d_ij^2/(K r_i)^2 )),  J_ij = exp(-alpha d_ij^2),
    d_ij = |omega_i - omega_j|   [SSA] Hays, arXiv 2602.14445 (2026); docs/spec.md section 2

    Gradients reach omega, values, alpha, gain and order_parameter (not twice: no second derivative).

    Parameters
    ----------
    omega : natural frequencies (batch, heads, N, D), rad per time unit, D <= 128. In float64 their differences are
        formed in more than float32, whatever else is.
    values : (batch, heads, N, D_v), D_v <= 128; float32, float16 or bfloat16 (float64: impl="eager").
    alpha : coupling bandwidth >= 0, (heads,) or a number, (time unit)^2 / rad^2.
    gain : global coupling K >= 0, (heads,) or a number, rad per time unit.
    order_parameter : r >= 0: a number, (heads,), (batch, heads), or per row (batch, heads, N), as from
        :func:`prefix_order_parameter`.
    causal : row i attends to j <= i. Its output does not change by a bit when later tokens change.
    precision : how the frequency product is computed. "accurate": float32-class error (1e-5 per condition); "fast":
        one 16-bit product on GPUs, S off by up to 4e-3 per condition; "fp32": IEEE float32, slow, for reference.
    edge : what stands for the slope 1/S, which diverges at the locking edge, in the backward pass: "smooth"
        S/(S^2 + eps^2), "clamp" 1/max(S, eps), "exact" 1/S. Forwards S is always exact.
    eps : in units of S; default 0.03. Not with "exact".
    padding : (batch, N) bool, True = padded: such tokens take no part and their rows are 0.
    lengths : (batch,) instead of padding: token i takes part when i < length.
    block_map : tiles that can lock, from :func:`block_map` of the same frequencies; the result is bitwise the same.
    dropout : share of weights dropped after normalisation, drawn with torch's generator.
    top_k : keep the k largest S of a row (impl="eager" only).
    impl : "triton", "native", "eager", or None for the device's own (CUDA: triton, CPU: native).

    Returns
    -------
    (batch, heads, N, D_v) in the dtype of values.

    Raises
    ------
    ConfigError
        shapes, dtypes or options that do not fit; the message says which.
    TargetUnavailable
        the implementation cannot run here (no compiler, no triton, no GPU).

    >>> omega = torch.tensor([0.0, 0.6, 9.0]).view(1, 1, 3, 1)
    >>> values = torch.eye(3).view(1, 1, 3, 3)
    >>> y = ssa_attention(omega, values, alpha=0.0, gain=1.0, order_parameter=1.0, impl="eager")
    >>> [[round(x, 4) for x in row] for row in y[0, 0].tolist()]
    [[0.5556, 0.4444, 0.0], [0.4444, 0.5556, 0.0], [0.0, 0.0, 1.0]]
    """
    chosen = choose(impl, omega.device)
    _check_shapes(omega, values, chosen)
    _check_options(precision, edge, eps, dropout, top_k, chosen)
    batch, heads, n, _ = omega.shape
    if batch == 0 or heads == 0:
        return torch.zeros_like(values)
    valid = valid_tokens(batch, n, padding, lengths, omega.device)
    if block_map is not None:
        block_map.check(omega, values, causal, precision, chosen)
    return ssa_attention_op(
        omega,
        values,
        _per_head("alpha", alpha, omega),
        _per_head("gain", gain, omega),
        _order(order_parameter, omega),
        valid,
        [] if block_map is None else block_map.tensors(),
        torch.randint(2**31 - 1, (), device=omega.device) if dropout > 0 else None,
        causal,
        precision,
        edge,
        0.0 if edge == "exact" else EDGE_SMOOTHING if eps is None else eps,
        dropout,
        0,
        top_k or 0,
        chosen,
    )[0]


def valid_tokens(
    batch: int, n: int, padding: Tensor | None, lengths: Tensor | None, device: torch.device
) -> Tensor | None:
    """(batch, N) bool of the tokens that take part, or None for all.

    >>> valid_tokens(1, 3, None, torch.tensor([2]), torch.device("cpu")).tolist()
    [[True, True, False]]
    """
    if padding is not None and lengths is not None:
        raise ConfigError("padding and lengths: given both, expected one of them; leave one out")
    if padding is not None:
        if padding.shape != (batch, n) or padding.dtype != torch.bool:
            given = f"{tuple(padding.shape)} {padding.dtype}"
            raise ConfigError(f"padding: given {given}, expected ({batch}, {n}) torch.bool, True = padded")
        return ~padding
    if lengths is None:
        return None
    if lengths.shape != (batch,) or lengths.is_floating_point():
        raise ConfigError(
            f"lengths: given {tuple(lengths.shape)} {lengths.dtype}, expected ({batch},) whole numbers"
        )
    return torch.arange(n, device=device) < lengths.to(device)[:, None]


def _check_shapes(omega: Tensor, values: Tensor, impl: str) -> None:
    if omega.dim() != 4 or values.dim() != 4 or omega.shape[:3] != values.shape[:3] or 0 in omega.shape[2:]:
        raise ConfigError(
            f"given omega {tuple(omega.shape)} and values {tuple(values.shape)}, expected (batch, heads, N, D) and "
            "(batch, heads, N, D_v) with N, D >= 1"
        )
    if not (omega.is_floating_point() and values.is_floating_point()):
        raise ConfigError(f"given omega {omega.dtype} and values {values.dtype}, expected floating point")
    if omega.device != values.device:
        raise ConfigError(f"given omega on {omega.device} and values on {values.device}, expected one device")
    if impl == "eager":
        return
    if values.dtype == torch.float64:
        raise ConfigError(
            f"values: given float64, impl={impl!r} expects float32, float16 or bfloat16; use impl='eager'"
        )
    if max(omega.shape[3], values.shape[3]) > LARGEST_WIDTH:
        raise ConfigError(
            f"given D = {omega.shape[3]} and D_v = {values.shape[3]}, impl={impl!r} expects at most {LARGEST_WIDTH}; "
            "split into more heads or use impl='eager'"
        )


def _check_options(
    precision: str, edge: str, eps: float | None, dropout: float, top_k: int | None, impl: str
) -> None:
    if precision not in ("accurate", "fast", "fp32"):
        raise ConfigError(f"precision: given {precision!r}, expected 'accurate', 'fast' or 'fp32'")
    if edge not in ("smooth", "clamp", "exact"):
        raise ConfigError(f"edge: given {edge!r}, expected 'smooth', 'clamp' or 'exact'")
    if eps is not None and (edge == "exact" or not 0 < eps < 1):
        raise ConfigError(
            f"eps: given {eps} with edge={edge!r}, expected 0 < eps < 1 with 'smooth' or 'clamp'"
        )
    if not 0 <= dropout < 1:
        raise ConfigError(f"dropout: given {dropout}, expected 0 <= dropout < 1")
    if top_k is not None and (impl != "eager" or top_k < 1):
        raise ConfigError(f"top_k: given {top_k} with impl={impl!r}, expected at least 1 with impl='eager'")


def _per_head(name: str, given: Tensor | float, omega: Tensor) -> Tensor:
    tensor, heads = _tensor(given, omega), omega.shape[1]
    if tensor.shape not in ((), (heads,)):
        raise ConfigError(f"{name}: given shape {tuple(tensor.shape)}, expected a number or ({heads},)")
    return tensor.expand(heads)


def _order(given: Tensor | float, omega: Tensor) -> Tensor:
    tensor, (batch, heads, n, _) = _tensor(given, omega), omega.shape
    if tensor.shape == (batch, heads, n) and n > 1:
        return tensor
    if tensor.shape in ((), (heads,)):
        return tensor.expand(batch, heads).unsqueeze(-1)
    if tensor.shape in ((batch, heads), (batch, heads, 1)):
        return tensor.reshape(batch, heads, 1)
    raise ConfigError(
        f"order_parameter: given shape {tuple(tensor.shape)}, expected a number, ({heads},), ({batch}, {heads}) "
        f"or ({batch}, {heads}, {n})"
    )


def _tensor(given: Tensor | float, omega: Tensor) -> Tensor:
    if isinstance(given, Tensor):
        return given.to(omega.device)
    return torch.tensor(
        given, dtype=torch.float64 if omega.dtype == torch.float64 else torch.float32, device=omega.device
    )
