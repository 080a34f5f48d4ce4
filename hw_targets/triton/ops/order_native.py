"""Prefix order parameter in C++: one pass over the tokens of a head, sums in float64 (native/order.cpp)."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from hw_targets.triton.ops.native.build import library
from oscsim.errors import TargetRunError


def forward(theta: Tensor, valid: Tensor | None) -> Tensor:
    """r_i, (B, H, N) in the dtype of theta, float32 or float64."""
    order = torch.empty(theta.shape[:-1], dtype=theta.dtype)
    _call(theta, valid, order, None, None)
    return order


def backward(theta: Tensor, valid: Tensor | None, d_order: Tensor) -> Tensor:
    """Gradient by theta."""
    grad = torch.empty_like(theta)
    _call(theta, valid, None, d_order, grad)
    return grad


def _call(
    theta: Tensor, valid: Tensor | None, order: Tensor | None, d_order: Tensor | None, grad: Tensor | None
) -> None:
    batch, heads, n, channels = theta.shape
    bytes_valid = None if valid is None else valid.to(torch.uint8).contiguous()
    sizes = (batch * heads, heads, n, channels, torch.get_num_threads())
    failed = library().oscsim_prefix_order(
        _pointer(theta),
        ctypes.c_int64(theta.dtype == torch.float64),
        _pointer(bytes_valid),
        *(ctypes.c_int64(size) for size in sizes),
        *(_pointer(x) for x in (order, d_order, grad)),
    )
    if failed:
        raise TargetRunError(
            f"prefix_order_parameter: given theta {tuple(theta.shape)}, out of memory; use shorter sequences"
        )


def _pointer(tensor: Tensor | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())
