"""The printable plan of a layer as netlists."""

import hashlib
import re
from collections import Counter
from typing import Any

import numpy as np

from hw_targets.spice.config import SpiceConfig
from hw_targets.spice.lowering import Job, Lowered, lower
from hw_targets.spice.netlist import Window, blocks, netlist
from hw_targets.spice.transistor_table import transistor_components, transistor_facts
from hw_targets.spice.transistors import Transistors
from oscsim.circuits.cells import census
from oscsim.circuits.components import amplitude_v, component_table
from oscsim.circuits.events import circuit_counts
from oscsim.io import jsonable_float
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan, Row

_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?")


def lower_layer(spec: PhaseLayerSpec, config: SpiceConfig) -> tuple[Plan, Lowered]:
    """Lower one layer; pure, runs no program.

    Raises
    ------
    LoweringError
        see :func:`hw_targets.spice.lowering.lower`.
    """
    lowered = lower(spec, config)
    jobs = lowered.jobs(np.arange(lowered.circuit.array.batches), lowered.wanted)
    accuracy = lowered.accuracy
    entries = (
        ("layer", _layer(spec)),
        ("config", config.model_dump()),
        ("circuit", _circuit(lowered)),
        ("components", _components(lowered)),
        ("chip", lowered.circuit.chip.entries()),
        ("simulation", _simulation(lowered, jobs)),
        ("exported", _exported(lowered)),
        ("netlists", _netlists(spec, lowered, jobs)),
        ("counts", circuit_counts(lowered.circuit, lowered.carrier_hz, lowered.end).entry),
        ("accuracy", {name: getattr(accuracy, name) for name in accuracy.__dataclass_fields__}),
    )
    return Plan("spice", spec.digest, tuple((name, _tidy(part)) for name, part in entries)), lowered


def layer_netlist(spec: PhaseLayerSpec, lowered: Lowered) -> str:
    """The whole layer as one netlist, for ``ngspice -b FILE``: all batches, as long as the slowest needs."""
    job = _whole(lowered)
    lines = netlist(lowered.circuit, lowered.config, title(spec), job.batches.tolist(), job.window)
    return "\n".join([*lines, ".end"]) + "\n"


def _whole(lowered: Lowered) -> Job:
    cycles = float(lowered.wanted.max())
    window = Window(cycles, max(0.0, cycles - SHOWN_CYCLES))
    return Job(np.arange(lowered.circuit.array.batches), window)


def _exported(lowered: Lowered) -> dict[str, Any]:
    """Of the netlist that ``export`` writes."""
    job = _whole(lowered)
    return {
        "cycles": job.window.cycles,
        "saved_from_cycle": job.window.saved_from,
        "predicted_s": float(f"{lowered.predicted_s(job):.2g}"),
    }


SHOWN_CYCLES = 24.0
"""Carrier cycles at its end that an exported netlist saves and measures."""


def title(spec: PhaseLayerSpec) -> str:
    """First line of a netlist."""
    return f"oscsim layer {spec.digest}"


def _layer(spec: PhaseLayerSpec) -> dict[str, Any]:
    return {
        "dynamics": spec.dynamics,
        "mask": spec.mask,
        "heads": spec.n_heads,
        "oscillators": spec.n_oscillators,
        "padded": int((~spec.valid).sum()),
        "channels": spec.n_channels,
        "time_unit_s": spec.time_unit_s,
        "carrier_hz": spec.carrier_hz,
    }


def _circuit(lowered: Lowered) -> dict[str, Any]:
    circuit, reduction = lowered.circuit, lowered.circuit.reduction
    made = blocks(circuit, lowered.config)
    return {
        "family": lowered.config.family,
        "model": lowered.config.model,
        "coupler": circuit.oscillator.coupler,
        "one_oscillator": made.description,
        "oscillators": circuit.capacitance.size,
        "batches": circuit.array.batches,
        "made_of": census(circuit.array),
        "amplitude_v": amplitude_v(circuit),
        **(transistor_facts(made) if isinstance(made, Transistors) else {}),
        "epsilon": circuit.strength,
        "contraction_per_radian": reduction.contraction,
        "epsilon_over_contraction": circuit.strength / reduction.contraction,
        "coupling_strength_b1": reduction.coupling.strength,
        "lag_degrees": np.degrees(circuit.coupling.lag),
        "natural_unit_s": circuit.natural_s,
        "warnings": list(circuit.warnings),
    }


def _components(lowered: Lowered) -> dict[str, Any]:
    made = blocks(lowered.circuit, lowered.config)
    table = transistor_components(made) if isinstance(made, Transistors) else component_table(lowered.circuit)
    return {part.name: part.row for part in table}


def _simulation(lowered: Lowered, jobs: list[Job]) -> dict[str, Any]:
    config = lowered.config
    return {
        "method": config.method,
        "reltol": config.reltol,
        "largest_step_s": 1.0 / (lowered.carrier_hz * config.steps),
        "amplitudes_settle_cycles": lowered.skip,
        "duration_cycles": jsonable_float(lowered.end),
        "oscillator_cycles": sum(j.window.cycles * len(j.batches) for j in jobs) * lowered.circuit.array.size,
        "predicted_s": float(f"{sum(lowered.predicted_s(job) for job in jobs):.2g}"),
        "longest_cycles": config.max_cycles,
    }


def _netlists(spec: PhaseLayerSpec, lowered: Lowered, jobs: list[Job]) -> dict[str, Any]:
    """Every netlist of a first run: cycles, elements, digest; what has not settled runs twice as long."""
    entries = {}
    for number, job in enumerate(jobs):
        lines = netlist(lowered.circuit, lowered.config, title(spec), job.batches.tolist(), job.window)
        cards = [line for line in lines if line[:1].isalpha()]
        entries[f"netlist_{number}"] = {
            "batches": len(job.batches),
            "cycles": job.window.cycles,
            "saved_from_cycle": job.window.saved_from,
            "elements": dict(sorted(Counter(card[0] for card in cards).items())),
            "digest": _digest(lines),
        }
    return entries


def _digest(lines: list[str]) -> str:
    """Digest of a text whose numbers are rounded to eight digits: the last ones depend on the processor."""
    text = _NUMBER.sub(lambda found: f"{float(found.group()):.8g}", "\n".join(lines))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _tidy(value: Any) -> Any:
    """Plain JSON: nine digits of every float."""
    if isinstance(value, Row):  # rounded where it was made
        return value
    if isinstance(value, dict):
        return {name: _tidy(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_tidy(part) for part in value]
    return jsonable_float(float(f"{value:.9g}")) if isinstance(value, float) else value
