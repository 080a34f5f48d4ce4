"""The physical scale at which a family can represent a layer."""

import numpy as np

from oscsim.circuits.array import oscillator_array
from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.lowering import largest_pull
from oscsim.circuits.validity import rounded_up, safe_strength
from oscsim.phase_reduction.reduction import reduce
from oscsim.spec import PhaseLayerSpec


def fitted(spec: PhaseLayerSpec, design: CircuitDesign) -> PhaseLayerSpec:
    """The layer with the shortest time unit (two digits, rounded up) that the family represents safely.

    Slower layers couple more weakly relative to the carrier: the locking strength stays below the safe share
    of the rate at which amplitudes recover, and frequencies within ``tuning_range``. The layer is the same in
    its own time units.

    >>> from oscsim import FixedOrder, FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0],
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))
    >>> fitted(spec, CircuitDesign(mu=0.1)).time_unit_s
    4.6e-09
    """
    array = oscillator_array(spec, own_clock=design.cell_clock == "own")
    carrier = 2.0 * np.pi * spec.carrier_hz
    needed = largest_pull(array.pull) / (carrier * safe_strength(reduce(design.oscillator())))
    needed = max(needed, float(np.abs(array.detuning).max(initial=0.0)) / (carrier * design.tuning_range))
    if needed == 0.0:
        return spec
    return spec.replace(time_unit_s=rounded_up(needed))
