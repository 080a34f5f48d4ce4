"""What lowering picks where the configuration leaves it open: step of time, width of spikes."""

from hw_targets.lava.config import LavaConfig
from oscsim.spec import PhaseLayerSpec


class Picked(LavaConfig):
    """A configuration with nothing left open; options as in LavaConfig (gains pick their own shift)."""

    steps_per_turn: int = 64  # pyright: ignore[reportIncompatibleVariableOverride]
    payload_bits: int = 16  # pyright: ignore[reportIncompatibleVariableOverride]


def picked(spec: PhaseLayerSpec, config: LavaConfig) -> Picked:
    """The configuration with every open option filled in for this layer."""
    picks = {"steps_per_turn": config.steps_per_turn or 64, "payload_bits": config.payload_bits or 16}
    # construct: floating point has no payload, and validation would take the pick for a given option
    return Picked.model_construct(**{**dict(config), **picks})
