"""Some batches of a circuit as one Brian2 group: stepped, kicked by noise, read cycle by cycle."""

from collections.abc import Callable

import brian2
import numpy as np
from brian2 import Function, Network, NetworkOperation, NeuronGroup, second
from brian2.units import allunits
from numpy.typing import NDArray

from hw_targets.brian2.circuits.equations.equations import Equations, StageFunction
from hw_targets.brian2.circuits.lowering import CircuitLowering
from oscsim.circuits.recorder import AVERAGED_CYCLES, PhaseRecord, PhaseRecorder

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
_UNITS = {
    "volt": brian2.volt,
    "amp": brian2.amp,
    "siemens": brian2.siemens,
    "second": second,
    "hertz": brian2.hertz,
    "ohm": brian2.ohm,
    "henry": allunits.henry,
    "farad**-1": brian2.farad**-1,
    "1": 1,
}


class Simulation:
    """Integrates batches and records their phases every ``spacing`` blocks.

    ``judge`` is called after the given numbers of blocks; the run ends when it returns True.
    """

    def __init__(self, lowering: CircuitLowering, batches: Indices, spacing: int) -> None:
        self.lowering, self.batches, self.spacing = lowering, batches, spacing
        circuit = lowering.circuit
        self._own = circuit.oscillator.dimension
        self._shape = (len(batches), circuit.array.size)
        self._equations = lowering.equations(batches)
        start = circuit.array.start[batches]
        pairs = circuit.array.dynamics == "pair"
        self._recorder = PhaseRecorder(circuit.reduction, start, lowering.ticks.samples, pairs)
        self._stride = lowering.ticks.steps // lowering.ticks.samples
        self.steps, self.judged = 0, False
        self._dense_from = float("inf")
        self._group = self._build(self._equations)
        self._state = [self._group.variables[name] for name in self._equations.states]
        self._noise = self._kicks(self._equations)

    def _build(self, equations: Equations) -> NeuronGroup:
        dt = self.lowering.dt_s * second
        namespace = {name: _function(part) for name, part in equations.functions.items()}
        size = int(np.prod(self._shape))
        group = NeuronGroup(size, equations.text, method="rk4", dt=dt, namespace=namespace)
        start = self.lowering.circuit.start[:, self.batches]
        for name, unit, values in zip(equations.states, equations.units, start, strict=True):
            group.variables[name].get_value()[:] = (values * unit).ravel()
        for name, value in equations.parameters.items():
            # SI floats: the group's own declarations carry the units, and were checked with the equations
            group.variables[name].get_value()[...] = value
        return group

    def _kicks(self, equations: Equations) -> Callable[[], None]:
        """White current of one-sided density a: V += a sqrt(dt/2)/C randn per step, for every port."""
        density, design = self.lowering.parts.noise_a, self.lowering.config
        if density == 0.0:
            return lambda: None
        generator = design.drawn("noise_a_per_sqrt_hz")
        size = density * np.sqrt(0.5 * self.lowering.dt_s) / self.lowering.parts.capacitance_f[self.batches]
        ports = [self._group.variables[name] for name in equations.ports]

        def kick() -> None:
            for port in ports:
                port.get_value()[:] += (size * generator.standard_normal(self._shape)).ravel()

        return kick

    def state(self) -> Array:
        """(dimension, b, n) states now, natural units."""
        values = [
            part.get_value() / unit for part, unit in zip(self._state, self._equations.units, strict=True)
        ]
        return np.stack(values[: self._own]).reshape(self._own, *self._shape)

    def record(self) -> PhaseRecord:
        """Phases so far."""
        return self._recorder.record()

    @property
    def cycles(self) -> float:
        """Carrier cycles simulated so far."""
        return self.steps * self.lowering.ticks.dt_cycles

    def run(
        self, looks: tuple[int, ...], judge: Callable[[bool], bool], dense_from: float = float("inf")
    ) -> None:
        """Integrate until ``judge(last)`` is True or the last look; from ``dense_from`` all is read."""
        moments = {look * self.lowering.ticks.steps for look in looks}
        last = max(moments)
        self._dense_from = dense_from

        def after_step() -> None:
            self.steps += 1
            self._noise()
            self._read()
            if self.steps in moments and judge(self.steps == last):
                network.stop()

        watch = NetworkOperation(after_step, clock=self._group.clock, when="end")
        network = Network(self._group, watch)
        network.run((last - self.steps) * self.lowering.dt_s * second, namespace={})

    def _read(self) -> None:
        """Sample the phases where an average is under way, and close it at the end of its last block."""
        ticks = self.lowering.ticks
        if self.steps % self._stride:
            return
        block, inside = divmod(self.steps - 1, ticks.steps)
        span = 1 if ticks.samples == 1 else AVERAGED_CYCLES
        if any(self._closes(block + ahead) for ahead in range(span)):
            turned = 0.0 if self._equations.turning else 2.0 * np.pi * self.cycles
            self._recorder.take(self.state(), self.cycles, turned)
        if inside == ticks.steps - 1 and block >= span - 1 and self._closes(block):
            self._recorder.close()

    def _closes(self, block: int) -> bool:
        """Whether an average ends with this block."""
        return (block + 1) % self.spacing == 0 or block >= self._dense_from


def _function(part: StageFunction) -> Function:
    """A numpy function of stage vectors, with its units."""
    units = [_UNITS[name] for name in part.arguments]
    function = Function(part.call, arg_units=units, return_unit=_UNITS[part.result])
    function.implementations.add_numpy_implementation(part.call, discard_units=True)
    return function
