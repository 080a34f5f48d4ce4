"""One oscillator of each family as ideal elements: the equations of :mod:`oscsim.circuits.parts`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hw_targets.spice.cards import Probe, number
from hw_targets.spice.couplers import Couplers, ports
from oscsim.circuits import Circuit
from oscsim.circuits.parts import LCParts, Parts, RelaxationParts, RingParts, StuartLandauParts

# (parts, batch, oscillator, state) -> lines
Block = Callable[[Any, int, int, list[float]], list[str]]


@dataclass(frozen=True, eq=False)
class Behavioural:
    """Netlist blocks of ideal elements; the same interface as :class:`Transistors`."""

    circuit: Circuit
    made: Parts

    @property
    def description(self) -> str:
        """One block in words."""
        return _DESCRIPTION[type(self.made)]

    def header(self) -> list[str]:
        """Nothing: ideal elements have no models."""
        return []

    def oscillator(self, batch: int, index: int) -> list[str]:
        """Elements of one oscillator; every name ends in ``batch_index``."""
        own = self.circuit.oscillator.dimension  # the rows after it are the delays of couplers
        state = [float(x) for x in self.circuit.start[:own, batch, index]]
        return _BLOCKS[type(self.made)](self.made, batch, index, state)

    def probes(self, batch: int, index: int) -> list[Probe]:
        """Where each state variable is seen."""
        at, v = f"{batch}_{index}", self.made.unit_v
        if isinstance(self.made, LCParts):
            return [Probe.of(f"v(v{at})", v), Probe.of(f"i(L{at})", self.made.unit_a)]
        if isinstance(self.made, RingParts):
            return [Probe.of(f"v(v{at}_{stage})", v) for stage in range(len(self.made.saturation_a))]
        if isinstance(self.made, RelaxationParts):
            return [Probe.of(f"v(v{at})", v), Probe.of(f"v(s{at})", 1.0)]
        return [Probe.of(f"v(x{at})", v), Probe.of(f"v(y{at})", v)]

    def crossing(self, batch: int, index: int) -> tuple[str, float]:
        """The voltage whose crossings of a level mark turns."""
        return f"v({ports(self.made, batch, index)[0]})", 0.0

    def couplers(self, batch: int) -> list[str]:
        """Every coupler of a batch."""
        return Couplers(self.circuit, self.made).lines(batch)


def _lc(made: LCParts, batch: int, index: int, state: list[float]) -> list[str]:
    at, node = f"{batch}_{index}", f"v{batch}_{index}"
    g1, g3 = made.conductance_s[batch, index], made.cubic_a_per_v3[batch, index]
    v, i = state[0] * made.unit_v, state[1] * made.unit_a
    return [
        f"C{at} {node} 0 {number(made.capacitance_f[batch, index])} IC={number(v)}",
        f"L{at} {node} 0 {number(made.inductance_h)} IC={number(i)}",
        f"B{at} {node} 0 I={number(-g1)}*V({node})+{number(g3)}*V({node})*V({node})*V({node})",
    ]


def _ring(made: RingParts, batch: int, index: int, state: list[float]) -> list[str]:
    at, stages, lines = f"{batch}_{index}", len(made.saturation_a), []
    for stage, x in enumerate(state):
        node, driver = f"v{at}_{stage}", f"v{at}_{(stage - 1) % stages}"
        current = made.saturation_a[stage, batch, index]
        lines += [
            f"C{at}_{stage} {node} 0 {number(made.capacitance_f[batch, index])} IC={number(x * made.unit_v)}",
            f"R{at}_{stage} {node} 0 {number(made.resistance_ohm)}",
            f"B{at}_{stage} {node} 0 I={number(current)}*tanh(V({driver})/{number(made.input_v)})",
        ]
    return lines


def _relaxation(made: RelaxationParts, batch: int, index: int, state: list[float]) -> list[str]:
    at, node, switch = f"{batch}_{index}", f"v{batch}_{index}", f"s{batch}_{index}"
    mean = 0.5 * (1.0 / made.charge_ohm + 1.0 / made.discharge_ohm)
    half = 0.5 * (1.0 / made.charge_ohm - 1.0 / made.discharge_ohm)
    conductance = f"({number(mean)}{half:+.11g}*V({switch}))" if half else number(mean)
    ohm, seconds = made.charge_ohm, made.comparator_s[batch, index]
    difference = f"({number(made.hysteresis_v[batch, index])}*V({switch})-V({node}))"
    return [
        f"C{at} {node} 0 {number(made.capacitance_f[batch, index])} IC={number(state[0] * made.unit_v)}",
        f"B{at} {node} 0 I={conductance}*(V({node})-{number(0.5 * made.unit_v)}*V({switch}))",
        f"Cs{at} {switch} 0 {number(seconds / ohm)} IC={number(state[1])}",
        f"Rs{at} {switch} 0 {number(ohm)}",
        f"Bs{at} {switch} 0 I=-tanh({difference}/{number(made.input_v)})/{number(ohm)}",
    ]


def _stuart_landau(made: StuartLandauParts, batch: int, index: int, state: list[float]) -> list[str]:
    at, x, y = f"{batch}_{index}", f"x{batch}_{index}", f"y{batch}_{index}"
    capacitance, turn = number(made.capacitance_f[batch, index]), number(made.gyration_s)
    half, per_square = 0.5 * made.limiting_s[batch, index], number(1.0 / made.unit_v**2)
    left = f"{number(-half)}*(1-(V({x})*V({x})+V({y})*V({y}))*{per_square})"
    return [
        f"Cx{at} {x} 0 {capacitance} IC={number(state[0] * made.unit_v)}",
        f"Cy{at} {y} 0 {capacitance} IC={number(state[1] * made.unit_v)}",
        f"Gx{at} {x} 0 {y} 0 {turn}",
        f"Gy{at} 0 {y} {x} 0 {turn}",
        f"Bx{at} {x} 0 I={left}*(V({x}){-made.shear:+.11g}*V({y}))",
        f"By{at} {y} 0 I={left}*(V({y}){made.shear:+.11g}*V({x}))",
    ]


_BLOCKS: dict[type, Block] = {
    LCParts: _lc,
    RingParts: _ring,
    RelaxationParts: _relaxation,
    StuartLandauParts: _stuart_landau,
}
_DESCRIPTION: dict[type, str] = {
    LCParts: "tank C, L and a source of -g1 V + g3 V^3, written V*V*V (V^3 fails where V < 0)",
    RingParts: "per stage a load C, R and a saturating driver -I tanh(V_previous / V_in)",
    RelaxationParts: "C charged towards +-V0/2 as the comparator s (+1 or -1, with hysteresis) says",
    StuartLandauParts: "quadratures x, y at the carrier: gyrator and amplitude limiter",
}
