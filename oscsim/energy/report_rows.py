"""The rows of an energy report: a layer as oscillators, as every target's plan, and as digital arithmetic."""

import re
from dataclasses import replace
from typing import Literal

from oscsim.counts import Counts
from oscsim.energy.baselines import (
    digital_estimate,
    digital_rest,
    gpu_estimate,
    loihi_estimate,
    rest_left_out,
)
from oscsim.energy.baselines.digital import SYNCHRONIZATION_ONLY
from oscsim.energy.baselines.pricing import accuracy_note
from oscsim.energy.constants import Book, ConstantError
from oscsim.energy.estimate import EnergyError, Estimate, Refusal, Scope, estimate
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.noise import NoiseFloor, noise_floor, verdict
from oscsim.energy.oscillator_terms import BOUNDARY, clocked, oscillator_scope, oscillator_terms
from oscsim.energy.plan_counts import PlanCounts
from oscsim.energy.readout_bits import check_readout
from oscsim.energy.resolution import check_tuning
from oscsim.energy.row import Row
from oscsim.energy.schedule import Schedule, schedule
from oscsim.spec import PhaseLayerSpec

_GPU, _NEUROMORPHIC = "triton", "lava"
_REST = "7 nm logic"
# Options of an array that no plan of a target knows; what else they have prices the plan's counts.
_UNHEARD = (
    "cell", "coupling_bits", "readout_bits", "accuracy", "edge_band", "cell_clock", "read_out", "stop",
)  # fmt: skip
_SCALED = re.compile(r"_\d+(\.\d+)?nm$")


def array_row(
    spec: PhaseLayerSpec,
    hardware: OscillatorHardware,
    book: Book,
    dynamics: Literal["pair", "network", "clamped"],
    plan: Schedule | None = None,
) -> Row:
    """The layer as an array of oscillators, with its schedule and noise floor.

    Parameters
    ----------
    plan : the schedule, where it is known already.
    """
    label = f"{hardware.family}, {hardware.node_nm:g} nm, {dynamics}"
    try:
        plan = plan or schedule(spec, hardware, dynamics)
        check_readout(spec, hardware, plan.readout_bits, book)
        check_tuning(plan.accuracy, plan.tuning_bits)
        chosen = clocked(hardware, plan.carrier_hz)
        answer = _oscillators(oscillator_scope(chosen, plan), plan.counts, spec, chosen, book)
    except (EnergyError, ConstantError) as error:
        return Row(label, "oscillators", Refusal(label, str(error)), plan)
    floor = _floor(label, chosen, plan, book)
    said = "" if isinstance(floor, Refusal) else verdict(answer, floor)
    return Row(label, "oscillators", answer, plan, floor, said)


def target_row(
    name: str,
    plan: PlanCounts | Refusal,
    spec: PhaseLayerSpec,
    array: Row,
    hardware: OscillatorHardware,
    book: Book,
    device: str,
) -> Row:
    """What the plan of one target counts, priced as the hardware that it stands for.

    Parameters
    ----------
    array : the row of the layer as an array of its own dynamics: what cannot be built there cannot be built
        by a plan either, and its slowest locked cell sets the noise floor of both.
    device : GPU of target triton.
    """
    if isinstance(plan, Refusal):
        return Row(f"{name}: its plan", "target", plan)
    if name == _GPU:
        answer = gpu_estimate(plan.counts, book, device, plan.accuracy, hardware.accuracy)
        return Row(answer.name, "target", answer)
    if name == _NEUROMORPHIC:
        answer = loihi_estimate(plan.counts, book, plan.accuracy, hardware.accuracy)
        at_most = "at most " if plan.upper_bound else ""
        return Row(f"{name}: {at_most}Loihi 1 energies", "target", answer)
    return _simulated_row(name, plan, spec, array, hardware, book)


