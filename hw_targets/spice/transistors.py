"""Oscillators of level-1 transistors as netlists: cross-coupled NMOS pair, ring of CMOS inverters."""

from dataclasses import dataclass

import numpy as np

from hw_targets.spice.cards import Probe, number
from hw_targets.spice.mos import (
    PAIR_SUPPLY,
    PAIR_THRESHOLD,
    RING_BETA,
    RING_THRESHOLD,
    MosLC,
    MosRing,
)
from oscsim.circuits import Circuit

CHANNEL_M = 1e-6  # length; widths follow from the strength that is needed
PROCESS_A_PER_V2 = 1e-4  # KP of both types
# The tail node needs some capacitance to be a state; it is fast enough to follow and small enough to ignore.
TAIL_CAPACITANCE = 1e-4


@dataclass(frozen=True, eq=False)
class Transistors:
    """Netlist blocks of a transistor circuit; the same interface as :class:`Behavioural`."""

    circuit: Circuit

    @property
    def _units(self) -> tuple[float, float, float, float]:
        """Volt, ampere, farad, ohm."""
        v, z = self.circuit.design.voltage_v, self.circuit.design.impedance_ohm
        return v, v / z, self.circuit.natural_s / z, z

    @property
    def description(self) -> str:
        """One block in words."""
        if isinstance(self.circuit.oscillator, MosLC):
            return "cross-coupled NMOS pair with a tail current on a tank p, n (C, L, loss R on each side)"
        return "CMOS inverters (the node before drives the gates), each with a load capacitor"

    @property
    def supply_v(self) -> float:
        """Supply voltage."""
        unit = PAIR_SUPPLY if isinstance(self.circuit.oscillator, MosLC) else 2.0
        return unit * self._units[0]

    def header(self) -> list[str]:
        """Transistor models and the supply."""
        lc = isinstance(self.circuit.oscillator, MosLC)
        threshold = number((PAIR_THRESHOLD if lc else RING_THRESHOLD) * self._units[0])
        kp = f"KP={number(PROCESS_A_PER_V2)}"
        models = [f".model nch NMOS(LEVEL=1 VTO={threshold} {kp} LAMBDA=0 GAMMA=0)"]
        if not lc:
            models.append(f".model pch PMOS(LEVEL=1 VTO=-{threshold} {kp} LAMBDA=0 GAMMA=0)")
        return [*models, f"Vdd vdd 0 {number(self.supply_v)}"]

    def oscillator(self, batch: int, index: int) -> list[str]:
        """Elements of one oscillator."""
        state = [float(x) for x in self.circuit.start[:, batch, index]]
        drive = self.circuit.drive
        devices = self.circuit.oscillator.devices
        strength = [1.0] * devices if drive is None else [float(k) for k in drive[:, batch, index]]
        write = self._lc if isinstance(self.circuit.oscillator, MosLC) else self._ring
        return write(f"{batch}_{index}", self.circuit.capacitance[batch, index], state, strength)

    def _lc(self, at: str, capacitance: float, state: list[float], strength: list[float]) -> list[str]:
        family, (v, a, farad, ohm) = self.circuit.oscillator, self._units
        assert isinstance(family, MosLC)  # narrows the type
        tail, width = family.tail_current, self._width(family.beta * strength[0])
        tail_v, lines = self._tail_voltage(state[0], strength[0]), []
        for side, sign in (("p", 1.0), ("n", -1.0)):
            node = f"{side}{at}"
            current = (0.5 * tail - sign * state[1]) * a  # from the supply to the node
            voltage = self.supply_v + sign * state[0] * v
            lines += [
                f"C{node} {node} 0 {number(capacitance * farad)} IC={number(voltage)}",
                f"L{node} vdd {node} {number(farad * ohm**2)} IC={number(current)}",
                f"R{node} vdd {node} {number(ohm / (2.0 * family.mu))}",
            ]
        for name, drain, gate in (("a", "p", "n"), ("b", "n", "p")):
            lines.append(
                f"M{name}{at} {drain}{at} {gate}{at} t{at} t{at} nch W={width} L={number(CHANNEL_M)}"
            )
        return [
            *lines,
            f"It{at} t{at} 0 {number(tail * a)}",
            f"Ct{at} t{at} 0 {number(TAIL_CAPACITANCE * farad)} IC={number(tail_v)}",
        ]

    def _tail_voltage(self, v: float, strength: float) -> float:
        family = self.circuit.oscillator
        assert isinstance(family, MosLC)  # narrows the type
        share = 0.5 + abs(float(family.pair_current(np.array(v), strength))) / family.tail_current
        over = np.sqrt(2.0 * share * family.tail_current / (family.beta * strength))
        return self.supply_v + (abs(v) - PAIR_THRESHOLD - over) * self._units[0]

    def _ring(self, at: str, capacitance: float, state: list[float], strength: list[float]) -> list[str]:
        (v, _, farad, _), lines = self._units, []
        for stage, x in enumerate(state):
            node, gate = f"v{at}_{stage}", f"v{at}_{(stage - 1) % len(state)}"
            size = f"W={self._width(RING_BETA * strength[stage])} L={number(CHANNEL_M)}"
            lines += [
                f"C{at}_{stage} {node} 0 {number(capacitance * farad)} IC={number((1.0 + x) * v)}",
                f"Mp{at}_{stage} {node} {gate} vdd vdd pch {size}",
                f"Mn{at}_{stage} {node} {gate} 0 0 nch {size}",
            ]
        return lines

    def _width(self, beta: float) -> str:
        """Width (m) of a transistor whose beta is given in natural units, A/V^2 = unit_a/unit_v^2."""
        return number(beta * self.width_m)

    @property
    def width_m(self) -> float:
        """Width (m) for a beta of 1 in natural units."""
        v, a, _, _ = self._units
        return a / v**2 / PROCESS_A_PER_V2 * CHANNEL_M

    def probes(self, batch: int, index: int) -> list[Probe]:
        """Where each state variable is seen."""
        at, (v, a, _, _) = f"{batch}_{index}", self._units
        if isinstance(self.circuit.oscillator, MosLC):
            half_v, half_a = 0.5 / v, 0.5 / a
            return [
                Probe((f"v(p{at})", f"v(n{at})"), (half_v, -half_v)),
                # an inductor's current is counted from the supply to the node, ours the other way
                Probe((f"i(Lp{at})", f"i(Ln{at})"), (-half_a, half_a)),
            ]
        stages = self.circuit.oscillator.dimension
        return [Probe((f"v(v{at}_{stage})",), (1.0 / v,), -1.0) for stage in range(stages)]

    def crossing(self, batch: int, index: int) -> tuple[str, float]:
        """The voltage whose crossings of a level mark turns."""
        if isinstance(self.circuit.oscillator, MosLC):
            return f"v(p{batch}_{index})", self.supply_v
        return f"v(v{batch}_{index}_0)", 0.5 * self.supply_v

    def couplers(self, batch: int) -> list[str]:
        """A resistor per coupler and node; a negative coupling of tanks crosses p and n."""
        g = self.circuit.kappa[self.circuit.matrix[batch]] / self.circuit.design.impedance_ohm
        lines = []
        for i, j in zip(*np.nonzero(np.triu(g)), strict=True):
            lines += self._coupler(batch, int(i), int(j), float(g[i, j]))
        return lines

    def _coupler(self, batch: int, i: int, j: int, g: float) -> list[str]:
        value, at = number(1.0 / abs(g)), f"{batch}_{i}_{j}"
        if isinstance(self.circuit.oscillator, MosRing):
            return [f"Rc{at} v{batch}_{i}_0 v{batch}_{j}_0 {value}"]
        far = ("p", "n") if g > 0.0 else ("n", "p")
        return [
            f"Rc{at}_{k} {near}{batch}_{i} {other}{batch}_{j} {value}"
            for k, (near, other) in enumerate(zip(("p", "n"), far, strict=True))
        ]
