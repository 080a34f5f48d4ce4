"""What a plan does, counted: a closed vocabulary of events, which the energy model prices."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from oscsim.errors import OscsimError

# event -> (unit of one count, what the part after the dot says, meaning). A detail of "" means there is none.
EVENTS: dict[str, tuple[str, str, str]] = {
    "oscillators": ("oscillator", "", "physical oscillators that are built"),
    "oscillator_cycles": ("cycle", "", "periods of the carrier, summed over oscillators"),
    "couplers": ("coupler", "bits", "physical couplers that are built, by resolution"),
    "coupling_cycles": ("cycle", "bits", "periods of the carrier, summed over couplers"),
    "wire_spans": ("span", "", "wire between oscillators and couplers, in cell pitches"),
    "wire_span_cycles": ("cycle", "", "periods of the carrier, summed over wire spans"),
    "array_seconds": ("s", "", "time for which the whole array is powered"),
    "programming_writes": ("write", "bits", "parameters written: tuning and coupling codes"),
    "dac_conversions": ("conversion", "bits", "digital to analog conversions"),
    "phase_conversions": ("conversion", "bits", "phase read-outs"),
    "neuron_updates": ("update", "", "updates of a neuron's state"),
    "sine_lookups": ("lookup", "", "look-ups of a sine table inside neuron updates"),
    "synaptic_operations": ("operation", "dense|sparse", "a spike times a weight, accumulated"),
    "spikes": ("spike", "", "spikes generated"),
    "messages": ("message", "", "spike messages accepted by a core"),
    "hops": ("hop", "", "router to router transfers of a message"),
    "time_steps": ("step", "", "synchronised time steps of the chip"),
    "multiply_accumulates": ("operation", "precision", "a product added to a sum"),
    "additions": ("operation", "precision", "additions"),
    "multiplications": ("operation", "precision", "multiplications"),
    "special_functions": ("operation", "precision", "exponentials, roots, sines, divisions"),
    "bytes": ("byte", "level", "bytes moved to or from a level of memory"),
}


class CountError(OscsimError, ValueError):
    """An event outside the vocabulary, or an impossible number of it."""


class Counts(Mapping[str, float]):
    """How often each event happens: pure numbers, no joules, no backend.

    Keys are ``event`` or ``event.detail``, as ``coupling_cycles.6`` (6-bit couplers), ``bytes.hbm``.

    Raises
    ------
    CountError
        an event that is not in ``EVENTS``, a missing or surplus detail, a negative or infinite count.

    >>> counts = Counts({"oscillators": 4, "coupling_cycles.6": 120.0, "coupling_cycles.8": 30.0})
    >>> counts["oscillators"], counts.total("coupling_cycles"), counts.details("coupling_cycles")
    (4.0, 150.0, ('6', '8'))
    >>> Counts({"joules": 1})
    Traceback (most recent call last):
        ...
    oscsim.counts.CountError: event 'joules': unknown; events are oscillators, oscillator_cycles, couplers, \
coupling_cycles, wire_spans, wire_span_cycles, array_seconds, programming_writes, dac_conversions, \
phase_conversions, neuron_updates, sine_lookups, synaptic_operations, spikes, messages, hops, time_steps, \
multiply_accumulates, additions, multiplications, special_functions, bytes
    """

    def __init__(self, numbers: Mapping[str, float]) -> None:
        self._numbers = {name: _checked(name, number) for name, number in numbers.items()}

    def __getitem__(self, name: str) -> float:
        return self._numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __repr__(self) -> str:
        return f"Counts({self._numbers})"

    def total(self, event: str) -> float:
        """All counts of one event, whatever their detail; 0 where there are none."""
        return sum(number for name, number in self.items() if name.partition(".")[0] == event)

    def details(self, event: str) -> tuple[str, ...]:
        """The details under which an event is counted, in order."""
        return tuple(name.partition(".")[2] for name in self if name.partition(".")[0] == event)

    def with_(self, **numbers: float) -> "Counts":
        """These counts with some events (without detail) replaced or added."""
        return Counts({**self._numbers, **numbers})

    def times(self, factor: float) -> "Counts":
        """Every count multiplied by a number, as for many layers or repetitions."""
        return Counts({name: factor * number for name, number in self.items()})

    def __add__(self, other: "Counts") -> "Counts":
        names = dict.fromkeys((*self, *other))
        return Counts({name: self.get(name, 0.0) + other.get(name, 0.0) for name in names})

    @property
    def entry(self) -> dict[str, Any]:
        """For plans: whole numbers as integers, others to nine digits (the rest depends on the processor)."""
        return {name: int(n) if n == int(n) else float(f"{n:.9g}") for name, n in self.items()}


def unit(name: str) -> str:
    """Unit of one count of an event.

    >>> unit("bytes.hbm"), unit("array_seconds")
    ('byte', 's')
    """
    return EVENTS[name.partition(".")[0]][0]


def in_words(name: str) -> str:
    """An event for people.

    >>> in_words("coupling_cycles.7"), in_words("bytes.hbm"), in_words("array_seconds")
    ('coupling cycles (7 bits)', 'bytes (hbm)', 'array seconds')
    """
    event, _, detail = name.partition(".")
    words, said = event.replace("_", " "), detail.replace("_", ".")
    suffix = " bits" if EVENTS[event][1] == "bits" else ""
    return f"{words} ({said}{suffix})" if detail else words


def _checked(name: str, number: float) -> float:
    event, _, detail = name.partition(".")
    if event not in EVENTS:
        raise CountError(f"event '{event}': unknown; events are {', '.join(EVENTS)}")
    expected = EVENTS[event][1]
    if bool(detail) != bool(expected):
        what = f"expected '{event}.<{expected}>'" if expected else f"expected '{event}' alone"
        raise CountError(f"event '{name}': {what}")
    if expected == "bits" and not detail.replace("_", "").isdigit():
        raise CountError(f"event '{name}': given {detail!r}, expected a whole number of bits")
    if isinstance(number, bool) or not (math.isfinite(number) and number >= 0.0):
        raise CountError(f"event '{name}': given {number!r}, expected a finite number >= 0")
    return float(number)
