"""LC tank with cubic conductance."""

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
from oscsim.circuits.parts import LCParts

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# node() is everything that depends on voltages: g1 v - g3 v^3 (without a power function, which costs three to
# five times the rest) and the coupling.
TEXT = """
dv/dt = (node({sent}) - current)*elastance : volt
dcurrent/dt = v/inductance : amp
elastance : farad**-1 (constant)
inductance : henry (constant, shared)
"""
DELAYED = "half_delay : second (constant, shared)\n"


def lc(circuit: Circuit, parts: LCParts, batches: Indices) -> Equations:
    """``C v' = g1 v - g3 v^3 + I_c - i``, ``L i' = v``."""
    pull = coupling(parts.coupler_s, circuit.matrix, batches, circuit.array.size)
    load = loads(circuit, batches) / circuit.design.impedance_ohm
    linear = parts.conductance_s[batches].ravel() - load
    cubic = parts.cubic_a_per_v3[batches].ravel()

    def node(v: Array) -> Array:
        return pull(v) + v * (linear - cubic * (v * v))

    def node_late(v: Array, p: Array) -> Array:
        return pull(2.0 * p - v) + v * (linear - cubic * (v * v))

    late = parts.delay_s > 0.0
    text = TEXT.format(sent="v, p" if late else "v")
    parameters: dict[str, Array | float] = {
        "elastance": 1.0 / parts.capacitance_f[batches].ravel(),
        "inductance": parts.inductance_h,
    }
    if late:
        text += delay_line("v", "p", "volt") + "\n" + DELAYED
        parameters["half_delay"] = 0.5 * parts.delay_s
    arguments = ("volt", "volt") if late else ("volt",)
    return Equations(
        text=text.strip(),
        states=("v", "current", "p") if late else ("v", "current"),
        units=(parts.unit_v, parts.unit_a, parts.unit_v)[: 3 if late else 2],
        functions={"node": StageFunction(node_late if late else node, arguments, "amp")},
        parameters=parameters,
        ports=("v",),
    )
