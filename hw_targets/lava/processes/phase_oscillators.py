"""PhaseOscillators: oscillators that exchange graded spikes cos theta and sin theta through Dense processes.

    theta_i' = drift_i + gain_i (cos theta_i sum_j w_ij sin theta_j - sin theta_i sum_j w_ij cos theta_j)

One Runge-Kutta stage per Lava time step. Dense sends what it summed in the previous time step before it
receives, so an oscillator that receives before it sends gets the sums that belong to its present phase:
the loop through the synapses adds no delay.
"""

# Lava declares a port or variable of a model by assigning its LavaPyType to a differently typed name.
# pyright: reportAssignmentType=false

from typing import Any

import numpy as np
from lava.magma.core.decorator import implements, requires, tag
from lava.magma.core.model.py.model import PyLoihiProcessModel
from lava.magma.core.model.py.ports import PyInPort, PyOutPort
from lava.magma.core.model.py.type import LavaPyType
from lava.magma.core.process.ports.ports import InPort, OutPort
from lava.magma.core.process.process import AbstractProcess
from lava.magma.core.process.variable import Var
from lava.magma.core.resources import CPU
from lava.magma.core.sync.protocols.loihi_protocol import LoihiProtocol
from lava.proc.dense.process import Dense

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.floating_point import FloatingPoint
from hw_targets.lava.program import STAGES, NetworkProgram


class PhaseOscillators(AbstractProcess):
    """An array of M oscillators.

    Parameters
    ----------
    program : phases, frequencies and gains; its weights belong to the Dense processes.
    arithmetic : number format of phases and spikes.

    Ports
    -----
    cosine_out, sine_out : graded spikes (M,); cosine_in, sine_in : synaptic sums (M,).
    record : (chunk, M) float64 phases after every integration step, sent once per chunk.
    """

    def __init__(self, *, program: NetworkProgram, arithmetic: FixedPoint | FloatingPoint) -> None:
        super().__init__(arithmetic=arithmetic, gain_shift=program.gain_shift, chunk=program.chunk)
        shape = program.theta.shape
        self.theta = Var(shape=shape, init=program.theta)
        self.drift = Var(shape=shape, init=program.drift)
        self.gain = Var(shape=shape, init=program.gain)
        self.cosine_in, self.sine_in = InPort(shape=shape), InPort(shape=shape)
        self.cosine_out, self.sine_out = OutPort(shape=shape), OutPort(shape=shape)
        self.record = OutPort(shape=(program.chunk, *shape))
        self.record.flag_external_pipe(buffer_size=2)


def network_processes(program: NetworkProgram, arithmetic: FixedPoint | FloatingPoint) -> PhaseOscillators:
    """Oscillators connected to themselves through one Dense process for cosines and one for sines."""
    oscillators = PhaseOscillators(program=program, arithmetic=arithmetic)
    for spikes, sums in (
        (oscillators.cosine_out, oscillators.cosine_in),
        (oscillators.sine_out, oscillators.sine_in),
    ):
        dense = Dense(
            weights=program.weights,
            num_weight_bits=program.weight_bits,
            num_message_bits=program.payload_bits,
        )
        spikes.connect(dense.s_in)
        dense.a_out.connect(sums)
    return oscillators


class _OscillatorsModel:
    """The behaviour, the same for both number formats; Lava supplies variables, ports and parameters."""

    time_step: int
    proc_params: Any
    theta: Any
    drift: Any
    gain: Any
    cosine_in: Any
    sine_in: Any
    cosine_out: Any
    sine_out: Any
    record: Any
    spike_type: type

    def run_spk(self) -> None:
        sums = (self.cosine_in.recv(), self.sine_in.recv())
        if self.time_step == 1:  # nothing has been sent yet
            self._begin()
        else:
            self._stage(sums)
        self.cosine_out.send(self.phasor[0].astype(self.spike_type))
        self.sine_out.send(self.phasor[1].astype(self.spike_type))

    def _begin(self) -> None:
        self.arithmetic = self.proc_params["arithmetic"]
        self.stages = []
        self.recorded = 0
        self.chunk = np.zeros((self.proc_params["chunk"], len(self.theta)))
        self._turn_to(self.theta)

    def _turn_to(self, theta: np.ndarray) -> None:
        self.phasor = (self.arithmetic.cosine(theta), self.arithmetic.sine(theta))

    def _stage(self, sums: tuple[np.ndarray, np.ndarray]) -> None:
        """Take the synaptic sums of one stage and turn to the phases of the next one."""
        wide = tuple(one.astype(self.theta.dtype) for one in sums)
        shift = self.proc_params["gain_shift"]
        slope = self.drift + self.arithmetic.rotation(self.phasor, wide, self.gain, shift)
        self.stages.append(slope)
        if len(self.stages) < STAGES["runge_kutta"]:
            ahead = slope if len(self.stages) == STAGES["runge_kutta"] - 1 else self.arithmetic.half(slope)
            self._turn_to(self.theta + ahead)
            return
        self.theta[:] = self.arithmetic.runge_kutta(self.theta, tuple(self.stages))
        self.stages = []
        self._turn_to(self.theta)
        self.chunk[self.recorded] = self.theta
        self.recorded += 1
        if self.recorded == len(self.chunk):
            self.record.send(self.chunk)
            self.recorded = 0


@implements(proc=PhaseOscillators, protocol=LoihiProtocol)
@requires(CPU)
@tag("fixed_pt")
class PyPhaseOscillatorsFixed(_OscillatorsModel, PyLoihiProcessModel):
    """Integers: wrapping phase accumulators, graded integer spikes."""

    spike_type = np.int32
    theta: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=24)
    drift: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=24)
    gain: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=17)
    cosine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, np.int32)
    sine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, np.int32)
    cosine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, np.int32)
    sine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, np.int32)
    record: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)


@implements(proc=PhaseOscillators, protocol=LoihiProtocol)
@requires(CPU)
@tag("floating_pt")
class PyPhaseOscillatorsFloat(_OscillatorsModel, PyLoihiProcessModel):
    """Float64 radians, graded float spikes."""

    spike_type = float
    theta: np.ndarray = LavaPyType(np.ndarray, float)
    drift: np.ndarray = LavaPyType(np.ndarray, float)
    gain: np.ndarray = LavaPyType(np.ndarray, float)
    cosine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, float)
    sine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, float)
    cosine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    sine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    record: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
