"""Couplers of ideal elements: resistors, crossed resistors, transconductances, inverters, delays."""

from dataclasses import dataclass

import numpy as np

from hw_targets.spice.cards import number
from oscsim.circuits import Circuit
from oscsim.circuits.parts import Parts, RingParts, StuartLandauParts

UNIT_OHM = 1.0  # a current of 1 A through it is a voltage of 1 V: how a computed voltage becomes a node


def ports(made: Parts, batch: int, index: int) -> list[str]:
    """Nodes that the coupling currents of an oscillator enter."""
    at = f"{batch}_{index}"
    if isinstance(made, RingParts):
        return [f"v{at}_0"]
    return [f"x{at}", f"y{at}"] if isinstance(made, StuartLandauParts) else [f"v{at}"]


@dataclass(frozen=True, eq=False)
class Couplers:
    """All couplers of a behavioural netlist, one batch at a time."""

    circuit: Circuit
    made: Parts

    def lines(self, batch: int) -> list[str]:
        """Signal sources that couplers listen to, then one or two lines per coupler."""
        g = self.made.coupler_s[self.circuit.matrix[batch]]
        sources = np.flatnonzero((g != 0.0).any(axis=0))
        lines = [line for j in sources for line in self._source(batch, int(j))]
        for i in range(len(g)):
            for j in range(len(g)):
                lines += self._coupler(batch, i, j, g[i, j], g[j, i])
        return lines

    @property
    def _two_terminal(self) -> bool:
        """Whether a coupler is a resistor between two nodes; a delayed one listens to a copy instead."""
        return self.circuit.oscillator.reciprocal and self.made.delay_s == 0.0

    def _coupler(self, batch: int, i: int, j: int, g: float, back: float) -> list[str]:
        if g == 0.0:
            return []
        own, other = ports(self.made, batch, i), self._signals(batch, j)
        if self._two_terminal and g == back:
            return [] if j < i else self._resistor(f"{batch}_{i}_{j}", own, ports(self.made, batch, j), g)
        loads = self.circuit.oscillator.reciprocal
        lines = []
        for port, (node, signal) in enumerate(zip(own, other, strict=True)):
            at = f"{batch}_{i}_{j}_{port}"
            lines.append(f"Gc{at} 0 {node} {signal} 0 {number(g)}")
            if loads:
                lines.append(f"Rc{at} {node} 0 {number(1.0 / abs(g))}")
        return lines

    @staticmethod
    def _resistor(at: str, own: list[str], other: list[str], g: float) -> list[str]:
        lines = []
        for port, (a, b) in enumerate(zip(own, other, strict=True)):
            if g > 0.0:
                lines.append(f"Rc{at}_{port} {a} {b} {number(1.0 / g)}")
            else:
                current = f"I={number(-g)}*(V({a})+V({b}))"
                lines += [f"Bc{at}_{port}a {a} 0 {current}", f"Bc{at}_{port}b {b} 0 {current}"]
        return lines

    def _signals(self, batch: int, j: int) -> list[str]:
        """Nodes whose voltage is what oscillator j transmits."""
        nodes = ports(self.made, batch, j)
        if self.made.delay_s:
            return [f"d{batch}_{j}_{port}" for port in range(len(nodes))]
        return [f"q{batch}_{j}"] if self.circuit.oscillator.coupler == "inverter" else nodes

    def _source(self, batch: int, j: int) -> list[str]:
        lines, nodes = [], ports(self.made, batch, j)
        if self.circuit.oscillator.coupler == "inverter":
            if not isinstance(self.made, RingParts):
                raise TypeError("only rings have inverters")
            last = f"V(v{batch}_{j}_{self.circuit.oscillator.dimension - 1})"
            nodes, swing = [f"q{batch}_{j}"], number(self.made.unit_v / UNIT_OHM)
            lines = [
                f"Bq{batch}_{j} {nodes[0]} 0 I={swing}*tanh({last}/{number(self.made.input_v)})",
                f"Rq{batch}_{j} {nodes[0]} 0 {number(UNIT_OHM)}",
            ]
        if not self.made.delay_s:
            return lines
        start = self.circuit.start[self.circuit.oscillator.dimension :, batch, j] * self.made.unit_v
        for port, node in enumerate(nodes):
            lines += self._delay(f"{batch}_{j}_{port}", node, float(start[port]))
        return lines

    def _delay(self, at: str, node: str, start: float) -> list[str]:
        """First-order all-pass: ``(tau/2) y' = s - y``, transmitted ``2 y - s``."""
        ohm = self.circuit.design.impedance_ohm
        return [
            f"Gy{at} 0 w{at} {node} 0 {number(1.0 / ohm)}",
            f"Ry{at} w{at} 0 {number(ohm)}",
            f"Cy{at} w{at} 0 {number(0.5 * self.made.delay_s / ohm)} IC={number(start)}",
            f"Gd{at} 0 d{at} w{at} 0 2",
            f"Gs{at} d{at} 0 {node} 0 1",
            f"Rd{at} d{at} 0 {number(UNIT_OHM)}",
        ]
