"""The ingredients of every dynamics: mismatch, coupling, locking strength, mask (docs/spec.md section 2).

Shared by the reference and by lowering. Nothing here solves anything: these are the numbers a spec
already contains, written out per pair.
"""

import numpy as np
from numpy.typing import NDArray

from oscsim.coupling import ExplicitCoupling, FixedOrder
from oscsim.phase import order_parameter
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def unmasked(spec: PhaseLayerSpec) -> Mask:
    """(N, N) bool: True where source j may drive target i."""
    valid = spec.valid
    allowed = valid[:, None] & valid[None, :]
    if spec.mask == "causal":
        allowed &= np.tri(spec.n_oscillators, dtype=bool)
    return allowed


def mismatch(spec: PhaseLayerSpec) -> Array:
    """(H, N, N) frequency mismatch ``d_ij = ||omega_i - omega_j||``, rad / time unit.

    Differences are formed before squaring, so clusters and offsets do not cancel; dividing by the
    largest channel first keeps the square of a tiny difference from underflowing.
    """
    heads, count, _ = spec.omega.shape
    d = np.empty((heads, count, count))
    for h in range(heads):
        for i in range(count):
            delta = np.abs(spec.omega[h, i] - spec.omega[h])
            scale = delta.max(axis=-1)
            safe = np.where(scale > 0, scale, 1.0)
            d[h, i] = scale * np.sqrt(np.square(delta / safe[:, None]).sum(axis=-1))
    return d


def coupling(spec: PhaseLayerSpec, d: Array | None = None) -> Array:
    """(H, N, N) coupling ``J_ij = exp(-alpha d_ij^2)``, or the explicit matrix; mask not applied."""
    if isinstance(spec.coupling, ExplicitCoupling):
        return spec.coupling.matrix
    d = mismatch(spec) if d is None else d
    # sqrt first: alpha = 0 with a huge d must give 1, and alpha d^2 may overflow only to +inf
    root = np.sqrt(spec.coupling.alpha)[:, None, None] * d
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-np.square(root))


def spec_order_parameter(spec: PhaseLayerSpec) -> Array:
    """(H, N) order parameter r_i that the spec prescribes; 0 on padded rows."""
    if isinstance(spec.order_parameter, FixedOrder):
        r = spec.order_parameter.r
        r = np.broadcast_to(r[:, None] if r.ndim == 1 else r, (spec.n_heads, spec.n_oscillators))
        return np.where(spec.valid[None, :], r, 0.0)
    return order_parameter(spec.theta, spec.valid, spec.mask == "causal")


def locking_strength(spec: PhaseLayerSpec, j: Array) -> Array:
    """(H, N, N) locking strength ``a_ij = K r_i J_ij``, rad / time unit."""
    return (spec.gain[:, None] * spec_order_parameter(spec))[:, :, None] * j


def initial_difference(spec: PhaseLayerSpec, d: Array, j: Array) -> Array:
    """(H, N, N) initial phase differences of the pair cells: psi_0, or 0 (pi where J < 0).

    A cell without mismatch and without drive (d = a = 0) never moves; it counts as locked with S = |J|
    (docs/spec.md section 2), so it starts at 0 whatever psi_0 says.
    """
    if spec.psi_0 is None:
        return np.where(j < 0, np.pi, 0.0)
    return np.where((d == 0) & (locking_strength(spec, j) == 0), 0.0, spec.psi_0)


def initial_phase(spec: PhaseLayerSpec) -> Array:
    """(H, N, D) phases at which the free oscillators of a clamped layer start: phase_0, or theta."""
    return spec.theta if spec.phase_0 is None else spec.phase_0


def free_rate(spec: PhaseLayerSpec) -> Array:
    """(H, N, D) signed rate rho of the free oscillators: the spec's or 1; padded ones stand still."""
    rate = np.ones_like(spec.theta) if spec.rate is None else spec.rate
    return np.where(spec.valid[None, :, None], rate, 0.0)


def held_phasor(spec: PhaseLayerSpec, j: Array) -> NDArray[np.complex128]:
    """(H, N, D) drive of the held sources, ``G_i = sum_j C_ij exp(i theta_j)``, C = mask K J."""
    weights = np.where(unmasked(spec), spec.gain[:, None, None] * j, 0.0)
    return weights @ np.exp(1j * spec.theta)


def network_matrix(spec: PhaseLayerSpec, j: Array) -> Array:
    """(H, N, N) coupling of the network, ``K J_ij / n_i`` with n_i the number of unmasked sources.

    n_i = N (full) or i + 1 (causal), padding not counted, so a row never depends on later tokens.
    """
    allowed = unmasked(spec)
    count = np.maximum(allowed.sum(axis=1), 1)[None, :, None]
    return np.where(allowed, spec.gain[:, None, None] * j, 0.0) / count
