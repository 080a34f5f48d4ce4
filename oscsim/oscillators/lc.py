"""Cross-coupled LC oscillator with cubic conductance: van der Pol's equation."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from oscsim.oscillators.oscillator import Array, Oscillator


@dataclass(frozen=True)
class LC(Oscillator):
    """``c v' = -i + mu (v - v^3/3) + u``, ``i' = v``: time in units of sqrt(L C), limit-cycle amplitude 2.

    [VANDERPOL]. ``mu`` is the net negative conductance times the characteristic impedance sqrt(L/C).
    Coupling through a resistor R_c: ``u = kappa (v_j - v_i)``, kappa = sqrt(L/C)/R_c; a negative coupling
    crosses the differential nodes of the source. Free frequency 1 - mu^2/16 for small mu.

    Parameters
    ----------
    mu : > 0, dimensionless.
    coupler : "resistor", which also loads what it drives, or an ideal one-way "transconductance".

    Raises
    ------
    ConfigError
        an impossible mu, or a coupler of another family.

    >>> LC(mu=0.1).flow(np.array([2.0, 0.0])).round(6).tolist()
    [-0.066667, 2.0]
    """

    name: ClassVar[str] = "lc"
    uniform_tuning: ClassVar[bool] = False
    mu: float = 0.1
    coupler: Literal["resistor", "transconductance"] = "resistor"

    def __post_init__(self) -> None:
        self.check_positive("mu")
        self.check_coupler()

    @property
    def dimension(self) -> int:
        return 2

    @property
    def devices(self) -> int:
        return 1

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        v, i = x[0], x[1]
        mu = self.mu if drive is None else self.mu * drive[0]
        return np.stack([(mu * (v - v * v * v / 3.0) - i) / capacitance, v])

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        return np.array([[self.mu * (1.0 - x[0] ** 2), -1.0], [1.0, 0.0]])

    def signal(self, x: Array) -> Array:
        return x[:1]

    def load(self, x: Array) -> Array:
        return x[:1] if self.reciprocal else np.zeros_like(x[:1])

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        return x[0] + 1j * x[1]

    def start(self) -> Array:
        return np.array([2.0, 0.0])

    def period_estimate(self) -> float:
        return 2.0 * np.pi * (1.0 + self.mu**2 / 16.0)

    def relaxation_estimate(self) -> float:
        return self.mu