def _simulated_row(
    name: str, plan: PlanCounts, spec: PhaseLayerSpec, array: Row, hardware: OscillatorHardware, book: Book
) -> Row:
    """The oscillators that a target simulates, priced as this hardware."""
    label = f"{name}: as {hardware.family}, {hardware.node_nm:g} nm"
    if array.schedule is None:
        return Row(label, "target", array.answer)
    notes = (
        f"{name}: oscillators, cycles and resolutions of its own plan, priced as this hardware",
        *_unheard(name, hardware),
        *accuracy_note(plan.accuracy, hardware.accuracy),
    )
    scope = Scope(label, "estimate", BOUNDARY, plan.accuracy, (), notes)
    chosen = clocked(hardware, spec.carrier_hz)
    if spec.dynamics == "pair":  # whatever cell the array has: two oscillators of a pair are a mutual one
        mutual = plan.counts["oscillators"] > array.schedule.cells
        chosen = chosen.model_copy(update={"cell": "mutual" if mutual else "injection"})
    try:
        answer = _oscillators(scope, plan.counts, spec, chosen, book)
    except ConstantError as error:
        return Row(label, "target", Refusal(label, str(error)))
    floor = _floor(label, chosen, array.schedule.of_plan(plan.counts, spec, hardware), book)
    said = "" if isinstance(floor, Refusal) else verdict(answer, floor)
    return Row(label, "target", answer, None, floor, said)


def digital_row(spec: PhaseLayerSpec, hardware: OscillatorHardware, book: Book) -> Row:
    """The layer in eight-bit integers."""
    answer = digital_estimate(spec, book, hardware.accuracy)
    return Row(answer.name, "baseline", answer)


def _oscillators(
    scope: Scope, counts: Counts, spec: PhaseLayerSpec, hardware: OscillatorHardware, book: Book
) -> Estimate:
    """The array, and what digital logic makes of S: row normalisation and values, where they have a price.

    The output of a clamped layer are its phases: nothing comes after the read-out.
    """
    terms = oscillator_terms(hardware, counts)
    here = "array"
    if spec.dynamics == "clamped":
        scope = _with_boundary(scope, here, ())
    elif missing := rest_left_out(spec, book):
        scope = _with_boundary(scope, f"{here}, {SYNCHRONIZATION_ONLY}", missing)
    else:
        rest, more = digital_rest(spec)
        counts, terms = counts + rest, [*terms, *more]
        scope = _with_boundary(scope, f"{here} + {_REST}", ())
    answer = estimate(scope, counts, terms, book)
    return replace(answer, notes=(*answer.notes, *_extrapolated(answer, hardware)))


def _with_boundary(scope: Scope, what: str, left_out: tuple[tuple[str, str], ...]) -> Scope:
    details = scope.boundary.partition(":")[2]
    return replace(scope, boundary=f"{what}:{details}", left_out=(*scope.left_out, *left_out))


def _extrapolated(answer: Estimate, hardware: OscillatorHardware) -> tuple[str, ...]:
    """Constants of another node that no rule scales: those with a node that is not in their name."""
    nodes: dict[float, list[str]] = {}
    for name, constant in answer.constants.items():
        if constant.node_nm not in (None, hardware.node_nm) and not _SCALED.search(name):
            nodes.setdefault(constant.node_nm, []).append(name)
    return tuple(f"extrapolated from {node:g} nm: {', '.join(names)}" for node, names in nodes.items())


def _unheard(name: str, hardware: OscillatorHardware) -> tuple[str, ...]:
    """How long the plan of a target runs, and options that were given and that it does not know."""
    own = f"{name}: every cell stops when it has settled by its own plan"
    if hardware.stop == "together":
        own += ", so it may be cheaper than the array, whose cells wait for the slowest"
    given = [f"--{option.replace('_', '-')}" for option in _UNHEARD if option in hardware.model_fields_set]
    return (own, *([f"{name}: its plan does not know {', '.join(given)}"] if given else []))


def _floor(label: str, hardware: OscillatorHardware, plan: Schedule, book: Book) -> NoiseFloor | Refusal:
    try:
        return noise_floor(hardware, plan, book)
    except ConstantError as error:
        return Refusal(label, str(error))
