"""The energy of an oscillator array by item: programming, oscillators, couplers, wires, leakage, read-out."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from oscsim.counts import Counts
from oscsim.energy import lc, relaxation, ring
from oscsim.energy.constants import Book
from oscsim.energy.coupler import coupler_energy, coupler_width
from oscsim.energy.estimate import EnergyError, Scope, Term
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.technology import cell_pitch, leakage, node_capacitance, supply, unit_width
from oscsim.energy.units import Quantity, quantity
from oscsim.energy.valuation import Valuation

if TYPE_CHECKING:
    from oscsim.energy.schedule import Schedule

BOUNDARY = (
    "array: oscillators, couplers, wires between them, leakage, programming, read-out; no reference clock, "
    "bias generation, pads or regulators"
)
# No source of the constants gives a limit of speed that holds whatever the sizes of a design.
UNCHECKED_SPEED = "not checked: whether oscillators of this node and size are as fast as the carrier"
_FORMULAS = {
    "ring": "oscillator_cycles N_stage (kappa C_stage) V^2",
    "lc": "oscillator_cycles pi C V_tank^2/(Q efficiency), C = 1/(2 pi f Z)",
    "relaxation": "oscillator_cycles C V^2 swing overhead",
}
# Options that set one constant: (constant, unit, how a user spells the option).
_CHOSEN = {
    "vdd_v": ("supply", "V", "--vdd"),
    "stages": ("ring_stages", "dimensionless", "--stages"),
    "width_um": ("ring_width", "micrometer", "--width-um"),
    "quality_factor": ("tank_quality_factor", "dimensionless", "--quality-factor"),
    "impedance_ohm": ("tank_impedance", "ohm", "--impedance-ohm"),
}
_NEEDS = (("couplers", "coupling_cycles"), ("wire_spans", "wire_span_cycles"))


def cycle_energy(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Energy of one oscillator and one carrier cycle of any family, J, from the supply."""
    family = {"ring": ring, "lc": lc, "relaxation": relaxation}[hardware.family]
    return family.cycle_energy(hardware, v)


def hardware_book(hardware: OscillatorHardware, book: Book) -> Book:
    """The constants with those that an option of the hardware sets, without a range.

    >>> from oscsim.energy import load_constants
    >>> book = hardware_book(OscillatorHardware(stages=7), load_constants())
    >>> book.usable("ring_stages").value, book.usable("ring_stages").citation
    (7.0, 'option --stages')
    """
    for option, (name, unit, spelled) in _CHOSEN.items():
        value = getattr(hardware, option)
        if value is not None:
            book = book.chosen(name, float(value), unit, spelled)
    return book


def clocked(hardware: OscillatorHardware, carrier_hz: float) -> OscillatorHardware:
    """The hardware at a carrier, which the size of a tank depends on: its own, or else that of the layer."""
    return hardware.model_copy(update={"carrier_hz": hardware.carrier_hz or carrier_hz})


def oscillator_scope(hardware: OscillatorHardware, schedule: "Schedule") -> Scope:
    """What an estimate from :func:`oscillator_terms` says about itself."""
    name = f"{hardware.family}, {hardware.node_nm:g} nm, {schedule.dynamics}"
    return Scope(name, "estimate", BOUNDARY, schedule.promised, (), (*schedule.notes, UNCHECKED_SPEED))


def oscillator_terms(hardware: OscillatorHardware, counts: Counts) -> list[Term]:
    """One term for every kind of event that an oscillator array has; together they are its energy.

    Raises
    ------
    EnergyError
        couplers or wires are built and oscillators run, but nothing says how long couplers or wires do.
    """
    _complete(counts)
    return [
        _programming(hardware, counts),
        _conversions("phase setting", "dac_conversions", "phase_setting_step", counts),
        _oscillators(hardware, counts),
        _couplers(hardware, counts),
        _wires(hardware, counts),
        _leakage(hardware, counts),
        _conversions("read-out", "phase_conversions", "phase_readout_step", counts),
    ]


