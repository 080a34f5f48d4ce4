"""What an oscillator does in a time step of Lava: receive sums, move, send spikes, count."""

from typing import Any

import numpy as np

from hw_targets.lava.program import STAGES


class OscillatorSteps:
    """The behaviour, the same for both number formats; Lava supplies variables, ports and parameters."""

    time_step: int
    proc_params: Any
    theta: Any
    drift: Any
    gain: Any
    counters: Any
    cosine_in: Any
    sine_in: Any
    cosine_out: Any
    sine_out: Any
    record: Any
    states: Any
    spike_type: type

    def run_spk(self) -> None:
        sums = tuple(port.recv().astype(self.theta.dtype) for port in (self.cosine_in, self.sine_in))
        if self.time_step == 1:
            self._begin()
        if self.proc_params["delayed"]:
            self._turn_to(self.theta)
            sent, slope = self.phasor, self._slope(sums)
            self._finish_step(self.arithmetic.moved(self.theta, slope))
        elif self.time_step == 1:  # nothing has been sent yet
            self._turn_to(self.theta)
            sent, slope = self.phasor, np.zeros_like(self.theta)
        else:
            slope = self._stage(sums)
            sent = self.phasor
        self.cosine_out.send(sent[0].astype(self.spike_type))
        self.sine_out.send(sent[1].astype(self.spike_type))
        self._count(sent)
        if self.proc_params["trace"]:
            self.states.send(np.stack([self.theta, *sent, *sums, slope]).astype(np.float64))

    def _begin(self) -> None:
        self.arithmetic = self.proc_params["arithmetic"]
        self.stages = []
        self.recorded = 0
        self.chunk = np.zeros((self.proc_params["chunk"], len(self.theta)))

    def _turn_to(self, theta: np.ndarray) -> None:
        self.phasor = (self.arithmetic.cosine(theta), self.arithmetic.sine(theta))

    def _slope(self, sums: tuple[np.ndarray, ...]) -> np.ndarray:
        """What the oscillators, at their present phases, move by in a step that goes on like this."""
        shift = self.proc_params["gain_shift"]
        return self.drift + self.arithmetic.rotation(self.phasor, sums, self.gain, shift)

    def _stage(self, sums: tuple[np.ndarray, ...]) -> np.ndarray:
        """Take the synaptic sums of one stage, turn to the phases of the next one; return the slope."""
        slope = self._slope(sums)
        self.stages.append(slope)
        if len(self.stages) < self.proc_params["stages"]:
            last = len(self.stages) == STAGES["runge_kutta"] - 1
            self._turn_to(self.theta + (slope if last else self.arithmetic.half(slope)))
            return slope
        if len(self.stages) == STAGES["euler"]:
            self._finish_step(self.arithmetic.moved(self.theta, slope))
        else:
            self._finish_step(self.arithmetic.runge_kutta(self.theta, tuple(self.stages)))
        self.stages = []
        self._turn_to(self.theta)
        return slope

    def _finish_step(self, theta: np.ndarray) -> None:
        """The phases after an integration step."""
        self.theta[:] = theta
        self.chunk[self.recorded] = theta
        self.recorded += 1
        if self.recorded == len(self.chunk):
            self.record.send(self.chunk)
            self.recorded = 0

    def _count(self, sent: tuple[np.ndarray, np.ndarray]) -> None:
        """Add what this time step did, in the order of COUNTERS; a payload of zero is no spike."""
        fan_out, size = self.proc_params["fan_out"], len(self.theta)
        spikes = operations = 0
        for payload in sent:
            reached = fan_out[payload != 0]
            spikes += np.count_nonzero(reached)
            operations += reached.sum()
        self.counters += (size, 2 * size, spikes, operations, spikes * self.proc_params["payload_bits"], 1)
