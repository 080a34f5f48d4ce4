"""Which implementation computes an op: explicit, or by the device of the input; never a silent fallback."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import torch

from oscsim.errors import ConfigError

NAMES = ("triton", "native", "eager")


def choose(impl: str | None, device: torch.device) -> str:
    """Return the implementation's name: the one asked for, else "triton" on CUDA and "native" on the CPU.

    Raises
    ------
    ConfigError
        an unknown name, or one that cannot run on the device of the input.

    >>> choose(None, torch.device("cpu"))
    'native'
    """
    if impl is None:
        if device.type not in ("cuda", "cpu"):
            raise ConfigError(
                f"impl: given tensors on {device.type!r}, expected 'cuda' or 'cpu'; use impl='eager'"
            )
        return "triton" if device.type == "cuda" else "native"
    if impl not in NAMES:
        raise ConfigError(
            f"impl: given {impl!r}, expected one of {', '.join(NAMES)}, or None for the device's own"
        )
    if impl == "native" and device.type != "cpu":
        raise ConfigError(
            f"impl: given 'native' with tensors on {device.type!r}, expected 'cpu'; use impl='triton'"
        )
    return impl


_MODULES = {
    "ssa": {"triton": "fused", "native": "native_ssa", "eager": "eager"},
    "order": {"triton": "order_fused", "native": "order_native", "eager": "order_eager"},
    "kuramoto": {"triton": "kuramoto_fused", "native": "kuramoto_native", "eager": "kuramoto_eager"},
}


def implementation(op: str, impl: str) -> ModuleType:
    """The module with ``forward`` and ``backward`` of an op; compiled code is loaded here and not before.

    >>> implementation("ssa", "eager").__name__
    'hw_targets.triton.ops.eager'
    """
    return import_module(f"hw_targets.triton.ops.{_MODULES[op][impl]}")
