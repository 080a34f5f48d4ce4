"""What to set where a clock is too fast for oscillators: only what an option takes and what then works."""

import math

from oscsim.circuits.validity import rounded_up
from oscsim.energy.hardware import OscillatorHardware
from oscsim.errors import ConfigError
from oscsim.spec import PhaseLayerSpec

Clocked = tuple[float, float, float]


def slower(spec: PhaseLayerSpec, hardware: OscillatorHardware, clocked: Clocked, factor: float) -> str:
    """Ways to a time unit of so many times as many carrier cycles, each enough by itself, in words.

    Parameters
    ----------
    clocked : carrier_hz, time_unit_s and epsilon as they are; epsilon 0: nothing is coupled.
    factor : by which the time unit has to be longer, at least 1.
    """
    carrier_hz, time_unit_s, epsilon = clocked
    ways = [_time_unit(hardware, rounded_up(time_unit_s * factor))]
    if epsilon > 0.0:
        instead = "" if hardware.time_unit_s is None else " instead of --time-unit-s"
        ways.append(_way("epsilon", _rounded_down(epsilon / factor), instead))
    if hardware.epsilon is None:  # with it, a faster carrier has a shorter time unit
        ways.append(_way("carrier_hz", rounded_up(carrier_hz * factor)))
    possible = [way for way in ways if way]
    return f"set {', or '.join(possible)}" if possible else "no clock that can be set is slow enough"


def _time_unit(hardware: OscillatorHardware, time_unit_s: float) -> str:
    """As an option here; where no option of the clock is given, also as one of oscsim export."""
    if hardware.epsilon is not None:
        return _way("time_unit_s", time_unit_s, " instead of --epsilon")
    exported = f" (in oscsim export: --time-unit {time_unit_s:g})" if hardware.time_unit_s is None else ""
    return _way("time_unit_s", time_unit_s, exported)


def _way(field: str, value: float, more: str = "") -> str:
    """A value as an option, "" where the option does not take it."""
    try:
        OscillatorHardware.of(**{field: value})
    except ConfigError:
        return ""
    return f"--{field.replace('_', '-')} {value:g}{more}"


def _rounded_down(value: float) -> float:
    """Two digits of a positive number, not above it."""
    digit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.floor(value / digit * (1.0 + 1e-9)) * digit:.2g}")