def span_energy(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Energy of one cell pitch of wire and one carrier cycle, J: ``C_wire pitch V_DD^2``."""
    return v("wire_cap") * cell_pitch(hardware, v) * supply(hardware, v) ** 2


def bit_energy(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Energy of storing one bit of a code, J: that of ``latch_units`` unit devices, switched once."""
    unit = node_capacitance(hardware, v, unit_width(hardware, v))
    return v("latch_units") * unit * supply(hardware, v) ** 2


def array_width(hardware: OscillatorHardware, counts: Counts, v: Valuation) -> Quantity:
    """Transistor width of everything that leaks, as if all of it were off.

    Tanks and timing capacitors are driven by transistors that are biased, not off: their current is in the
    efficiency of a tank and in the overhead of a relaxation oscillator.
    """
    couplers = _by_bits(counts, "couplers")
    width = _sum((n * coupler_width(bits, hardware, v) for n, bits in couplers), "micrometer")
    if hardware.family == "ring":
        width = width + counts.get("oscillators", 0.0) * v("ring_stages") * ring.stage_width(hardware, v)
    return width


def _oscillators(hardware: OscillatorHardware, counts: Counts) -> Term:
    cycles = counts.get("oscillator_cycles", 0.0)
    return Term(
        "oscillators", _FORMULAS[hardware.family], lambda v: cycles * cycle_energy(hardware, v),
        ("oscillator_cycles",),
    )  # fmt: skip


def _couplers(hardware: OscillatorHardware, counts: Counts) -> Term:
    cycles = _by_bits(counts, "coupling_cycles")
    return Term(
        "couplers", "coupling_cycles C_c(bits) V^2 activity, C_c of 2^bits - 1 units",
        lambda v: _sum((n * coupler_energy(bits)(hardware, v) for n, bits in cycles), "J"),
        ("coupling_cycles",),
    )  # fmt: skip


def _wires(hardware: OscillatorHardware, counts: Counts) -> Term:
    cycles = counts.get("wire_span_cycles", 0.0)
    return Term(
        "wires", "wire_span_cycles pitch C_wire V^2", lambda v: cycles * span_energy(hardware, v),
        ("wire_spans", "wire_span_cycles"),
    )  # fmt: skip


def _leakage(hardware: OscillatorHardware, counts: Counts) -> Term:
    time = quantity(counts.get("array_seconds", 0.0), "s")
    return Term(
        "leakage", "array_seconds I_off W V, W of ring stages and couplers",
        lambda v: time * leakage(hardware, v, array_width(hardware, counts, v)),
        ("oscillators", "couplers", "array_seconds"),
    )  # fmt: skip


def _programming(hardware: OscillatorHardware, counts: Counts) -> Term:
    written = sum(n * bits for n, bits in _by_bits(counts, "programming_writes"))
    return Term(
        "programming", "programming_writes bits C_bit V^2", lambda v: written * bit_energy(hardware, v),
        ("programming_writes",),
    )  # fmt: skip


def _conversions(name: str, event: str, step: str, counts: Counts) -> Term:
    made = [(n, bits) for n, bits in _by_bits(counts, event) if n > 0.0]
    return Term(
        name, f"{event} E_step 2^bits",
        lambda v: _sum((quantity(n * 2.0**bits, "conversion") * v(step, bits=bits) for n, bits in made), "J"),
        (event,),
    )  # fmt: skip


def _by_bits(counts: Counts, event: str) -> list[tuple[float, float]]:
    """(count, bits) of an event; ``2_3`` is 2.3 bits, five levels."""
    return [(counts[f"{event}.{bits}"], float(bits.replace("_", "."))) for bits in counts.details(event)]


def _sum(quantities: Iterable[Quantity], unit: str) -> Quantity:
    return sum(quantities, quantity(0.0, unit))


def _complete(counts: Counts) -> None:
    if counts.get("oscillator_cycles", 0.0) == 0.0:
        return
    for built, running in _NEEDS:
        if counts.total(built) > 0.0 and counts.total(running) == 0.0:
            raise EnergyError(
                f"counts: {counts.total(built):g} {built} are built and oscillators run, but there are no "
                f"{running}, and they would cost 0 J; count them, or leave the {built} out"
            )
