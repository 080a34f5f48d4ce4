"""Options that a layer has no use for are refused: nothing that somebody sets is ignored."""

from hw_targets.lava.config import LavaConfig
from oscsim.errors import LoweringError
from oscsim.spec import PhaseLayerSpec

# Options of synapses, which cells do not have.
OF_SYNAPSES = ("weight_bits", "gain_shift", "synapses")


def refuse_unused(spec: PhaseLayerSpec, config: LavaConfig) -> None:
    """Refuse options whose value, other than the default, would change nothing for these dynamics.

    Raises
    ------
    LoweringError
        names the option and what it belongs to.
    """
    synapses = config.held_sources == "synapses" if spec.dynamics == "clamped" else spec.dynamics == "network"
    belongs: list[tuple[str, str]] = []
    if not synapses:
        belongs += [(option, "synapses") for option in OF_SYNAPSES]
    if spec.dynamics != "network":
        belongs.append(("delay_steps", "networks, whose oscillators move while a spike travels"))
    if spec.dynamics != "clamped":
        belongs.append(("held_sources", "clamped layers"))
    for option, of in belongs:
        default, given = LavaConfig.model_fields[option].default, getattr(config, option)
        if given != default:
            raise LoweringError(
                f"{option}: given {given!r}, but it belongs to {of}; {_kind(spec, synapses)} has no use for "
                f"it; leave it at {default!r}"
            )


def _kind(spec: PhaseLayerSpec, synapses: bool) -> str:
    if spec.dynamics != "clamped":
        return f"a {spec.dynamics} layer"
    if synapses:
        return "a clamped layer, whose sources stand still,"
    return "a clamped layer with folded sources (held_sources='synapses' has synapses)"
