"""Triton kernels, float32; only run.py imports this package, once compiled and once interpreted.

Whether ``triton.jit`` compiles or interprets is decided when a function is decorated, so the package is
loaded twice under two names (run.load_kernels). Inside it only relative imports, and only builtins of
triton.language, never its own jit functions (tl.sum, tl.zeros): those were decorated when triton was
first imported, and callee and caller have to agree.
"""

from .clamped import clamped_flow, clamped_readout, frequency_coupling
from .kuramoto_backward import kuramoto_by_query, kuramoto_by_source
from .kuramoto_features import kuramoto_features, kuramoto_pull_back, kuramoto_upstream
from .kuramoto_forward import kuramoto_forward
from .network import network_steps
from .order import order_carry, order_prefix, order_pull, order_sums
from .pair import explicit_pair
from .ssa_backward import ssa_backward_symmetric
from .ssa_backward_careful import ssa_backward_careful
from .ssa_backward_roles import ssa_backward_plain
from .ssa_forward import ssa_forward_plain
from .ssa_forward_careful import ssa_forward_careful
from .ssa_matrix import ssa_matrix
from .ssa_operands import ssa_operands, ssa_pack, ssa_slopes

__all__ = [
    "clamped_flow",
    "clamped_readout",
    "explicit_pair",
    "frequency_coupling",
    "kuramoto_by_query",
    "kuramoto_by_source",
    "kuramoto_features",
    "kuramoto_forward",
    "kuramoto_pull_back",
    "kuramoto_upstream",
    "network_steps",
    "order_carry",
    "order_prefix",
    "order_pull",
    "order_sums",
    "ssa_backward_careful",
    "ssa_backward_plain",
    "ssa_backward_symmetric",
    "ssa_forward_careful",
    "ssa_forward_plain",
    "ssa_matrix",
    "ssa_operands",
    "ssa_pack",
    "ssa_slopes",
]
