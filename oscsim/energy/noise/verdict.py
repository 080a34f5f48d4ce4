"""Whether an estimate lies above what phase noise allows, in words."""

from typing import Literal

from oscsim.energy.estimate import Estimate
from oscsim.energy.interval import Interval
from oscsim.energy.noise.floor import NoiseFloor

Position = Literal["below", "straddles", "above", "no floor"]


def position(energy: Interval, floor: NoiseFloor) -> Position:
    """Where the 95 % interval of an energy lies relative to that of the floor."""
    if floor.energy is None:
        return "no floor"
    if energy.high_j < floor.energy.low_j:
        return "below"
    return "above" if energy.low_j > floor.energy.high_j else "straddles"


def oscillator_energy(estimate: Estimate) -> Interval:
    """What the oscillators alone take of an estimate, as the floor has them alone; else its total."""
    return next((item.interval for item in estimate.items if item.name == "oscillators"), estimate.total)


def at_floor(estimate: Estimate, floor: NoiseFloor) -> Interval | None:
    """The total with its oscillators raised to the floor; None where they lie above it."""
    energy = oscillator_energy(estimate)
    if floor.energy is None or position(energy, floor) == "above":
        return None
    return estimate.total.raised(energy, floor.energy)


def verdict(estimate: Estimate, floor: NoiseFloor) -> str:
    """One sentence for the notes of an estimate; loud where it promises more than noise allows."""
    energy = oscillator_energy(estimate)
    where, raised = position(energy, floor), at_floor(estimate, floor)
    if floor.energy is None:
        return f"{estimate.name}: no noise floor ({floor.notes[-1]})"
    numbers = f"oscillators {energy}, floor {floor.energy}"
    if floor.bound_only and where != "below":
        numbers += "; the floor is a bound that no circuit comes near, so this proves no accuracy"
    if where == "above":
        return f"{estimate.name}: above the noise floor ({numbers})"
    if where == "straddles":
        return (
            f"{estimate.name}: straddles the noise floor, so noise may spoil the read-out ({numbers}); "
            f"with oscillators at the floor: {raised}"
        )
    times = (floor.energy.value_j / energy.value_j) ** 0.5 if energy.value_j > 0.0 else float("inf")
    return (
        f"{estimate.name}: NOT ATTAINABLE: noise needs at least {floor.energy} in the oscillators, the "
        f"estimate has {energy}: a read-out is about {times:.2g} times less certain than accuracy asks for; "
        f"with oscillators at the floor: {raised}"
    )
