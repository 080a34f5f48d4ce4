"""The pair law in eight-bit integers: what a digital accelerator would compute, and how well."""

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.closed_form import lock_radius, lock_ratio, synchronization
from oscsim.coupling import ExplicitCoupling
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import CONDITION_CAP, EDGE_BAND, condition_of_ratio

Array = NDArray[np.float64]

BITS = 8
# Rows per head that are tried: enough to meet the worst cells, few enough for layers of many tokens.
_MOST_ROWS = 256


def int8_error(spec: PhaseLayerSpec, bits: int = BITS) -> float:
    """Largest error of S per unit of condition and of ``max(1, |J|)``, over cells outside the edge band.

    The layer is computed twice, in integers and in float64, in up to 256 rows of each head. From
    ``S = sqrt(J^2 - delta^2)``, ``delta = d/(K r)``, follows ``|dS| <= condition (|dJ| + |d delta|)`` and the
    rounding of S on top, each about half a unit of the last place: some ``2^-bits`` together.
    """
    d = pair_terms.mismatch(spec)
    j = pair_terms.coupling(spec, d)
    a = pair_terms.locking_strength(spec, j)
    ratio = lock_ratio(d, a)
    condition = condition_of_ratio(ratio)
    compared = pair_terms.unmasked(spec) & (np.abs(ratio - 1.0) > EDGE_BAND) & (condition <= CONDITION_CAP)
    exact = synchronization(j, d, a)
    count = spec.n_oscillators
    rows = np.unique(np.linspace(0, count - 1, min(count, _MOST_ROWS)).astype(int))
    worst = 0.0
    for head in range(spec.n_heads):
        for row in rows:
            cell = (head, row, compared[head, row])
            rough = int8_row(spec, j, head, int(row), bits)[compared[head, row]]
            error = np.abs(rough - exact[cell]) / (np.maximum(1.0, np.abs(j[cell])) * condition[cell])
            worst = max(worst, float(error.max(initial=0.0)))
    return worst


def int8_row(spec: PhaseLayerSpec, j: Array, head: int, row: int, bits: int = BITS) -> Array:
    """(N,) one row of S as the integers give it; mask not applied.

    Frequencies are stored in twice the bits. Their differences saturate at a power of two above the lock
    radius, beyond which no cell locks, and are rounded to ``bits``; J (by table from d^2, or stored) and S
    likewise. Tables are indexed by ``bits`` digits of their argument, its exponent apart.
    """
    full = 2.0**bits - 1.0
    explicit = isinstance(spec.coupling, ExplicitCoupling)
    scale = float(np.abs(j[head]).max()) if explicit else 1.0
    strength = float(spec.gain[head] * pair_terms.spec_order_parameter(spec)[head, row]) * scale
    stored = _stored(spec, head, 2 * bits)
    apart = np.abs(stored[row] - stored)
    if not strength > 0.0:
        return np.where(apart.max(axis=1) == 0.0, np.abs(j[head, row]), 0.0)
    # strength is K r (frequency coupling) or K r max|J|: what locks is closer than d* or than that
    law = spec.coupling
    alpha = 0.0 if isinstance(law, ExplicitCoupling) else law.alpha[head]
    widest = float(lock_radius(np.array(alpha), np.array(strength), np.array(1.0)))
    span = 2.0 ** np.ceil(np.log2(widest))
    step = np.minimum(np.round(apart / span * full), full)
    square = np.square(step / full).sum(axis=1) * span**2
    if isinstance(spec.coupling, ExplicitCoupling):
        coupling = np.abs(j[head, row]) / scale
    else:
        coupling = np.exp(-spec.coupling.alpha[head] * _digits(square, bits))
    coupling = np.round(coupling * full) / full
    ratio = _digits(square, bits) * _digits(np.array(strength**-2.0), bits)
    difference = np.maximum(np.square(coupling) - ratio, 0.0)
    return np.round(np.sqrt(_digits(difference, bits)) * full) / full * scale


def _stored(spec: PhaseLayerSpec, head: int, bits: int) -> Array:
    """(N, D) frequencies less the middle of their channel, in steps of the widest channel of the head."""
    used = spec.omega[head][spec.valid]
    low, high = used.min(axis=0), used.max(axis=0)
    step = float((high - low).max()) / (2.0**bits - 1.0)
    centred = spec.omega[head] - (low + high) / 2.0
    return centred if step == 0.0 else np.round(centred / step) * step


def _digits(numbers: Array, bits: int) -> Array:
    """Numbers rounded to so many binary digits, whatever their size."""
    mantissa, exponent = np.frexp(numbers)
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)
