"""PhaseOscillators: oscillators that exchange graded spikes cos theta and sin theta through synapses.

    theta_i' = drift_i + gain_i (cos theta_i sum_j w_ij sin theta_j - sin theta_i sum_j w_ij cos theta_j)

The synapses are Lava's Dense or Sparse. Both send what they summed in the previous time step before they
receive. An oscillator that sends the phase it has come to thus meets sums of its present phase: the loop adds
no delay. With a delay it sends the phase it comes from, so the sums are one integration step old.
"""

# Lava declares a port or variable of a model by assigning its LavaPyType to a differently typed name.
# pyright: reportAssignmentType=false

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
from lava.proc.sparse.process import Sparse

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.floating_point import FloatingPoint
from hw_targets.lava.processes.oscillator_steps import OscillatorSteps
from hw_targets.lava.program import COUNTERS, NETWORK_ROWS, STAGES, NetworkProgram

# Dense and Sparse keep numbers of 8 bits; weights of fewer use the low ones.
SYNAPSE_BITS = 8


class PhaseOscillators(AbstractProcess):
    """An array of M oscillators.

    Parameters
    ----------
    program : phases, frequencies and gains; its weights belong to the synapses.
    arithmetic : number format of phases and spikes.
    trace : whether every time step is sent instead of the record.

    Ports
    -----
    cosine_out, sine_out : graded spikes (M,); cosine_in, sine_in : synaptic sums (M,).
    record : (chunk, M) float64 phases after every integration step, sent once per chunk.
    states : (len(NETWORK_ROWS), M) float64, sent after every time step when ``trace``.
    """

    def __init__(
        self, *, program: NetworkProgram, arithmetic: FixedPoint | FloatingPoint, trace: bool = False
    ) -> None:
        super().__init__(
            arithmetic=arithmetic,
            trace=trace,
            gain_shift=program.gain_shift,
            chunk=program.chunk,
            stages=STAGES[program.integrator],
            delayed=program.delay_steps > 0,
            fan_out=program.fan_out,
            payload_bits=program.payload_bits,
        )
        shape = program.theta.shape
        self.theta = Var(shape=shape, init=program.theta)
        self.drift = Var(shape=shape, init=program.drift)
        self.gain = Var(shape=shape, init=program.gain)
        self.counters = Var(shape=(len(COUNTERS),), init=0)
        self.cosine_in, self.sine_in = InPort(shape=shape), InPort(shape=shape)
        self.cosine_out, self.sine_out = OutPort(shape=shape), OutPort(shape=shape)
        self.record = OutPort(shape=(program.chunk, *shape))
        self.states = OutPort(shape=(len(NETWORK_ROWS), *shape))
        # a flagged port blocks its sender until somebody receives: only one of them is read
        if trace:
            # read now and then: a sender with room for more waits less often
            self.states.flag_external_pipe(buffer_size=64)
        else:
            self.record.flag_external_pipe(buffer_size=2)


def network_processes(
    program: NetworkProgram, arithmetic: FixedPoint | FloatingPoint, trace: bool = False
) -> PhaseOscillators:
    """Oscillators connected to themselves through one process of synapses for cosines and one for sines."""
    oscillators = PhaseOscillators(program=program, arithmetic=arithmetic, trace=trace)
    for spikes, sums in (
        (oscillators.cosine_out, oscillators.cosine_in),
        (oscillators.sine_out, oscillators.sine_in),
    ):
        synapses = {"dense": Dense, "sparse": Sparse}[program.synapses](
            weights=program.weights,
            num_weight_bits=SYNAPSE_BITS,
            num_message_bits=program.payload_bits,
        )
        spikes.connect(synapses.s_in)
        synapses.a_out.connect(sums)
    return oscillators


@implements(proc=PhaseOscillators, protocol=LoihiProtocol)
@requires(CPU)
@tag("fixed_pt")
class PyPhaseOscillatorsFixed(OscillatorSteps, PyLoihiProcessModel):
    """Integers: wrapping phase accumulators, graded integer spikes."""

    spike_type = np.int32
    counters: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=64)
    theta: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=24)
    drift: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=24)
    gain: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=17)
    cosine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, np.int32)
    sine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, np.int32)
    cosine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, np.int32)
    sine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, np.int32)
    record: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    states: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)


@implements(proc=PhaseOscillators, protocol=LoihiProtocol)
@requires(CPU)
@tag("floating_pt")
class PyPhaseOscillatorsFloat(OscillatorSteps, PyLoihiProcessModel):
    """Float64 radians, graded float spikes."""

    spike_type = float
    counters: np.ndarray = LavaPyType(np.ndarray, np.int64, precision=64)
    theta: np.ndarray = LavaPyType(np.ndarray, float)
    drift: np.ndarray = LavaPyType(np.ndarray, float)
    gain: np.ndarray = LavaPyType(np.ndarray, float)
    cosine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, float)
    sine_in: PyInPort = LavaPyType(PyInPort.VEC_DENSE, float)
    cosine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    sine_out: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    record: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
    states: PyOutPort = LavaPyType(PyOutPort.VEC_DENSE, float)
