"""What to change when a format is too coarse: the smallest value of an option with which the layer lowers."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from hw_targets.lava.config import LavaConfig
from oscsim.errors import LoweringError

# The most that a configuration offers, on a chip.
MOST = {
    "steps_per_turn": 1024,
    "phase_bits": 24,
    "sine_bits": 16,
    "payload_bits": 24,
    "parameter_bits": 20,
    "weight_bits": 8,
}


class TooCoarse(LoweringError):
    """A refusal with a cure to look for.

    Parameters
    ----------
    reason : what is wrong and which options to widen, in words.
    options : those options, the most promising first.
    """

    def __init__(self, reason: str, *options: str) -> None:
        super().__init__(reason)
        self.options = options


def with_enough(coarse: TooCoarse, given: LavaConfig, lower: Callable[[LavaConfig], Any]) -> LoweringError:
    """The refusal, with the first option that cures it alone and its smallest value, found by lowering.

    Parameters
    ----------
    given : configuration as given. lower : raises LoweringError while the layer still does not fit.
    """
    for option in coarse.options:
        for value in _wider(option, given):
            try:
                changed = type(given)(**{**given.model_dump(exclude_unset=True), option: value})
                lower(changed)
            except (ValidationError, LoweringError):
                continue
            return LoweringError(f"{coarse} ({option}={value} is enough)")
    return LoweringError(str(coarse))


def _wider(option: str, given: LavaConfig) -> list[int]:
    """Values above the given one, the smallest first; of an option left open, all of them."""
    now = getattr(given, option)
    if option == "steps_per_turn":
        return [1 << k for k in range(4, 11) if now is None or 1 << k > now]
    lowest = type(given).model_fields[option].metadata[0].ge if now is None else now + 1
    return list(range(lowest, MOST[option] + 1))
