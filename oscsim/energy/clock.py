"""The clock of an oscillator array, and whether a layer can run on it."""

import numpy as np

from oscsim import pair_terms
from oscsim.circuits.design import TUNING_RANGE
from oscsim.circuits.lowering import largest_pull
from oscsim.circuits.validity import LARGEST_SAFE, rounded_up
from oscsim.energy.clock_advice import slower
from oscsim.energy.estimate import EnergyError
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.pair_settling import cell_speed
from oscsim.spec import PhaseLayerSpec

_ROUNDED = 1.0 + 1e-9  # what is set to a limit may miss it by the rounding of a product


def clock(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> tuple[float, float, float]:
    """carrier_hz, time_unit_s and epsilon of a layer as an array of its own dynamics.

    Raises
    ------
    EnergyError
        ``epsilon`` above 0.35, or nothing is coupled and a time unit was to be chosen from epsilon.
    """
    carrier_hz = hardware.carrier_hz or spec.carrier_hz
    return (carrier_hz, *_time_unit(spec, hardware, carrier_hz))


def check_clock(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> None:
    """Whether oscillators can be tuned to the layer's frequencies, and run for as short as it lasts.

    Raises
    ------
    EnergyError
        a frequency farther from the carrier than tuning reaches; a clamped layer that ends within one cycle.
    """
    clocked = carrier_hz, time_unit_s, _ = clock(spec, hardware)
    away = _farthest(spec, hardware) / (2.0 * np.pi * carrier_hz * time_unit_s)
    if away > TUNING_RANGE * _ROUNDED:
        raise EnergyError(
            f"frequencies: up to {away:.3g} of the carrier ({carrier_hz:g} Hz) away from it given, tuning "
            f"reaches {TUNING_RANGE:g}; {slower(spec, hardware, clocked, away / TUNING_RANGE)}"
        )
    cycles = carrier_hz * time_unit_s * spec.duration
    if spec.dynamics != "clamped" or cycles * _ROUNDED >= 1.0:
        return
    if cycles == 0.0:
        raise EnergyError("duration: given 0, so the answer is where the layer starts: nothing to run")
    raise EnergyError(
        f"duration: {cycles:.3g} of a carrier cycle given, but nothing is read sooner than after one, when "
        f"phases are elsewhere; {slower(spec, hardware, clocked, 1.0 / cycles)}; or a layer that lasts "
        f"{rounded_up(1.0 / cycles):g} times as long"
    )


def strongest_coupling(spec: PhaseLayerSpec) -> float:
    """a_max, rad / time unit: of one cell (pair), or everything that pulls two oscillators of an array."""
    j = pair_terms.coupling(spec)
    if spec.dynamics == "pair":
        a = np.abs(pair_terms.locking_strength(spec, j))
        return float(np.where(pair_terms.unmasked(spec), a, 0.0).max())
    if spec.dynamics == "network":
        return largest_pull(pair_terms.network_matrix(spec, j) * ~np.eye(spec.n_oscillators, dtype=bool))
    rows = np.where(pair_terms.unmasked(spec), spec.gain[:, None, None] * np.abs(j), 0.0).sum(axis=2)
    return float((np.abs(pair_terms.free_rate(spec)) * rows[:, :, None]).max())


def _time_unit(spec: PhaseLayerSpec, hardware: OscillatorHardware, carrier_hz: float) -> tuple[float, float]:
    a_max = strongest_coupling(spec)
    time_unit_s = hardware.time_unit_s or spec.time_unit_s
    if hardware.epsilon is not None:
        if a_max == 0.0:
            known = hardware.model_copy(update={"epsilon": None})
            factor = max(1.0, _missing(spec, known, (carrier_hz, time_unit_s, 0.0)))
            raise EnergyError(
                f"option 'epsilon': given {hardware.epsilon:g}, but nothing in this layer is coupled, so it "
                f"sets no time unit; {slower(spec, hardware, (carrier_hz, time_unit_s, 0.0), factor)}"
            )
        return a_max / (2.0 * np.pi * carrier_hz * hardware.epsilon), hardware.epsilon
    epsilon = a_max / (2.0 * np.pi * carrier_hz * time_unit_s)
    if epsilon > LARGEST_SAFE * _ROUNDED:
        clocked = carrier_hz, time_unit_s, epsilon
        raise EnergyError(
            f"epsilon: the strongest coupling is {epsilon:.3g} of the carrier ({carrier_hz:g} Hz, time unit "
            f"{time_unit_s:g} s), expected at most {LARGEST_SAFE}, where oscillators still are phases; "
            f"{slower(spec, hardware, clocked, _missing(spec, hardware, clocked))}"
        )
    return time_unit_s, epsilon


def _missing(
    spec: PhaseLayerSpec, hardware: OscillatorHardware, clocked: tuple[float, float, float]
) -> float:
    """How much longer a time unit has to be for everything: coupling, tuning, one cycle of a clamped run."""
    carrier_hz, time_unit_s, epsilon = clocked
    turned = 2.0 * np.pi * carrier_hz * time_unit_s
    demands = [epsilon / LARGEST_SAFE, _farthest(spec, hardware) / (turned * TUNING_RANGE)]
    if spec.dynamics == "clamped" and spec.duration > 0.0:
        demands.append(1.0 / (carrier_hz * time_unit_s * spec.duration))
    return max(demands)


def _farthest(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> float:
    """Largest distance from the carrier, rad / time unit; the two of a mutual cell share its mismatch."""
    if spec.dynamics == "clamped":
        return 0.0
    if spec.dynamics == "network":
        return float(np.abs(spec.omega[:, spec.valid]).max())
    d = pair_terms.mismatch(spec)
    a = np.abs(pair_terms.locking_strength(spec, pair_terms.coupling(spec, d)))
    speed = cell_speed(spec, hardware, d, a)
    d = np.where(pair_terms.unmasked(spec), d * speed, 0.0)
    return float(d.max()) / (2.0 if hardware.cell == "mutual" else 1.0)
