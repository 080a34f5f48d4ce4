"""PairCells: phase oscillators that each follow ``psi' = d - a sin psi``, on their own clocks.

One process, two process models: integers (tag "fixed_pt") and float64 ("floating_pt"). A cell makes one
integration step per Lava time step until its own number of steps is used up, then it is silent.
"""

# Lava declares a port or variable of a model by assigning its LavaPyType to a differently typed name.
# pyright: reportAssignmentType=false

from typing import Any

import numpy as np
from lava.magma.core.decorator import implements, requires, tag
from lava.magma.core.model.py.model import PyLoihiProcessModel
from lava.magma.core.model.py.ports import PyOutPort
from lava.magma.core.model.py.type import LavaPyType
from lava.magma.core.process.ports.ports import OutPort
from lava.magma.core.process.process import AbstractProcess
from lava.magma.core.process.variable import Var
from lava.magma.core.resources import CPU
from lava.magma.core.sync.protocols.loihi_protocol import LoihiProtocol

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.floating_point import FloatingPoint
from hw_targets.lava.program import COUNTERS, ROWS, CellProgram

# Sines that one step looks up: those of the inner stages, and the sine and cosine of the new phase.
LOOKUPS = {"runge_kutta": 5, "euler": 2}


class PairCells(AbstractProcess):
    """An array of cells.

    Parameters
    ----------
    program : phases, parameters and steps of the cells, the longest-running first.
    arithmetic : number format of phases and parameters.
    trace : whether to send the record after every Lava time step, too.

    Ports
    -----
    record : (rows, cells) float64, sent once, after the last step (rows: program.ROWS).
    states : the same, after every Lava time step, when ``trace``; else silent.

    Variables
    ---------
    counters : what the cells did so far (program.COUNTERS). They send no spikes.
    """

    def __init__(
        self, *, program: CellProgram, arithmetic: FixedPoint | FloatingPoint, trace: bool = False
    ) -> None:
        super().__init__(
            arithmetic=arithmetic, lava_steps=program.lava_steps, integrator=program.integrator, trace=trace
        )
        shape = program.phase.shape
        self.psi = Var(shape=shape, init=program.phase)
        self.mismatch = Var(shape=shape, init=program.mismatch)
        self.coupling = Var(shape=shape, init=program.coupling)
        self.steps = Var(shape=shape, init=program.steps)
        self.record = OutPort(shape=(len(ROWS), *shape))
        self.record.flag_external_pipe(buffer_size=1)
        self.counters = Var(shape=(len(COUNTERS),), init=np.zeros(len(COUNTERS), np.int64))
        self.states = OutPort(shape=(len(ROWS), *shape))
        if trace:
            # read now and then: a sender with room for more waits less often
            self.states.flag_external_pipe(buffer_size=64)


class _CellsModel:
    """The behaviour, the same for both number formats; Lava supplies variables, ports and parameters."""

    time_step: int
    proc_params: Any
    psi: Any
    mismatch: Any
    coupling: Any
    steps: Any
    record: Any
    counters: Any
    states: Any

    def run_spk(self) -> None:
        if self.time_step == 1:
            self._begin()
        self._advance(self.time_step - 1)
        last = self.time_step == self.proc_params["lava_steps"]
        if last or self.proc_params["trace"]:
            rows = np.stack([self.memory[name] for name in ROWS]).astype(np.float64)
            if self.proc_params["trace"]:
                self.states.send(rows)
            if last:
                self.record.send(rows)

    def _begin(self) -> None:
        self.arithmetic = self.proc_params["arithmetic"]
        euler = self.proc_params["integrator"] == "euler"
        self.move = self.arithmetic.euler if euler else self.arithmetic.advance
        self.active = len(self.psi)
        self.sine = self.arithmetic.sine(self.psi)
        self.cosine = self.arithmetic.cosine(self.psi)
        self.memory = {name: np.zeros_like(self.psi) for name in ROWS}
        self.memory["phase"][:] = self.psi
        self.memory["cosine_sum"][:] = self.cosine
        self.memory["sine_sum"][:] = self.sine
        # no crossing yet
        self.memory["first_step"][:] = -1
        self.memory["last_step"][:] = -1
        self._count("sine_lookups", 2 * len(self.psi))

    def _count(self, name: str, more: int) -> None:
        self.counters[COUNTERS.index(name)] += more

    def _advance(self, step: int) -> None:
        """One step of the cells that still run; they are the first ones."""
        while self.active > 0 and self.steps[self.active - 1] <= step:
            self.active -= 1
        run = slice(0, self.active)
        before, cosine = self.psi[run], self.cosine[run]
        after = self.move(before, self.sine[run], self.mismatch[run], self.coupling[run])
        new_sine, new_cosine = self.arithmetic.sine(after), self.arithmetic.cosine(after)
        # cos psi falls through zero at pi/2 only: with d, a >= 0 no cell goes backwards through -pi/2, and a
        # step is far shorter than half a turn
        crossed = np.flatnonzero((cosine > 0) & (new_cosine <= 0))
        if len(crossed):
            self._remember(crossed, step, before, after)
        memory = self.memory
        memory["increment"][run] = self.arithmetic.difference(after, before)
        memory["phase"][run] = after
        memory["cosine_sum"][run] += new_cosine
        memory["sine_sum"][run] += new_sine
        self.psi[run], self.sine[run], self.cosine[run] = after, new_sine, new_cosine
        self._count("neuron_updates", self.active)
        self._count("sine_lookups", LOOKUPS[self.proc_params["integrator"]] * self.active)
        self._count("lava_steps", 1)

    def _remember(self, crossed: np.ndarray, step: int, before: np.ndarray, after: np.ndarray) -> None:
        """Snapshot of a crossing between two phases: always the last one, once the first one."""
        memory = self.memory
        snapshot = {
            "step": step,
            "before": before[crossed],
            "after": after[crossed],
            "cosine_sum": memory["cosine_sum"][crossed],
            "sine_sum": memory["sine_sum"][crossed],
        }
        fresh = memory["first_step"][crossed] < 0
        for name, value in snapshot.items():
            memory[f"last_{name}"][crossed] = value
            first = value if name == "step" else value[fresh]
            memory[f"first_{name}"][crossed[fresh]] = first


@implements(proc=PairCells, protocol=LoihiProtocol)
@requires(CPU)
@tag("fixed_pt")
class PyPairCellsFixed(_CellsModel, PyLoihiProcessModel):
    """Integers: a wrapping phase accumulator and a sine table."""

    psi: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=24)
    mismatch: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=17)
    coupling: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=17)
    steps: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=24)
    record: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    counters: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=53)
    states: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)


@implements(proc=PairCells, protocol=LoihiProtocol)
@requires(CPU)
@tag("floating_pt")
class PyPairCellsFloat(_CellsModel, PyLoihiProcessModel):
    """Float64 radians."""

    psi: np.ndarray = LavaPyType(np.ndarray, float)
    mismatch: np.ndarray = LavaPyType(np.ndarray, float)
    coupling: np.ndarray = LavaPyType(np.ndarray, float)
    steps: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=24)
    record: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    counters: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=53)
    states: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
