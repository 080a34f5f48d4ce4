"""Ring of saturating inverters."""

from collections.abc import Callable

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
from oscsim.circuits.parts import RingParts

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# node() drives node 0: its own inverter and everything that is coupled in.
FIRST = "dv0/dt = (node({arguments}) - v0/resistance)*elastance : volt"
STAGE = "dv{k}/dt = -(saturation{k}*tanh(v{before}/input_scale) + v{k}/resistance)*elastance : volt"
SHARED = """elastance : farad**-1 (constant)
resistance : ohm (constant, shared)
input_scale : volt (constant, shared)"""


def ring(circuit: Circuit, parts: RingParts, batches: Indices) -> Equations:
    """``C v_k' = -v_k/R - I_k tanh(v_(k-1)/V_in) + I_c`` (node 0)."""
    stages, late = len(parts.saturation_a), parts.delay_s > 0.0
    saturation = parts.saturation_a[:, batches].reshape(stages, -1)
    last = f"v{stages - 1}"
    signal = "v0" if circuit.oscillator.reciprocal else f"-unit_v*tanh({last}/input_scale)"
    lines = [FIRST.format(arguments=f"{last}, v0, p" if late else f"{last}, v0")]
    lines += [STAGE.format(k=k, before=k - 1) for k in range(1, stages)]
    lines += [f"saturation{k} : amp (constant)" for k in range(1, stages)]
    parameters: dict[str, Array | float] = {f"saturation{k}": saturation[k] for k in range(1, stages)}
    parameters |= {
        "elastance": 1.0 / parts.capacitance_f[batches].ravel(),
        "resistance": parts.resistance_ohm,
        "input_scale": parts.input_v,
    }
    if late:
        lines += [delay_line(signal, "p", "volt"), "half_delay : second (constant, shared)"]
        lines += [] if circuit.oscillator.reciprocal else ["unit_v : volt (constant, shared)"]
        parameters["half_delay"] = 0.5 * parts.delay_s
        parameters |= {} if circuit.oscillator.reciprocal else {"unit_v": parts.unit_v}
    return Equations(
        text="\n".join([*lines, SHARED]),
        states=tuple(f"v{k}" for k in range(stages)) + (("p",) if late else ()),
        units=(parts.unit_v,) * (stages + late),
        functions={"node": StageFunction(_node(circuit, parts, batches), ("volt",) * (2 + late), "amp")},
        parameters=parameters,
        ports=("v0",),
    )


def _node(circuit: Circuit, parts: RingParts, batches: Indices) -> Callable[..., Array]:
    """Current into node 0 as a function of the last node, node 0 and, with a delay, the all-pass."""
    pull = coupling(parts.coupler_s, circuit.matrix, batches, circuit.array.size)
    load = loads(circuit, batches) / circuit.design.impedance_ohm
    own, scale, unit = parts.saturation_a[0, batches].ravel(), 1.0 / parts.input_v, parts.unit_v
    inverter = circuit.oscillator.coupler == "inverter"

    def node(last: Array, first: Array, passed: Array | None = None) -> Array:
        driver = np.tanh(last * scale)
        signal = -unit * driver if inverter else first
        sent = signal if passed is None else 2.0 * passed - signal
        return pull(sent) - load * first - own * driver

    return node
