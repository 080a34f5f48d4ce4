"""A user's own oscillator: any right-hand side with a limit cycle, reduced to its phase like the families."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import ConfigError
from oscsim.oscillators.oscillator import Array, Oscillator

# Five-point differences: error step^4 |F^(5)|/30, rounding 1e-16/step; both about 1e-13.
_DIFFERENCE = 1e-3


@dataclass(frozen=True)
class UserOscillator(Oscillator):
    """``c x' = F(x) + u`` with a right-hand side F of one's own, in its own unit of time.

    Tuning scales the whole right-hand side (frequency exactly 1/c), and u enters the equations ``ports``.

    Parameters
    ----------
    right_hand_side : F, states (dimension, ...) to slopes (dimension, ...), broadcasting over trailing axes.
    initial : a state (dimension,) in the basin of the limit cycle.
    period : a rough period, good to a factor of 3.
    name : for messages.
    ports : equations that a coupling current enters.
    output : what a coupler transmits, (dimension, ...) to (len(ports), ...); None for the state at the ports.
    derivative : dF/dx (dimension, dimension) at one state; None for five-point differences.
    centre : the point of the plane of the first two state variables that the limit cycle turns around.
    relaxation : rate at which amplitudes return, per unit of time; None for one per period.
    coupler : "resistor" (loads the target with its own output), or one-way "transconductance".

    Raises
    ------
    ConfigError
        values that do not fit each other.

    FitzHugh's model of a nerve [FITZHUGH], coupled by its voltage:

    >>> def nerve(x):
    ...     v, w = x
    ...     return np.stack([v - v**3 / 3.0 - w + 0.5, 0.08 * (v + 0.7 - 0.8 * w)])
    >>> own = UserOscillator(nerve, initial=(0.0, 0.0), period=40.0, centre=(-0.8, -0.1))
    >>> from oscsim.phase_reduction import reduce
    >>> round(reduce(own).cycle.period, 3)
    39.474
    """

    right_hand_side: Callable[[Array], Array]
    initial: tuple[float, ...]
    period: float
    name: str = "own"  # type: ignore[misc]
    ports: tuple[int, ...] = (0,)  # type: ignore[misc]
    output: Callable[[Array], Array] | None = None
    derivative: Callable[[Array], Array] | None = None
    centre: tuple[float, float] = (0.0, 0.0)
    relaxation: float | None = None
    coupler: str = "resistor"
    uniform_tuning: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.initial) < 2:
            raise ConfigError(f"initial: given {self.initial}, expected at least 2 state variables")
        if not self.ports or not all(0 <= port < len(self.initial) for port in self.ports):
            raise ConfigError(
                f"ports: given {self.ports}, expected numbers of equations from 0 to {len(self.initial) - 1}"
            )
        self.check_positive("period", *(["relaxation"] if self.relaxation is not None else []))
        self.check_coupler()
        self._check_shapes()

    def _check_shapes(self) -> None:
        batch = np.repeat(self.start()[:, None], 3, axis=1)
        for name, shape, expected in (
            ("right_hand_side", np.shape(self.right_hand_side(batch)), batch.shape),
            ("output", np.shape(self.signal(batch)), (len(self.ports), 3)),
        ):
            if shape != expected:
                raise ConfigError(
                    f"{name}: given an array {shape} for 3 states of {self.dimension} variables, expected "
                    f"{expected}; it has to broadcast over trailing axes"
                )

    @property
    def dimension(self) -> int:
        return len(self.initial)

    @property
    def devices(self) -> int:
        return 0

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        del drive  # no devices, so it is empty
        return np.asarray(self.right_hand_side(x), float) / capacitance

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        if self.derivative is not None:
            return np.asarray(self.derivative(x), float)
        step = _DIFFERENCE * np.maximum(1.0, np.abs(x))
        shift = np.diag(step)
        near, far = (self.flow(x[:, None] + k * shift) - self.flow(x[:, None] - k * shift) for k in (1, 2))
        return (8.0 * near - far) / (12.0 * step)

    def signal(self, x: Array) -> Array:
        return x[list(self.ports)] if self.output is None else np.asarray(self.output(x), float)

    def load(self, x: Array) -> Array:
        return self.signal(x) if self.reciprocal else np.zeros_like(self.signal(x))

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        return (x[0] - self.centre[0]) + 1j * (x[1] - self.centre[1])

    def start(self) -> Array:
        return np.array(self.initial, float)

    def period_estimate(self) -> float:
        return self.period

    def relaxation_estimate(self) -> float:
        return 1.0 / self.period if self.relaxation is None else self.relaxation
