"""What every oscillator family is: a dimensionless right-hand side with a coupling port.

No backend and no seconds here: a family is written once, and phase reduction, circuit simulation and netlists
read the same equations. Components in ohms and farads are made of it in :mod:`oscsim.circuits`.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import ConfigError

Array = NDArray[np.float64]


class Oscillator(ABC):
    """A self-sustained oscillator ``c x' = F(x) + u`` (LC: v only) in its natural unit of time.

    The state x is (dimension, ...): methods broadcast over trailing axes, so a batch of oscillators is one
    array. ``c`` is the relative tuning capacitance (1 = nominal), ``u`` the coupling current, which enters
    the equations listed in ``ports`` (and is divided by c there, as any current into a capacitor is).

    Attributes
    ----------
    name : of the family.
    dimension : number of state variables.
    ports : indices of the state equations a coupling current enters.
    uniform_tuning : whether c scales the whole right-hand side, so that frequency is exactly 1/c.
    couplers : what may couple two of them, the default first.
    coupler : what does: "resistor", or a one-way element of the family.
    """

    name: ClassVar[str]
    ports: ClassVar[tuple[int, ...]] = (0,)
    uniform_tuning: ClassVar[bool] = True
    couplers: ClassVar[tuple[str, ...]] = ("resistor", "transconductance")
    coupler: str

    def check_coupler(self) -> None:
        """Raise ConfigError for a coupler the family does not have."""
        if self.coupler not in self.couplers:
            raise ConfigError(
                f"coupler: given {self.coupler!r} for family {self.name}, expected one of "
                f"{', '.join(self.couplers)}; leave it out for {self.couplers[0]}"
            )

    def check_positive(self, *names: str) -> None:
        """Raise ConfigError for an option that is not a positive finite number."""
        for name in names:
            value = getattr(self, name)
            if not 0.0 < value < np.inf:
                raise ConfigError(
                    f"{name}: given {value:g} for family {self.name}, expected a finite number > 0"
                )

    @property
    def reciprocal(self) -> bool:
        """Whether a coupler acts both ways (a resistor does; a transconductance or an inverter does not)."""
        return self.coupler == "resistor"

    @property
    @abstractmethod
    def dimension(self) -> int: ...

    @property
    @abstractmethod
    def devices(self) -> int:
        """How many active devices an oscillator has, each with a strength of its own (static mismatch)."""

    @abstractmethod
    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        """``x'`` of uncoupled oscillators, (dimension, ...), per natural unit of time.

        ``drive`` (devices, ...) is the strength of each active device relative to nominal, None where all are
        nominal.
        """

    @abstractmethod
    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        """What a current ``u`` into a port adds to x' there, per unit of u: ``1/c``."""

    @abstractmethod
    def jacobian(self, x: Array) -> Array:
        """dF/dx at one state (dimension,), nominal capacitance: (dimension, dimension)."""

    @abstractmethod
    def signal(self, x: Array) -> Array:
        """What a coupler transmits of the source's state, (len(ports), ...)."""

    @abstractmethod
    def load(self, x: Array) -> Array:
        """What a coupler draws from the target's own state, (len(ports), ...); zeros for an ideal current."""

    @abstractmethod
    def phasor(self, x: Array) -> NDArray[np.complex128]:
        """A complex number whose argument grows monotonically along the limit cycle, shape (...)."""

    @abstractmethod
    def start(self) -> Array:
        """A state (dimension,) from which the limit cycle is reached."""

    @abstractmethod
    def period_estimate(self) -> float:
        """A rough period in natural units, good to a factor of 3."""

    @abstractmethod
    def relaxation_estimate(self) -> float:
        """Rate at which the amplitude returns to the limit cycle, per natural unit of time."""
