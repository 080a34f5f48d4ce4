"""The component table of a circuit: every value with its symbol, unit, spread, count and formula."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.circuit import Circuit
from oscsim.circuits.parts import LCParts, Parts, RelaxationParts, RingParts, StuartLandauParts, parts

__all__ = ["Component", "component_table", "parts"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Component:
    """One line of the table: ``count`` parts with values from ``low`` to ``high``, in SI units.

    >>> print(Component("inductor", "L", "H", 1e-9, 1e-9, 4, "natural_s Z"))
    4 x L = 1e-09 H (inductor; natural_s Z)
    """

    name: str
    symbol: str
    unit: str
    low: float
    high: float
    count: int
    formula: str

    def __str__(self) -> str:
        value = f"{self.low:.6g}" if self.low == self.high else f"{self.low:.6g} to {self.high:.6g}"
        return f"{self.count} x {self.symbol} = {value} {self.unit} ({self.name}; {self.formula})"


def component_table(circuit: Circuit) -> tuple[Component, ...]:
    """What the circuit is built of, all batches together; couplers that are absent are not counted.

    >>> from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
    >>> from oscsim.circuits import CircuitDesign, lower_circuit
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0], carrier_hz=1e9,
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]), time_unit_s=1e-8)
    >>> print(component_table(lower_circuit(spec, CircuitDesign(mu=0.1)))[0])
    4 x L = 1.59056e-08 H (tank inductor; natural_s Z)
    """
    made = parts(circuit)
    rows = _family_rows(circuit, made)
    return (*rows, *_coupler_rows(circuit, made))


def _row(name: str, symbol: str, unit: str, values: Array | float, count: int, formula: str) -> Component:
    values = np.asarray(values, float)
    return Component(name, symbol, unit, float(values.min()), float(values.max()), count, formula)


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
            _row("stage resistor", "R", "ohm", made.resistance_ohm, stages, "Z"),
            _row("stage capacitor", "C", "F", made.capacitance_f, stages, "c natural_s/Z"),
            _row("driver saturation current", "I_k", "A", made.saturation_a, stages, "V0/Z"),
            _row("driver input scale", "V_in", "V", made.input_v, stages, "V0/stage_gain"),
        ]
    if isinstance(made, RelaxationParts):
        return [
            _row("charging resistor", "R", "ohm", made.charge_ohm, count, "Z"),
            _row("discharging resistor", "R_d", "ohm", made.discharge_ohm, count, "Z/discharge"),
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
            rows.append(_row(f"coupling resistor{word}", "R_c", "ohm", 1.0 / size, ports * size.size // 2,
                             "Z/|kappa|"))  # fmt: skip
        elif oscillator.coupler == "inverter":
            rows.append(_row(f"coupling inverter{word}", "I_c", "A", size * made.unit_v, size.size,
                             "|kappa| V0/Z"))  # fmt: skip
        else:
            rows.append(_row(f"coupling transconductance{word}", "g_c", "S", size, ports * size.size,
                             "|kappa|/Z"))  # fmt: skip
    return rows
