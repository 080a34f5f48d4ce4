"""What chips read out, on three levels: an ideal sine, the own phase reduction of the family, a circuit."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.lowering import lower_circuit
from oscsim.errors import ConfigError
from oscsim.monte_carlo.networks import read_networks
from oscsim.monte_carlo.pairs import built_weight, read_pairs
from oscsim.monte_carlo.reading import Reading
from oscsim.result import SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec

Simulate = Callable[[PhaseLayerSpec, CircuitDesign], SyncResult]

LEVELS: Mapping[str, str] = MappingProxyType({
    "ideal": "phase oscillators with an exactly sinusoidal coupling: what codes and mismatch do alone",
    "phase": "the family's own phase reduction: its harmonics and lag, to first order in the coupling",
    "circuit": "the whole circuit, simulated",
})  # fmt: skip
# Options of a design that change nothing on a level.
_OF_CIRCUITS = ("impedance_ohm", "voltage_v", "phase_accuracy", "max_cycles")
_OF_FAMILIES = (
    "mu", "shear", "stages", "stage_gain", "threshold", "discharge", "comparator_gain", "comparator_time",
)  # fmt: skip
_NO_EFFECT = {
    "ideal": (*_OF_CIRCUITS, *_OF_FAMILIES, "trim", "device_mismatch", "noise_a_per_sqrt_hz", "noise_seed"),
    "phase": (*_OF_CIRCUITS, "noise_a_per_sqrt_hz", "noise_seed"),
    "circuit": (),
}
_IDEAL_MU = 3.0  # the fastest return to the limit cycle there is: no layer is refused for its sake


def check_level(level: str, spec: PhaseLayerSpec, design: CircuitDesign) -> None:
    """Refuse what a level cannot say anything about.

    Raises
    ------
    ConfigError
        unknown level, an option without effect on it, or clamped dynamics below level "circuit".
    """
    if level not in LEVELS:
        raise ConfigError(f"level: given {level!r}, expected one of {', '.join(LEVELS)}")
    for name in _NO_EFFECT[level]:
        if getattr(design, name) != type(design).model_fields[name].default:
            raise ConfigError(
                f"option '{name}': given {getattr(design, name)!r}, which changes nothing on level {level} "
                f"({LEVELS[level]}); leave it out, or choose another level"
            )
    if spec.dynamics == "clamped" and level != "circuit":
        raise ConfigError(
            f"level: given {level} for a clamped layer, expected circuit: the phase equations of the other "
            "levels are those of pairs and networks"
        )


def read_chips(
    spec: PhaseLayerSpec, designs: Sequence[CircuitDesign], level: str, simulate: Simulate | None = None
) -> list[Reading]:
    """Read-outs of some chips of one layer; they must differ in their seeds only.

    Parameters
    ----------
    simulate : runs a layer as a circuit, for level "circuit".

    Raises
    ------
    ConfigError
        see :func:`check_level`, or level "circuit" without a simulator.
    LoweringError
        a layer that no circuit of the family can be.
    """
    check_level(level, spec, designs[0])
    if level == "circuit":
        return [_simulated(spec, design, simulate) for design in designs]
    sine = level == "ideal"
    circuits = [lower_circuit(spec, _ideal(design) if sine else design) for design in designs]
    if spec.dynamics == "pair":
        return [read_pairs(spec, circuit, sine) for circuit in circuits]
    return read_networks(spec, circuits, sine)


def _ideal(design: CircuitDesign) -> CircuitDesign:
    """The same chip of oscillators whose coupling function is a sine and whose tuning is exact.

    Its couplers act one way or both, as those of the family do.
    """
    coupler = "resistor" if design.oscillator().reciprocal else "transconductance"
    shared = {name: getattr(design, name) for name in CircuitDesign.model_fields}
    shared |= dict.fromkeys(_OF_FAMILIES)
    return CircuitDesign(**{**shared, "family": "stuart_landau", "mu": _IDEAL_MU, "coupler": coupler})


def _simulated(spec: PhaseLayerSpec, design: CircuitDesign, simulate: Simulate | None) -> Reading:
    if simulate is None:
        raise ConfigError("level: given circuit without a simulator, expected one that runs a layer")
    result = simulate(spec, design)
    return Reading(
        sync=result.sync,
        locked=result.locked,
        weight=built_weight(spec, lower_circuit(spec, design)) if spec.dynamics == "pair" else None,
        settled=result.status in (SyncStatus.SETTLED, SyncStatus.DRIFTING),
    )
