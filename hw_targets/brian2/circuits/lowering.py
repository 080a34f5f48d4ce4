"""A layer as something to simulate: circuit, equations, clock, classes, and what the result will be worth."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.equations.equations import Equations
from hw_targets.brian2.circuits.equations.lc import lc
from hw_targets.brian2.circuits.equations.relaxation import relaxation
from hw_targets.brian2.circuits.equations.ring import ring
from hw_targets.brian2.circuits.equations.stuart_landau import stuart_landau
from hw_targets.brian2.circuits.schedule import BatchClass, Clock, classes, clock
from oscsim.circuits import timing
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.lowering import lower_circuit
from oscsim.circuits.parts import Parts, parts
from oscsim.circuits.promise import circuit_accuracy
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import Accuracy

Indices = NDArray[np.int64]

_EQUATIONS = {"lc": lc, "ring": ring, "relaxation": relaxation, "stuart_landau": stuart_landau}


@dataclass(frozen=True, eq=False)
class CircuitLowering:
    """Everything a run needs.

    Parameters
    ----------
    carrier_hz : of the layer. skip : carrier cycles amplitudes take. end : duration in carrier cycles,
        finite or infinite. accuracy : what is promised against the closed form.
    """

    circuit: Circuit
    config: CircuitConfig
    carrier_hz: float
    time_unit_s: float
    ticks: Clock
    classes: tuple[BatchClass, ...]
    skip: float
    end: float
    accuracy: Accuracy

    @cached_property
    def parts(self) -> Parts:
        """Component values."""
        return parts(self.circuit)

    def equations(self, batches: Indices) -> Equations:
        """Equations and parameters of some batches."""
        return _EQUATIONS[self.config.family](self.circuit, self.parts, batches)  # type: ignore[arg-type]

    @property
    def dt_s(self) -> float:
        """One integration step in seconds."""
        return self.ticks.dt_cycles / self.carrier_hz


def lower(spec: PhaseLayerSpec, config: CircuitConfig) -> CircuitLowering:
    """Lower one layer; pure, imports no backend.

    Raises
    ------
    LoweringError
        a coupling or detuning out of the family's range, or a coupler that cannot represent the layer.
    """
    circuit = lower_circuit(spec, config)
    end = spec.duration * spec.time_unit_s * spec.carrier_hz if spec.dynamics == "clamped" else np.inf
    circuit = replace(circuit, warnings=(*circuit.warnings, *timing.late(circuit, float(end))))
    ticks = clock(circuit, config, end)
    return CircuitLowering(
        circuit=circuit,
        config=config,
        carrier_hz=spec.carrier_hz,
        time_unit_s=spec.time_unit_s,
        ticks=ticks,
        classes=classes(circuit, config, ticks),
        skip=timing.transient_cycles(circuit),
        end=end,
        accuracy=circuit_accuracy(circuit),
    )
