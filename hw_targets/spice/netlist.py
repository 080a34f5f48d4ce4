"""The netlist of a layer as text: header, oscillators, couplers, options, transient, measurements."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hw_targets.spice.behavioural import Behavioural
from hw_targets.spice.cards import Probe, number
from hw_targets.spice.config import SpiceConfig
from hw_targets.spice.transistors import Transistors
from oscsim.circuits import Circuit
from oscsim.circuits.cells import batch_names, census
from oscsim.circuits.parts import parts

MEASURED_TURNS = 10  # a period is measured over this many, less where fewer are saved
# Currents, voltages and charges below these shares of their units are not resolved.
SMALLEST = 1e-9


@dataclass(frozen=True)
class Window:
    """Carrier cycles that are simulated, and from which on states are saved."""

    cycles: float
    saved_from: float


def blocks(circuit: Circuit, config: SpiceConfig) -> Behavioural | Transistors:
    """The blocks a layer is made of."""
    return Transistors(circuit) if config.model == "mos" else Behavioural(circuit, parts(circuit))


def netlist(
    circuit: Circuit, config: SpiceConfig, title: str, batches: Sequence[int], window: Window
) -> list[str]:
    """Lines of the netlist of some batches, without the final ``.end``.

    Parameters
    ----------
    title : first line; a layer's digest belongs there.
    """
    made, size, names = blocks(circuit, config), circuit.array.size, batch_names(circuit.array)
    lines = [f"* {title}", *_header(circuit, config, made, batches, window), *made.header()]
    for batch in batches:
        lines += ["*", f"* batch {batch} = {names[batch]}"]
        for index in range(size):
            lines += ["*", f"* batch {batch}, oscillator {index}{_note(circuit, batch, index)}"]
            lines += made.oscillator(batch, index)
        lines += [
            "*",
            f"* batch {batch}, couplers i j: pull on i by j relative to the carrier",
            *_coupling_notes(circuit, batch),
        ]
        lines += made.couplers(batch)
    lines += ["*", *_analysis(circuit, config, window)]
    probes = [[made.probes(batch, index) for index in range(size)] for batch in batches]
    lines += [f".save {vector}" for vector in vectors(probes)]
    for batch in batches:
        lines.append(f"* batch {batch} = {names[batch]}")
        lines += _measurements(circuit, made, batch, window)
    return lines


def vectors(probes: list[list[list[Probe]]]) -> list[str]:
    """Names of everything that is saved: batch by batch, oscillator by oscillator."""
    return [name for batch in probes for states in batch for probe in states for name in probe.vectors]


def _header(
    circuit: Circuit,
    config: SpiceConfig,
    made: Behavioural | Transistors,
    batches: Sequence[int],
    window: Window,
) -> list[str]:
    array, carrier = circuit.array, circuit.reduction.cycle.frequency / (2 * np.pi * circuit.natural_s)
    design = {
        name: value for name, value in config.model_dump(exclude_defaults=True).items() if value is not None
    }
    counted = "tokens i, j count from 0, padded ones included"
    if array.dynamics != "pair":
        counted = "oscillators count the tokens from 0 that are not padded"
    return [
        f"* {array.dynamics} layer: {len(batches)} of {array.batches} batches of {array.size} oscillators",
        f"* the layer: {census(array)}; {counted}",
        f"* family {config.family}, model {config.model}, coupler {circuit.oscillator.coupler}",
        f"* options: {', '.join(f'{name}={value}' for name, value in design.items()) or 'all default'}",
        f"* one oscillator: {made.description}",
        f"* carrier {number(carrier)} Hz, unit of time {number(circuit.natural_s)} s, of voltage "
        f"{number(config.voltage_v)} V, impedance {number(config.impedance_ohm)} ohm",
        f"* strongest coupling {circuit.strength:.4g} of the carrier; amplitudes recover at "
        f"{circuit.reduction.contraction:.4g} per radian",
        f"* {window.cycles:g} carrier cycles, states saved from cycle {window.saved_from:g} on",
        *(f"* warning: {warning}" for warning in circuit.warnings),
    ]


def _note(circuit: Circuit, batch: int, index: int) -> str:
    count = circuit.array.size // 2
    if circuit.array.dynamics != "clamped":
        return f", starts at phase {circuit.array.start[batch, index]:.6g} rad"
    return f" (drives {index - count})" if index >= count else " (driven)"


def _coupling_notes(circuit: Circuit, batch: int) -> list[str]:
    """Pull relative to the carrier, and the code it was programmed with where couplers have codes."""
    kappa, made = circuit.kappa[circuit.matrix[batch]], circuit.chip.couplers
    pull = kappa * circuit.reduction.coupling.strength / circuit.reduction.cycle.frequency
    codes = None if made.codes is None else made.codes[circuit.array.matrix[batch]]
    notes = []
    for i, j in zip(*np.nonzero(pull if codes is None else codes), strict=True):
        code = "" if codes is None else f", code {codes[i, j]:+d}"
        notes.append(f"* {i} {j}: {pull[i, j]:+.6g}{code}")
    return notes


def _analysis(circuit: Circuit, config: SpiceConfig, window: Window) -> list[str]:
    cycle = 2.0 * np.pi / circuit.reduction.cycle.frequency * circuit.natural_s
    volt, farad = config.voltage_v, circuit.natural_s / config.impedance_ohm
    step = cycle / config.steps
    return [
        f".options method={config.method} reltol={number(config.reltol)} numdgt=12",
        f"+ abstol={number(SMALLEST * volt / config.impedance_ohm)} vntol={number(SMALLEST * volt)}"
        f" chgtol={number(SMALLEST * volt * farad)}",
        "* largest step last; initial conditions are those of the elements (uic)",
        f".tran {number(step)} {number(window.cycles * cycle)} {number(window.saved_from * cycle)} "
        f"{number(step)} uic",
    ]


def _measurements(circuit: Circuit, made: Behavioural | Transistors, batch: int, window: Window) -> list[str]:
    """Period and amplitude of every oscillator; phase of the first less its own, modulo one turn."""
    turns = int(np.clip(window.cycles - window.saved_from - 2, 1, MEASURED_TURNS))
    lines = ["* period (s), largest voltage (V), phase of oscillator 0 less that of i (rad, modulo one turn)"]
    for index in range(circuit.array.size):
        at, (vector, level) = f"{batch}_{index}", made.crossing(batch, index)
        begin, end = f"begin{at}", f"end{at}"
        lines += [
            f".measure tran {begin} WHEN {vector}={number(level)} RISE=1",
            f".measure tran {end} WHEN {vector}={number(level)} RISE={1 + turns}",
            f".measure tran period{at} PARAM='({end}-{begin})/{turns}'",
            f".measure tran high{at} MAX {vector}",
        ]
        if index:
            difference = f"{2.0 * np.pi:.11g}*({begin}-begin{batch}_0)/period{at}"
            lines.append(f".measure tran psi{at} PARAM='{difference}'")
    return lines
