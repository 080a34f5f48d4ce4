"""The rows of an energy report: a layer as oscillators, as every target's plan, and as digital arithmetic."""

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
from oscsim.energy.constants import Book, ConstantError
from oscsim.energy.estimate import EnergyError, Estimate, Refusal, Scope, estimate
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.noise import NoiseFloor, noise_floor, verdict
from oscsim.energy.oscillator_terms import BOUNDARY, clocked, oscillator_scope, oscillator_terms
from oscsim.energy.plan_counts import PlanCounts
from oscsim.energy.row import Row
from oscsim.energy.schedule import Schedule, schedule
from oscsim.spec import PhaseLayerSpec

_GPU, _NEUROMORPHIC = "triton", "lava"


def array_row(
    spec: PhaseLayerSpec,
    hardware: OscillatorHardware,
    book: Book,
    dynamics: Literal["pair", "network", "clamped"],
) -> Row:
    """The layer as an array of oscillators, with its schedule and noise floor."""
    label = f"{hardware.family}, {hardware.node_nm:g} nm, {dynamics}"
    try:
        plan = schedule(spec, hardware, dynamics)
        chosen = clocked(hardware, plan.carrier_hz)
        answer = _oscillators(oscillator_scope(chosen, plan), plan.counts, spec, chosen, book)
    except (EnergyError, ConstantError) as error:
        return Row(label, "oscillators", Refusal(label, str(error)))
    floor = _floor(label, chosen, plan, book)
    said = "" if isinstance(floor, Refusal) else verdict(answer, floor)
    return Row(label, "oscillators", answer, plan, floor, said)


def target_row(
    name: str,
    plan: PlanCounts | Refusal,
    spec: PhaseLayerSpec,
    hardware: OscillatorHardware,
    book: Book,
    device: str,
) -> Row:
    """What the plan of one target counts, priced as the hardware that it stands for.

    Parameters
    ----------
    device : GPU of target triton.
    """
    if isinstance(plan, Refusal):
        return Row(f"{name}: its plan", "target", plan)
    if name == _GPU:
        answer = gpu_estimate(plan.counts, book, device, plan.accuracy)
        return Row(f"{name}: {device.upper()} at its best", "target", answer)
    if name == _NEUROMORPHIC:
        answer = loihi_estimate(plan.counts, book, plan.accuracy, hardware.accuracy)
        return Row(f"{name}: Loihi 1 energies", "target", answer)
    label = f"{name}: as {hardware.family}, {hardware.node_nm:g} nm"
    notes = (f"{name}: oscillators, cycles and resolutions of its own plan, priced as this hardware",)
    scope = Scope(label, "estimate", BOUNDARY, plan.accuracy, (), notes)
    try:
        answer = _oscillators(scope, plan.counts, spec, clocked(hardware, spec.carrier_hz), book)
    except ConstantError as error:
        answer = Refusal(label, str(error))
    return Row(label, "target", answer)


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
    if spec.dynamics != "clamped":
        missing = rest_left_out(spec, book)
        if missing:
            scope = _with_boundary(scope, SYNCHRONIZATION_ONLY, missing)
        else:
            rest, more = digital_rest(spec)
            counts, terms = counts + rest, [*terms, *more]
            scope = _with_boundary(scope, "digital rest", ())
    return estimate(scope, counts, terms, book)


def _with_boundary(scope: Scope, what: str, left_out: tuple[tuple[str, str], ...]) -> Scope:
    where, _, rest = scope.boundary.partition(":")
    return replace(
        scope, boundary=f"{where}, {what}:{rest}", left_out=(*scope.left_out, *left_out)
    )  # fmt: skip


def _floor(label: str, hardware: OscillatorHardware, plan: Schedule, book: Book) -> NoiseFloor | Refusal:
    try:
        return noise_floor(hardware, plan, book)
    except ConstantError as error:
        return Refusal(label, str(error))
