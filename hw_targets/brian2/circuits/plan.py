"""The printable plan of a circuit layer."""

from typing import Any

import numpy as np

from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import CircuitLowering, lower
from hw_targets.brian2.circuits.schedule import BatchClass
from hw_targets.brian2.plan import layer_section, tidy
from oscsim.circuits import timing
from oscsim.circuits.cells import census
from oscsim.circuits.components import amplitude_v, component_table
from oscsim.circuits.events import circuit_counts
from oscsim.circuits.promise import floor
from oscsim.io import jsonable_float
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan


def lower_layer(spec: PhaseLayerSpec, config: CircuitConfig) -> tuple[Plan, CircuitLowering]:
    """Lower one layer; pure, imports no backend.

    Raises
    ------
    LoweringError
        see :func:`oscsim.circuits.lower_circuit`.
    """
    lowered = lower(spec, config)
    accuracy = lowered.accuracy
    entries = (
        ("layer", layer_section(spec)),
        ("config", config.model_dump()),
        ("circuit", _circuit(lowered)),
        ("components", {part.name: part.row for part in component_table(lowered.circuit)}),
        ("chip", lowered.circuit.chip.entries() | {"imperfections": list(config.imperfect)}),
        ("integrator", _integrator(lowered)),
        ("classes", {f"class_{part.number}": _class(lowered, part) for part in lowered.classes}),
        ("arrays", _arrays(lowered)),
        ("counts", circuit_counts(lowered.circuit, lowered.carrier_hz, lowered.end).entry),
        ("accuracy", {name: getattr(accuracy, name) for name in accuracy.__dataclass_fields__}),
    )
    return Plan("circuit", spec.digest, tuple((name, tidy(part)) for name, part in entries)), lowered


def _circuit(lowered: CircuitLowering) -> dict[str, Any]:
    circuit, reduction = lowered.circuit, lowered.circuit.reduction
    batches = lowered.classes[0].batches[:1]
    return {
        "family": lowered.config.family,
        "coupler": circuit.oscillator.coupler,
        "equations": lowered.equations(batches).text.splitlines(),
        "oscillators": circuit.capacitance.size,
        "batches": circuit.array.batches,
        "made_of": census(circuit.array),
        "amplitude_v": amplitude_v(circuit),
        "epsilon": circuit.strength,
        "contraction_per_radian": round(reduction.contraction, 6),
        "epsilon_over_contraction": round(circuit.strength / reduction.contraction, 6),
        "coupling_strength_b1": reduction.coupling.strength,
        "lag_degrees": round(float(np.degrees(circuit.coupling.lag)), 6),
        "floor_against_closed_form": round(floor(circuit), 9),
        "natural_unit_s": circuit.natural_s,
        "warnings": list(circuit.warnings),
    }


def _integrator(lowered: CircuitLowering) -> dict[str, Any]:
    ticks, circuit = lowered.ticks, lowered.circuit
    error = timing.step_error(circuit.reduction, 1024.0 / max(1, round(1024.0 * ticks.dt_cycles)))
    section = {
        "method": "rk4",
        "order": 4,
        "codegen": "numpy",
        "coupling": "inside the stages, by matrix products",
        "steps_per_cycle": 1.0 / ticks.dt_cycles,
        "dt_s": lowered.dt_s,
        "readings_per_averaged_cycle": ticks.samples,
        "amplitudes_settle_cycles": lowered.skip,
        "duration_cycles": jsonable_float(lowered.end),
        "predicted_oscillator_cycles": sum(_oscillator_cycles(lowered, part) for part in lowered.classes),
    }
    if ticks.samples > 1:
        section["predicted_frequency_error"] = round(error[0], 9)
    return section


def _oscillator_cycles(lowered: CircuitLowering, part: BatchClass) -> float:
    cycles = min(part.predicted, lowered.end, lowered.config.max_cycles)
    return cycles * len(part.batches) * lowered.circuit.array.size


def _class(lowered: CircuitLowering, part: BatchClass) -> dict[str, Any]:
    cycles = lowered.ticks.cycles
    return {
        "batches": len(part.batches),
        "predicted_cycles": jsonable_float(part.predicted),
        "predicted_settling_s": jsonable_float(part.predicted / lowered.carrier_hz),
        "cycles_between_readings": part.spacing * cycles,
        "looks_at_cycles": [look * cycles for look in part.looks],
        "oscillator_cycles": _oscillator_cycles(lowered, part),
    }


def _arrays(lowered: CircuitLowering) -> dict[str, Any]:
    circuit = lowered.circuit
    arrays: dict[str, Any] = {
        "couplers_s": lowered.parts.coupler_s,
        "capacitance_f": lowered.parts.capacitance_f,
        "start": circuit.array.start,
        "matrix": circuit.matrix.astype(float),
        "cell": circuit.array.cell.astype(float),
    }
    return arrays if circuit.drive is None else arrays | {"drive": circuit.drive}
