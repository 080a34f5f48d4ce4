"""The fields of OscillatorHardware as options of a command: each said once, here."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from oscsim.energy.hardware import OscillatorHardware

# field -> (option, what it is); the default is the field's own
OPTIONS: dict[str, tuple[str, str]] = {
    "family": ("--family", "Oscillators: ring, lc or relaxation."),
    "node_nm": ("--node", "CMOS technology, nm."),
    "vdd_v": ("--vdd", "Supply, V; default: that of the node."),
    "stages": ("--stages", "Of a ring; odd."),
    "width_um": ("--width-um", "Transistor width of one stage of a ring, n and p together, um."),
    "quality_factor": ("--quality-factor", "Of an LC tank."),
    "impedance_ohm": ("--impedance-ohm", "Of an LC tank, sqrt(L/C)."),
    "cell": ("--cell", "A pair is one oscillator at a clean reference (injection), or two (mutual)."),
    "coupling_bits": ("--coupling-bits", "Of a coupler; default: what --accuracy needs."),
    "readout_bits": ("--readout-bits", "Of the phase read-out; default: what --accuracy needs."),
    "activity": ("--activity", "Share of its period during which a coupler switches."),
    "accuracy": ("--accuracy", "Wanted error of S: sets settling times, and bits that are not given."),
    "edge_band": ("--edge-band", "Pairs with |d/|a| - 1| up to this are left out, and counted."),
    "carrier_hz": ("--carrier-hz", "Instead of the layer's."),
    "time_unit_s": ("--time-unit-s", "Instead of the layer's."),
    "epsilon": ("--epsilon", "Strongest coupling over the carrier; instead of a time unit."),
    "cell_clock": ("--cell-clock", "Time unit of pair cells: the layer's (layer), or one each (own)."),
    "read_out": ("--read-out", "Average of a turning pair: over a window, or over whole beats."),
    "stop": ("--stop", "All oscillators run until the slowest is done (together), or each stops alone."),
    "temperature_k": ("--temperature-k", "Of the noise floor, K."),
}


def with_hardware(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one option per field in place of its parameter ``hardware``.

    The command gets what the user gave, as ``{field: value}``; fields that were not given are not in it.
    """
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        parameters += map(_parameter, OPTIONS) if parameter.name == "hardware" else [parameter]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        options = {name: given.pop(name) for name in OPTIONS}
        command(hardware={name: value for name, value in options.items() if value is not None}, **given)

    with_options.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    return with_options


def option_of(field: str) -> str:
    """How a user spells a field.

    >>> option_of("node_nm")
    '--node'
    """
    return OPTIONS[field][0]


def _parameter(name: str) -> inspect.Parameter:
    option, said = OPTIONS[name]
    field = OscillatorHardware.model_fields[name]
    kind = next(part for part in (*get_args(field.annotation), field.annotation) if part is not type(None))
    if field.default is not None:
        said = f"{said[:-1]}; default: {_shown(field.default)}."
    hint = Annotated[_option_type(field.annotation, kind) | None, typer.Option(option, help=said)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)


def _option_type(annotation: Any, kind: Any) -> Any:
    """Words are checked with the other fields, so that every message reads alike."""
    return str if get_origin(annotation) is Literal else kind


def _shown(default: Any) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)
