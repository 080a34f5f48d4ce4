"""The component table of a circuit: every value with its symbol, unit, spread, count and formula."""

from dataclasses import asdict, dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.circuit import Circuit
from oscsim.circuits.parts import LCParts, Parts, RelaxationParts, RingParts, StuartLandauParts, parts
from oscsim.target import Row

__all__ = ["Component", "component_table", "parts"]

Array = NDArray[np.float64]


_PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}


def engineering(value: float, unit: str) -> str:
    """A value in SI units as engineers write it.

    >>> engineering(1.59056e-8, "H"), engineering(3057.69, "Ohm"), engineering(0.0, "V")
    ('15.9056 nH', '3.05769 kOhm', '0 V')
    """
    digits = Decimal(f"{value:.6g}")  # rounded before the prefix is chosen: 999.9999 is 1 k
    size = 0 if digits == 0 else digits.adjusted() // 3 * 3
    size = min(max(size, min(_PREFIXES)), max(_PREFIXES))
    return f"{float(digits.scaleb(-size)):.6g} {_PREFIXES[size]}{unit}"


@dataclass(frozen=True)
class Component:
    """One line of the table: ``count`` parts with values from ``low`` to ``high``, in SI units.

    >>> print(Component("inductor", "L", "H", 1e-9, 1e-9, 4, "natural_s Z"))
    inductor: 4 x L = 1 nH (natural_s Z)
    """

    name: str
    symbol: str
    unit: str
    low: float
    high: float
    count: int
    formula: str

    @classmethod
    def of(
        cls, name: str, symbol: str, unit: str, values: Array | float, count: int, formula: str
    ) -> "Component":
        """The line of some values, to six digits: the last ones depend on the processor."""
        values = np.asarray(values, float)
        low, high = (float(f"{value:.6g}") for value in (values.min(), values.max()))
        return cls(name, symbol, unit, low, high, count, formula)

    @property
    def row(self) -> Row:
        """For plans: SI numbers for programs, engineering units for people; its name is left to the plan."""
        values = asdict(self)
        del values["name"]
        value = engineering(self.low, self.unit)
        if self.low != self.high:
            value += f" to {engineering(self.high, self.unit)}"
        return Row(f"{self.count} x {self.symbol} = {value} ({self.formula})", values)

    def __str__(self) -> str:
        return f"{self.name}: {self.row}"


def component_table(circuit: Circuit) -> tuple[Component, ...]:
    """What the circuit is built of, all batches together; couplers that are absent are not counted.

    >>> from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
    >>> from oscsim.circuits import CircuitDesign, lower_circuit
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0], carrier_hz=1e9,
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]), time_unit_s=1e-8)
    >>> print(component_table(lower_circuit(spec, CircuitDesign(mu=0.1)))[0])
    tank inductor: 4 x L = 15.9056 nH (natural_s Z)
    """
    made = parts(circuit)
    rows = _family_rows(circuit, made)
    return (*rows, *_coupler_rows(circuit, made))


def amplitude_v(circuit: Circuit) -> float:
    """Half of what the voltage of an uncoupled oscillator swings, V, to four digits: 2 V0 for a weak LC tank.

    The voltage is that of the node a coupler acts on; of a pair of nodes (mos lc), of each of them.
    """
    swing = np.ptp(circuit.reduction.cycle.states[:, circuit.oscillator.ports[0]])
    return float(f"{0.5 * swing * circuit.design.voltage_v:.4g}")


_row = Component.of


def _family_rows(circuit: Circuit, made: Parts) -> list[Component]:
    count, dimension = circuit.capacitance.size, circuit.oscillator.dimension
    if isinstance(made, LCParts):
        return [
            _row("tank inductor", "L", "H", made.inductance_h, count, "natural_s Z"),
            _row("tank capacitor", "C", "F", made.capacitance_f, count, "c natural_s/Z"),
            _row("negative conductance", "g1", "S", made.conductance_s, count, "mu/Z"),
            _row("cubic conductance", "g3", "A/V^3", made.cubic_a_per_v3, count, "mu/(3 Z V0^2)"),
        ]
    if isinstance(made, RingParts):
        stages = count * dimension
        return [
            _row("stage resistor", "R", "Ohm", made.resistance_ohm, stages, "Z"),
            _row("stage capacitor", "C", "F", made.capacitance_f, stages, "c natural_s/Z"),
            _row("driver saturation current", "I_k", "A", made.saturation_a, stages, "V0/Z"),
            _row("driver input scale", "V_in", "V", made.input_v, stages, "V0/stage_gain"),
        ]
    if isinstance(made, RelaxationParts):
        return [
            _row("charging resistor", "R", "Ohm", made.charge_ohm, count, "Z"),
            _row("discharging resistor", "R_d", "Ohm", made.discharge_ohm, count, "Z/discharge"),
            _row("capacitor", "C", "F", made.capacitance_f, count, "c natural_s/Z"),
            _row("comparator feedback", "V_h", "V", made.hysteresis_v, count, "h V0, h from threshold"),
            _row("comparator input scale", "V_in", "V", made.input_v, count, "V0/comparator_gain"),
            _row("comparator time", "tau", "s", made.comparator_s, count, "comparator_time c natural_s"),
        ]
    if isinstance(made, StuartLandauParts):
        return [
            _row("quadrature capacitor", "C", "F", made.capacitance_f, 2 * count, "c natural_s/Z"),
            _row("gyrator transconductance", "g", "S", made.gyration_s, count, "1/Z"),
            _row("amplitude limiter", "G", "S", made.limiting_s, count, "mu/Z"),
        ]
    raise TypeError(f"{type(made).__name__}: no component table is known for it")


def _coupler_rows(circuit: Circuit, made: Parts) -> list[Component]:
    """Couplers of all batches; a resistor is one part for both directions and every port."""
    oscillator = circuit.oscillator
    conductance = made.coupler_s[circuit.matrix]
    rows = []
    for crossed, word in ((False, ""), (True, ", nodes crossed")):
        size = np.abs(conductance[conductance < 0.0 if crossed else conductance > 0.0])
        if not size.size:
            continue
        ports = len(oscillator.ports)
        if oscillator.coupler == "resistor":
            rows.append(_row(f"coupling resistor{word}", "R_c", "Ohm", 1.0 / size, ports * size.size // 2,
                             "Z/|kappa|"))  # fmt: skip
        elif oscillator.coupler == "inverter":
            rows.append(_row(f"coupling inverter{word}", "I_c", "A", size * made.unit_v, size.size,
                             "|kappa| V0/Z"))  # fmt: skip
        else:
            rows.append(_row(f"coupling transconductance{word}", "g_c", "S", size, ports * size.size,
                             "|kappa|/Z"))  # fmt: skip
    return rows
