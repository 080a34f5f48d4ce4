"""What ``oscsim export`` exports: a layer file, or a layer of a model for a passage."""

import math
from enum import StrEnum
from typing import Any

from oscsim.cli import arguments as arg
from oscsim.cli.model_file import load_model
from oscsim.cli.options import read_text
from oscsim.errors import ConfigError
from oscsim.spec import PhaseLayerSpec


class Format(StrEnum):
    """Names that ``export --format`` takes."""

    PHASE = "phase"
    SPICE = "spice"
    LAVA = "lava"


def seconds(given: str) -> float:
    """The number of ``--time-unit``.

    Raises
    ------
    ConfigError
        not a positive number: a unit behind it, for example.
    """
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise ConfigError(f"--time-unit: given {given}, expected seconds, for example 1e-7")
    return value


def saved_layer(source: str, form: Format, model_options: dict[str, Any]) -> PhaseLayerSpec:
    """A .phase file; options that only a model understands are refused.

    Raises
    ------
    ConfigError
        such an option, or a layer that would only be copied.
    """
    if form is Format.PHASE:
        raise ConfigError(
            f"given {source}, a layer already, expected a model file; or add --format spice or lava"
        )
    for option, value in model_options.items():
        if value is not None:
            raise ConfigError(
                f"{option}: given {value} with the layer {source}, where it has no effect; leave it out"
            )
    return PhaseLayerSpec.load(source)


def model_layer(
    source: str,
    text: str | None,
    block: int,
    dynamics: arg.Dynamics | None,
    duration: float | None,
    written: dict[str, str | None],
) -> tuple[PhaseLayerSpec, dict[str, Any]]:
    """A layer of a model for a passage, and facts about the model.

    Raises
    ------
    ConfigError
        no passage, or a duration that the dynamics do not have.
    """
    if text is None:
        raise ConfigError("--text: not given, expected the passage the model reads (TEXT or @FILE)")
    passage = read_text(text)
    model, facts = load_model(source, written)
    fields = {} if duration is None else {"duration": duration}
    layer = model.to_spec(passage, block=block, dynamics=dynamics and str(dynamics), **fields)
    if duration is not None and layer.dynamics != "clamped":
        raise ConfigError(
            f"--duration: given {duration} for a {layer.dynamics} layer; only clamped layers have one"
        )
    return layer, {"checkpoint": facts, "block": block}
