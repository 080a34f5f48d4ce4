"""Networks on the level of phases: the phase model of many chips side by side."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.circuit import Circuit
from oscsim.monte_carlo.reading import Reading, pulls, transmitted
from oscsim.phase_reduction.phase_model import PhaseModel, settled_network
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import LOCK_THRESHOLD, REGIME_CAP

Array = NDArray[np.float64]
# Times in units of 1/(largest pull on an oscillator): relaxation, then averaging of what still drifts.
_SETTLE, _WINDOW = 60.0, 300.0


def read_networks(spec: PhaseLayerSpec, circuits: Sequence[Circuit], sine: bool) -> list[Reading]:
    """Chips of one network layer, integrated together.

    Settled are chips whose averages are known to REGIME_CAP; the others count, and are counted.

    Parameters
    ----------
    sine : whether the coupling is an ideal sine, or the family's own function.
    """
    first, couplers = circuits[0], [pulls(circuit) for circuit in circuits]
    offsets = np.cumsum([0, *(len(kappa) for kappa, _ in couplers)])
    model = PhaseModel(
        transmitted(first, sine),
        np.concatenate([circuit.detuning for circuit in circuits]),
        np.concatenate([kappa for kappa, _ in couplers]),
        np.concatenate([matrix + offset for (_, matrix), offset in zip(couplers, offsets, strict=False)]),
    )
    pull = np.abs(model.kappa).sum(axis=2).max(initial=0.0) * model.coupling.strength
    unit = 1.0 / max(pull, 1e-300)
    start = np.tile(first.array.start, (len(circuits), 1))
    state = settled_network(model, start, _SETTLE * unit, _WINDOW * unit)
    chips = np.split(np.arange(len(start)), len(circuits))
    return [_reading(spec, first, state.mean[rows], state.error[rows]) for rows in chips]


def _reading(spec: PhaseLayerSpec, circuit: Circuit, mean: NDArray[np.complex128], error: Array) -> Reading:
    """One chip, from means (B, n, n) of ``exp(i(theta_i - theta_j))`` over its valid tokens."""
    heads, count, tokens = spec.n_heads, spec.n_oscillators, np.flatnonzero(spec.valid)
    by_channel = mean[circuit.array.cell]  # (H, D, n, n)
    cosine, locked = np.zeros((heads, count, count)), np.zeros((heads, count, count), dtype=bool)
    cosine[:, tokens[:, None], tokens] = _digitised(by_channel, circuit).mean(axis=1)
    locked[:, tokens[:, None], tokens] = (np.abs(by_channel) >= LOCK_THRESHOLD).all(axis=1)
    allowed = pair_terms.unmasked(spec)
    return Reading(
        sync=np.where(allowed, pair_terms.coupling(spec) * cosine, 0.0),
        locked=locked & allowed,
        weight=None,
        settled=bool((error <= REGIME_CAP).all()),
    )


def _digitised(mean: NDArray[np.complex128], circuit: Circuit) -> Array:
    """Real part of means; of phases at rest as a read-out of finite resolution sees them."""
    if circuit.design.readout_bits is None:
        return mean.real
    step = 2.0 * np.pi / 2**circuit.design.readout_bits
    seen = np.cos(step * np.rint(np.angle(mean) / step))
    return np.where(np.abs(mean) >= LOCK_THRESHOLD, seen, mean.real)
