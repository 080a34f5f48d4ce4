"""A configuration in which nothing is open any more (hw_targets/lava/converter.py fills it in)."""

from typing import Any

from hw_targets.lava.config import FIXED_POINT_OPTIONS, LavaConfig


class Picked(LavaConfig):
    """A configuration with nothing left open; options as in LavaConfig (gains pick their own shift)."""

    steps_per_turn: int = 64  # pyright: ignore[reportIncompatibleVariableOverride]
    payload_bits: int = 16  # pyright: ignore[reportIncompatibleVariableOverride]

    def having(self, **values: int) -> "Picked":
        """The same configuration with other values, unchecked: they are lowering's own.

        >>> Picked().having(payload_bits=12).payload_bits
        12
        """
        # construct: floating point has no payload, and validation would take the pick for a given option
        return Picked.model_construct(**{**dict(self), **values})

    def settings(self, gain_shift: int | None) -> dict[str, Any]:
        """Options that make the same run again, whatever a later version would pick: nothing is left open.

        Parameters
        ----------
        gain_shift : the exponent of the gains in fixed point; None where nothing has a gain.

        >>> Picked().settings(gain_shift=12)["gain_shift"]
        12
        """
        options = {**self.model_dump(), "gain_shift": gain_shift}
        absent = FIXED_POINT_OPTIONS if self.number_format == "floating_point" else ()
        return {name: value for name, value in options.items() if name not in absent}
