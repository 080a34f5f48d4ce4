"""One cell of the regime map: size, frequency spread, gain and bandwidth; and what a seed draws for it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.coupling import FrequencyCoupling
from oscsim.errors import ConfigError
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]
LARGEST_N = 1024  # a run stores its samples: 0.2 GB per seed at this size


@dataclass(frozen=True)
class Cell:
    """Settings of one cell; every seed draws one network from them.

    A seed draws scalar natural frequencies ``omega_i = spread x``, x standard normal, and initial phases
    uniform on [0, 2 pi). Both depend on (seed, n) alone: cells that differ only in spread, gain or alpha
    share their draws, so that the map shows these and not the luck of a draw.

    Parameters
    ----------
    n : oscillators N, 2 to 1024.
    spread : standard deviation sigma of the distribution of frequencies, rad / time unit.
    gain : coupling gain K, rad / time unit.
    alpha : bandwidth of ``J_ij = exp(-alpha (omega_i - omega_j)^2)``, (time unit)^2 / rad^2.

    Raises
    ------
    ConfigError
        a value no network can have.

    >>> Cell(2, 0.1, 1.0, 0.0).spec(seed=0)
    PhaseLayerSpec(network, full, H=1, N=2, D=1, digest=b1292e5833a4)
    """

    n: int
    spread: float
    gain: float
    alpha: float

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or not 2 <= self.n <= LARGEST_N:
            raise ConfigError(f"n: given {self.n}, expected a whole number of oscillators, 2 to {LARGEST_N}")
        for name, least in (("spread", "> 0"), ("gain", "> 0"), ("alpha", ">= 0")):
            value = float(getattr(self, name))
            if not (math.isfinite(value) and (value > 0 or (value == 0 and least == ">= 0"))):
                raise ConfigError(f"{name}: given {value:g}, expected a finite number {least}")
            object.__setattr__(self, name, value)

    def draw(self, seed: int) -> tuple[Array, Array]:
        """Natural frequencies (N,), rad / time unit, and initial phases (N,), rad, of one seed."""
        rng = np.random.default_rng([seed, self.n])
        omega = self.spread * rng.standard_normal(self.n)
        return omega, rng.uniform(0.0, 2.0 * np.pi, self.n)

    def spec(self, seed: int) -> PhaseLayerSpec:
        """The same network as a layer with one head and one channel, for :func:`oscsim.integrate`."""
        omega, theta = self.draw(seed)
        return PhaseLayerSpec(
            omega=omega[None, :, None],
            theta=theta[None, :, None],
            coupling=FrequencyCoupling(alpha=[self.alpha]),
            gain=[self.gain],
            dynamics="network",
        )

    def __str__(self) -> str:
        return f"N = {self.n}, spread {self.spread:g}, gain {self.gain:g}, alpha {self.alpha:g}"
