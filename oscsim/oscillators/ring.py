"""Ring oscillator: an odd number of saturating inverters, each with an RC load."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import ConfigError
from oscsim.oscillators.oscillator import Array, Oscillator

_MARGIN = 1.05  # of the gain at which oscillation begins


@dataclass(frozen=True)
class Ring(Oscillator):
    """``c x_k' = -x_k - tanh(g x_(k-1)) + u_k``: time in units of R C of a stage, voltage of its swing.

    Coupling enters node 0. An *inverter* in parallel with the native driver of node 0 is driven by the node
    before it in the source ring: ``u = kappa (-tanh(g x_(n-1)))``. A *resistor* connects like nodes:
    ``u = kappa (x_0j - x_0i)``.

    Parameters
    ----------
    stages : odd, at least 3.
    gain : small-signal gain g of a stage (the option ``stage_gain``); it oscillates for g > 1/cos(pi/stages).
    coupler : "inverter" or "resistor".

    Raises
    ------
    ConfigError
        an even or too small number of stages, a gain at which it does not oscillate, a foreign coupler.

    >>> Ring(stages=3).flow(np.zeros(3)).tolist()
    [-0.0, -0.0, -0.0]
    """

    name: ClassVar[str] = "ring"
    couplers: ClassVar[tuple[str, ...]] = ("inverter", "resistor")
    stages: int = 3
    gain: float = 3.0
    coupler: Literal["inverter", "resistor"] = "inverter"

    def __post_init__(self) -> None:
        if not (isinstance(self.stages, int) and self.stages >= 3 and self.stages % 2 == 1):
            raise ConfigError(f"stages: given {self.stages!r}, expected an odd number of at least 3")
        least = _MARGIN / np.cos(np.pi / self.stages)
        if not least < self.gain < np.inf:
            raise ConfigError(
                f"stage_gain: given {self.gain:g}, expected more than {least:.3g}: a ring of {self.stages} "
                "stages does not oscillate (or barely) below; raise stage_gain"
            )
        self.check_coupler()

    @property
    def dimension(self) -> int:
        return self.stages

    @property
    def devices(self) -> int:
        return self.stages

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        pulled = np.tanh(self.gain * np.roll(x, 1, axis=0))
        return (-x - (pulled if drive is None else drive * pulled)) / capacitance

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        slope = -self.gain * (1.0 - np.tanh(self.gain * np.roll(x, 1)) ** 2)
        return -np.eye(self.stages) + np.roll(np.diag(np.roll(slope, -1)), 1, axis=0)

    def signal(self, x: Array) -> Array:
        return x[:1] if self.reciprocal else -np.tanh(self.gain * x[-1:])

    def load(self, x: Array) -> Array:
        return x[:1] if self.reciprocal else np.zeros_like(x[:1])

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        # node k lags its driver by pi + pi/stages: turning each node back adds all fundamentals up
        turn = np.exp(1j * np.arange(self.stages) * (np.pi + np.pi / self.stages))
        return np.asarray(np.tensordot(turn, x, axes=1), np.complex128)

    def start(self) -> Array:
        return np.cos(np.arange(self.stages) * (np.pi + np.pi / self.stages))

    def period_estimate(self) -> float:
        return 2.0 * np.pi / np.tan(np.pi / self.stages)

    def relaxation_estimate(self) -> float:
        return 0.5
