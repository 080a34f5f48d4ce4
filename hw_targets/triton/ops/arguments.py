"""What the attention ops accept: shapes, options and their clear refusal."""

from __future__ import annotations

import torch
from torch import Tensor

from oscsim.errors import ConfigError

LARGEST_WIDTH = 128

# its square has to be a float32 number
SMALLEST_EPS = 1e-9


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


def check_shapes(omega: Tensor, values: Tensor, impl: str) -> None:
    """ConfigError unless frequencies and values belong together and ``impl`` can compute them."""
    if omega.dim() != 4 or values.dim() != 4 or omega.shape[:3] != values.shape[:3] or 0 in omega.shape[2:]:
        raise ConfigError(
            f"given omega {tuple(omega.shape)} and values {tuple(values.shape)}, expected "
            "(batch, heads, N, D) and (batch, heads, N, D_v) with N, D, D_v >= 1"
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
            f"given D = {omega.shape[3]} and D_v = {values.shape[3]}, impl={impl!r} expects at most "
            f"{LARGEST_WIDTH}; split into more heads or use impl='eager'"
        )


def check_options(
    precision: str, edge: str, eps: float | None, dropout: float, top_k: int | None, impl: str
) -> None:
    """ConfigError naming the first option that is unknown or does not fit the others."""
    if precision not in ("accurate", "fast", "fp32"):
        raise ConfigError(f"precision: given {precision!r}, expected 'accurate', 'fast' or 'fp32'")
    if edge not in ("smooth", "clamp", "exact"):
        raise ConfigError(f"edge: given {edge!r}, expected 'smooth', 'clamp' or 'exact'")
    if eps is not None and (edge == "exact" or not SMALLEST_EPS <= eps < 1):
        raise ConfigError(
            f"eps: given {eps} with edge={edge!r}, expected {SMALLEST_EPS:g} <= eps < 1, not with 'exact'"
        )
    if not 0 <= dropout < 1:
        raise ConfigError(f"dropout: given {dropout}, expected 0 <= dropout < 1")
    if top_k is not None and (impl != "eager" or top_k < 1):
        raise ConfigError(f"top_k: given {top_k} with impl={impl!r}, expected at least 1 with impl='eager'")


def per_head(name: str, given: Tensor | float, omega: Tensor) -> Tensor:
    """Alpha or gain as (heads,)."""
    tensor, heads = _tensor(given, omega), omega.shape[1]
    if tensor.shape not in ((), (heads,)):
        raise ConfigError(f"{name}: given shape {tuple(tensor.shape)}, expected a number or ({heads},)")
    return tensor.expand(heads)


def per_row(given: Tensor | float, omega: Tensor) -> Tensor:
    """The order parameter as (batch, heads, 1), or (batch, heads, N) where it differs between rows."""
    tensor, (batch, heads, n, _) = _tensor(given, omega), omega.shape
    if tensor.shape == (batch, heads, n) and n > 1:
        return tensor
    if tensor.shape in ((), (heads,)):
        return tensor.expand(batch, heads).unsqueeze(-1)
    if tensor.shape in ((batch, heads), (batch, heads, 1)):
        return tensor.reshape(batch, heads, 1)
    raise ConfigError(
        f"order_parameter: given shape {tuple(tensor.shape)}, expected a number, ({heads},), "
        f"({batch}, {heads}) or ({batch}, {heads}, {n})"
    )


def _tensor(given: Tensor | float, omega: Tensor) -> Tensor:
    if isinstance(given, Tensor):
        return given.to(omega.device)
    return torch.tensor(
        given, dtype=torch.float64 if omega.dtype == torch.float64 else torch.float32, device=omega.device
    )
