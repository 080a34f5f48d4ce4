"""What a transistor circuit is built of: rows of the component table, and how wide its transistors are."""

from typing import Any

import numpy as np

from hw_targets.spice.mos import RING_BETA, MosLC
from hw_targets.spice.transistors import CHANNEL_M, TAIL_CAPACITANCE, Transistors
from oscsim.circuits.components import Component, engineering
from oscsim.circuits.validity import rounded_up

# W/L above which a plan says that transistors are wide.
WIDE = 100.0


def transistor_components(made: Transistors) -> list[Component]:
    """All parts, all batches together; tanks have a side of their own for p and for n."""
    circuit, count = made.circuit, made.circuit.capacitance.size
    farad = circuit.natural_s / circuit.design.impedance_ohm
    if isinstance(circuit.oscillator, MosLC):
        each, kinds, name = 2, ("NMOS",), "tank capacitor"
        rows = _tank(made, circuit.oscillator, count)
    else:
        each, kinds, name = circuit.oscillator.dimension, ("NMOS", "PMOS"), "load capacitor"
        rows = []
    rows.append(Component.of(name, "C", "F", circuit.capacitance * farad, each * count, "c natural_s/Z"))
    said = f"L = {engineering(CHANNEL_M, 'm')}, level 1"
    for kind in kinds:
        rows.append(Component.of(f"{kind} transistor", "W", "m", _widths(made), each * count, said))
    return [*rows, *_couplers(made)]


def _tank(made: Transistors, family: MosLC, count: int) -> list[Component]:
    design, seconds = made.circuit.design, made.circuit.natural_s
    z, current = design.impedance_ohm, family.tail_current * design.voltage_v / design.impedance_ohm
    return [
        Component.of("tank inductor", "L", "H", seconds * z, 2 * count, "natural_s Z"),
        Component.of("tank loss", "R", "Ohm", z / (2.0 * family.mu), 2 * count, "Z/(2 mu)"),
        Component.of("tail current", "It", "A", current, count, "pi mu V0/Z"),
        Component.of("tail capacitor", "Ct", "F", TAIL_CAPACITANCE * seconds / z, count, "negligible"),
    ]


def _couplers(made: Transistors) -> list[Component]:
    """A resistor per pair of nodes; a tank has two nodes."""
    circuit = made.circuit
    g = np.triu(circuit.kappa[circuit.matrix] / circuit.design.impedance_ohm)
    nodes = 2 if isinstance(circuit.oscillator, MosLC) else 1
    return [
        Component.of(f"coupling resistor{word}", "R_c", "Ohm", 1.0 / size, nodes * size.size, "Z/|kappa|")
        for word, size in (("", g[g > 0.0]), (", nodes crossed", -g[g < 0.0]))
        if size.size
    ]


def _widths(made: Transistors) -> np.ndarray:
    family, drive = made.circuit.oscillator, made.circuit.drive
    beta = family.beta if isinstance(family, MosLC) else RING_BETA
    return beta * made.width_m * (np.ones(1) if drive is None else drive)


def transistor_facts(made: Transistors) -> dict[str, Any]:
    """Models and supply, W/L to four digits, and what would make wide transistors smaller."""
    widest = float(f"{_widths(made).max() / CHANNEL_M:.4g}")
    facts: dict[str, Any] = {"model_cards": made.header(), "width_over_length": widest}
    if widest > WIDE:
        ohm = rounded_up(made.circuit.design.impedance_ohm * widest / WIDE)
        facts["transistors"] = (
            f"wide: W/L goes with 1/impedance_ohm and is {WIDE:g} or less from impedance_ohm={ohm:g} on"
        )
    return facts
