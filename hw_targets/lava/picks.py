"""A configuration in which nothing is open any more (hw_targets/lava/converter.py fills it in)."""

from hw_targets.lava.config import LavaConfig


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
