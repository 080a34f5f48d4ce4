"""Triton kernels, float32; only run.py imports this package, once compiled and once interpreted.

Whether ``triton.jit`` compiles or interprets is decided when a function is decorated, so the package is
loaded twice under two names (run.load_kernels). Inside it only relative imports, and only builtins of
triton.language, never its own jit functions (tl.sum, tl.zeros): those were decorated when triton was
first imported, and callee and caller have to agree.
"""

from .clamped import clamped_flow, clamped_readout, frequency_coupling
from .network import network_steps
from .order import order_prefix, order_pull, order_sums
from .pair import ssa_forward

__all__ = [
    "clamped_flow",
    "clamped_readout",
    "frequency_coupling",
    "network_steps",
    "order_prefix",
    "order_pull",
    "order_sums",
    "ssa_forward",
]
