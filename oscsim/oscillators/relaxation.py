"""Relaxation oscillator: a capacitor charged and discharged between two thresholds."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import ConfigError
from oscsim.oscillators.oscillator import Array, Oscillator

# Faster comparators make the equations stiff: the limit cycle takes a time that grows as 1/tau (measured: 2 s
# at 1e-2, 23 s at 1e-4 on one core), and every simulator has to step as finely as the comparator switches.
_FASTEST_COMPARATOR = 1e-3


@dataclass(frozen=True)
class Relaxation(Oscillator):
    """``c v' = rate(s) (supply(s) - v) + u``, ``tau s' = tanh(g (h s - v)) - s``: time in units of R C.

    Here ``supply = s/2`` and ``rate = (1 + discharge + (1 - discharge) s)/2``: a comparator with hysteresis
    decides whether the capacitor is charged (s near 1, towards +1/2) or discharged (s near -1, towards -1/2,
    ``discharge`` times as fast), as in VO2 devices. Voltages are relative to the middle of the supply and in
    units of it, so thresholds of 0.3 and 0.7 of the supply are -0.2 and +0.2. The comparator is smooth (gain
    g, time constant tau): its thresholds are the folds of ``v = h s - atanh(s)/g``, and h is chosen so that
    they are at ``+-threshold``. Coupling through a resistor: ``u = kappa (v_j - v_i)``.

    Parameters
    ----------
    threshold : distance of either threshold from the middle, in units of the supply, below 0.45.
    discharge : speed of discharging relative to charging.
    comparator_gain : g, per unit of the supply.
    comparator_time : tau in units of R C, at least 1e-3 (faster ones are too stiff); it follows the tuning.
    coupler : "resistor", or an ideal one-way "transconductance".

    Raises
    ------
    ConfigError
        an impossible value, or a coupler of another family.

    >>> fold = Relaxation(threshold=0.2)
    >>> s = np.sqrt(1.0 - 1.0 / (fold.comparator_gain * fold.hysteresis))
    >>> round(float(fold.hysteresis * s - np.arctanh(s) / fold.comparator_gain), 12)
    0.2
    """

    name: ClassVar[str] = "relaxation"
    threshold: float = 0.2
    discharge: float = 1.0
    comparator_gain: float = 20.0
    comparator_time: float = 0.05
    coupler: Literal["resistor", "transconductance"] = "resistor"

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold < 0.45:
            raise ConfigError(
                f"threshold: given {self.threshold:g}, expected more than 0 and less than 0.45 of the supply"
            )
        self.check_positive("discharge", "comparator_gain", "comparator_time")
        if self.comparator_time < _FASTEST_COMPARATOR:
            raise ConfigError(
                f"comparator_time: given {self.comparator_time:g} of R C, expected at least "
                f"{_FASTEST_COMPARATOR:g}: a faster comparator makes the equations too stiff to simulate, "
                "and hardly changes the waveform; choose a larger one"
            )
        self.check_coupler()

    @cached_property
    def hysteresis(self) -> float:
        """h, solved from the fold: ``h s - atanh(s)/g = threshold`` at ``s = sqrt(1 - 1/(g h))``."""
        low = high = 1.0 / self.comparator_gain
        while self._fold(high) < self.threshold:
            high *= 2.0
        for _ in range(100):  # bisection: the fold rises monotonically with h
            h = 0.5 * (low + high)
            low, high = (h, high) if self._fold(h) < self.threshold else (low, h)
        return 0.5 * (low + high)

    def _fold(self, h: float) -> float:
        s = np.sqrt(max(0.0, 1.0 - 1.0 / (self.comparator_gain * h)))
        return float(h * s - np.arctanh(s) / self.comparator_gain)

    @property
    def dimension(self) -> int:
        return 2

    @property
    def devices(self) -> int:
        return 1

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        v, s = x[0], x[1]
        h = self.hysteresis if drive is None else self.hysteresis * drive[0]
        rate = 0.5 * ((1.0 + self.discharge) + (1.0 - self.discharge) * s)
        comparator = np.tanh(self.comparator_gain * (h * s - v))
        return np.stack(
            [rate * (0.5 * s - v) / capacitance, (comparator - s) / (self.comparator_time * capacitance)]
        )

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        v, s = x
        rate = 0.5 * ((1.0 + self.discharge) + (1.0 - self.discharge) * s)
        slope = 0.5 * (1.0 - self.discharge)
        bend = self.comparator_gain * (1.0 - np.tanh(self.comparator_gain * (self.hysteresis * s - v)) ** 2)
        return np.array(
            [
                [-rate, 0.5 * rate + slope * (0.5 * s - v)],
                [-bend / self.comparator_time, (bend * self.hysteresis - 1.0) / self.comparator_time],
            ]
        )

    def signal(self, x: Array) -> Array:
        return x[:1]

    def load(self, x: Array) -> Array:
        return x[:1] if self.reciprocal else np.zeros_like(x[:1])

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        return x[0] / self.threshold - 1j * x[1]

    def start(self) -> Array:
        return np.array([0.0, 1.0])

    def period_estimate(self) -> float:
        branch = np.log((0.5 + self.threshold) / (0.5 - self.threshold))
        return float(branch * (1.0 + 1.0 / self.discharge) + 8.0 * self.comparator_time)

    def relaxation_estimate(self) -> float:
        return 1.0
