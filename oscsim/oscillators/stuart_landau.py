"""Stuart-Landau oscillator: the normal form of any weakly nonlinear oscillator, amplitude and phase."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import ConfigError
from oscsim.oscillators.oscillator import Array, Oscillator


@dataclass(frozen=True)
class StuartLandau(Oscillator):
    """``c z' = i z + (mu/2)(1 + i shear)(1 - |z|^2) z + u``: time in radians of the carrier, amplitude 1.

    [KURAMOTO] section 2.2. Coupling is diffusive, ``u = kappa (z_j - z_i)``, on both components, so the
    equations look the same in a frame that rotates with the carrier. ``mu`` is the rate at which amplitudes
    relax. Phase is ``arg z - shear ln|z|``, so the coupling function is exactly
    ``sin x - shear cos x = sqrt(1 + shear^2) sin(x - atan(shear))``.

    Parameters
    ----------
    mu : > 0. shear : dependence of frequency on amplitude; the coupling lags by atan(shear).
    coupler : "resistor" (diffusive), or an ideal one-way "transconductance".

    Raises
    ------
    ConfigError
        an impossible mu or shear, or a coupler of another family.

    >>> StuartLandau().flow(np.array([1.0, 0.0])).tolist()
    [0.0, 1.0]
    """

    name: ClassVar[str] = "stuart_landau"
    ports: ClassVar[tuple[int, ...]] = (0, 1)
    mu: float = 0.3
    shear: float = 0.0
    coupler: Literal["resistor", "transconductance"] = "resistor"

    def __post_init__(self) -> None:
        self.check_positive("mu")
        if not np.isfinite(self.shear):
            raise ConfigError(f"shear: given {self.shear:g} for family {self.name}, expected a finite number")
        self.check_coupler()

    @property
    def dimension(self) -> int:
        return 2

    @property
    def devices(self) -> int:
        return 1

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        z = x[0] + 1j * x[1]
        mu = self.mu if drive is None else self.mu * drive[0]
        growth = 0.5 * mu * (1.0 + 1j * self.shear) * (1.0 - np.square(np.abs(z)))
        slope = (1j + growth) * z / capacitance
        return np.stack([slope.real, slope.imag])

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        z = x[0] + 1j * x[1]
        factor = 0.5 * self.mu * (1.0 + 1j * self.shear)
        along = 1j + factor * (1.0 - abs(z) ** 2)
        d_x = along - 2.0 * factor * x[0] * z
        d_y = 1j * along - 2.0 * factor * x[1] * z
        return np.array([[d_x.real, d_y.real], [d_x.imag, d_y.imag]])

    def signal(self, x: Array) -> Array:
        return x

    def load(self, x: Array) -> Array:
        return x if self.reciprocal else np.zeros_like(x)

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        return x[0] + 1j * x[1]

    def start(self) -> Array:
        return np.array([1.0, 0.0])

    def period_estimate(self) -> float:
        return 2.0 * np.pi

    def relaxation_estimate(self) -> float:
        return self.mu
