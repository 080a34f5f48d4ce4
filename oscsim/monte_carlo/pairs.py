"""Pair layers on the level of phases: every cell of a chip by the generalised closed form."""

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.circuit import Circuit
from oscsim.monte_carlo.reading import Reading, pulls, transmitted
from oscsim.phase_reduction.locking import PairLaw, locked_phases
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]


def read_pairs(spec: PhaseLayerSpec, circuit: Circuit, sine: bool) -> Reading:
    """Cells of one chip; where the chip has none, or its coupler is off and d > 0, S = 0 and nothing locks.

    Parameters
    ----------
    sine : whether the coupling is an ideal sine, or the family's own function.
    """
    free, start, (couplers, matrix) = circuit.detuning, circuit.array.start, pulls(circuit)
    kappa = couplers[matrix]
    d, into, back, psi_0 = free[:, 0] - free[:, 1], kappa[:, 0, 1], kappa[:, 1, 0], start[:, 0] - start[:, 1]
    locked, cosine = np.asarray(d == 0.0), np.where(d == 0.0, np.cos(psi_0), 0.0)
    on = (into != 0.0) | (back != 0.0)  # without a coupler a cell stays where it is, or rotates for ever
    state = locked_phases(PairLaw(d[on], into[on], back[on], transmitted(circuit, sine)), psi_0[on])
    locked[on], cosine[on] = state.locked, _digitised(state.psi, state.mean_cosine, circuit)
    cell = circuit.array.cell
    exists, coupling = cell >= 0, pair_terms.coupling(spec)
    return Reading(
        sync=np.where(exists, coupling * cosine[cell], 0.0),
        locked=exists & locked[cell],
        weight=built_weight(spec, circuit),
        settled=True,
    )


def built_weight(spec: PhaseLayerSpec, circuit: Circuit) -> Array:
    """(H, N, N) mean pull of the two directions as built, relative to the wanted one; 1 where none is wanted.

    0 where the chip has no cell.
    """
    kappa, pull = circuit.kappa[circuit.matrix], circuit.array.pull[circuit.array.matrix]
    per_natural = circuit.natural_s / spec.time_unit_s
    wanted = pull.sum(axis=(1, 2)) * per_natural / circuit.reduction.coupling.strength
    weight = np.divide(kappa.sum(axis=(1, 2)), wanted, out=np.ones(len(wanted)), where=wanted != 0.0)
    cell = circuit.array.cell
    return np.where(cell >= 0, weight[cell], 0.0)


def _digitised(psi: Array, cosine: Array, circuit: Circuit) -> Array:
    """cos of phases at rest as a read-out of finite resolution sees them; means over beats stay."""
    if circuit.design.readout_bits is None:
        return cosine
    step = 2.0 * np.pi / 2**circuit.design.readout_bits
    return np.where(np.isnan(psi), cosine, np.cos(step * np.rint(psi / step)))
