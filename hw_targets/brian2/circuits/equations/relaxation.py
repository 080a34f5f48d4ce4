"""Relaxation oscillator: a capacitor between two thresholds of a smooth comparator."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2.circuits.equations.equations import (
    Equations,
    StageFunction,
    coupling,
    delay_line,
    loads,
)
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.parts import RelaxationParts

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# s is the comparator's state: +1 charges towards +V0/2, -1 discharges towards -V0/2.
TEXT = """
dv/dt = ((mean_conductance + s*difference_conductance)*(0.5*s*supply - v) + injected({sent}))*elastance : volt
ds/dt = (tanh((s*hysteresis - v)/input_scale) - s)/comparator_time : 1
elastance : farad**-1 (constant)
hysteresis : volt (constant)
comparator_time : second (constant)
mean_conductance : siemens (constant, shared)
difference_conductance : siemens (constant, shared)
supply : volt (constant, shared)
input_scale : volt (constant, shared)
"""


def relaxation(circuit: Circuit, parts: RelaxationParts, batches: Indices) -> Equations:
    """``C v' = G(s) (s V0/2 - v) + I_c``, ``tau s' = tanh((V_h s - v)/V_in) - s``."""
    pull = coupling(parts.coupler_s, circuit.matrix, batches, circuit.array.size)
    load = loads(circuit, batches) / circuit.design.impedance_ohm

    def injected(v: Array, p: Array | None = None) -> Array:
        return pull(v if p is None else 2.0 * p - v) - load * v

    late = parts.delay_s > 0.0
    charge, discharge = 1.0 / parts.charge_ohm, 1.0 / parts.discharge_ohm
    text = TEXT.format(sent="v, p" if late else "v")
    parameters: dict[str, Array | float] = {
        "elastance": 1.0 / parts.capacitance_f[batches].ravel(),
        "hysteresis": parts.hysteresis_v[batches].ravel(),
        "comparator_time": parts.comparator_s[batches].ravel(),
        "mean_conductance": 0.5 * (charge + discharge),
        "difference_conductance": 0.5 * (charge - discharge),
        "supply": parts.unit_v,
        "input_scale": parts.input_v,
    }
    if late:
        text += delay_line("v", "p", "volt") + "\nhalf_delay : second (constant, shared)"
        parameters["half_delay"] = 0.5 * parts.delay_s
    return Equations(
        text=text.strip(),
        states=("v", "s", "p") if late else ("v", "s"),
        units=(parts.unit_v, 1.0, parts.unit_v)[: 3 if late else 2],
        functions={"injected": StageFunction(injected, ("volt",) * (1 + late), "amp")},
        parameters=parameters,
        ports=("v",),
    )
