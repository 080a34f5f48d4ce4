"""Stuart-Landau oscillator in the frame of the carrier, where nothing turns fast and steps are long."""

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
from oscsim.circuits.parts import StuartLandauParts

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# x + jy turns with the carrier. limiter() is the amplitude-limiting conductance; coupling is diffusive in
# both components, so it looks the same in any frame.
TEXT = """
dx/dt = (limiter(x, y)*(x - shear*y) + injected({sent_x}))*elastance - detuning*y : volt
dy/dt = (limiter(x, y)*(y + shear*x) + injected({sent_y}))*elastance + detuning*x : volt
elastance : farad**-1 (constant)
detuning : hertz (constant)
shear : 1 (constant, shared)
"""


def stuart_landau(circuit: Circuit, parts: StuartLandauParts, batches: Indices) -> Equations:
    """``C Z' = [j g + (G/2)(1 + j shear)(1 - |Z/V0|^2)] Z + I_c``, minus the carrier's rotation."""
    pull = coupling(parts.coupler_s, circuit.matrix, batches, circuit.array.size)
    load = loads(circuit, batches) / circuit.design.impedance_ohm
    limiting, scale = 0.5 * parts.limiting_s[batches].ravel(), 1.0 / parts.unit_v**2

    def injected(x: Array, p: Array | None = None) -> Array:
        return pull(x if p is None else 2.0 * p - x) - load * x

    def limiter(x: Array, y: Array) -> Array:
        return limiting * (1.0 - scale * (x * x + y * y))

    late, elastance = parts.delay_s > 0.0, 1.0 / parts.capacitance_f[batches].ravel()
    carrier = circuit.reduction.cycle.frequency / parts.unit_s
    sent = ("x, p", "y, q") if late else ("x", "y")
    text = TEXT.format(sent_x=sent[0], sent_y=sent[1])
    parameters: dict[str, Array | float] = {
        "elastance": elastance,
        "detuning": parts.gyration_s * elastance - carrier,
        "shear": parts.shear,
    }
    if late:
        text += (
            delay_line("x", "p", "volt", " + carrier*q") + "\n" + delay_line("y", "q", "volt", " - carrier*p")
        )
        text += "\nhalf_delay : second (constant, shared)\ncarrier : hertz (constant, shared)"
        parameters |= {"half_delay": 0.5 * parts.delay_s, "carrier": carrier}
    return Equations(
        text=text.strip(),
        states=("x", "y", "p", "q") if late else ("x", "y"),
        units=(parts.unit_v,) * (4 if late else 2),
        functions={
            "injected": StageFunction(injected, ("volt",) * (1 + late), "amp"),
            "limiter": StageFunction(limiter, ("volt", "volt"), "siemens"),
        },
        parameters=parameters,
        ports=("x", "y"),
        turning=True,
    )
