"""Ring oscillator: an odd number of saturating inverters, each with an RC load."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import ConfigError
from oscsim.oscillators.oscillator import Array, Oscillator


@dataclass(frozen=True)
class Ring(Oscillator):
    """``c x_k' = -x_k - tanh(g x_(k-1)) + u_k``: time in units of R C of a stage, voltage in units of its swing.

    Coupling enters node 0. An *inverter* in parallel with the native driver of node 0 is driven by the node
    before it in the source ring: ``u = kappa (-tanh(g x_(n-1)))``. A *resistor* connects like nodes:
    ``u = kappa (x_0j - x_0i)``.

    Parameters
    ----------
    stages : odd, at least 3.
    gain : small-signal gain g of a stage; it oscillates for g > 1/cos(pi/stages).
    coupler : "inverter" or "resistor".

    >>> Ring(stages=3).flow(np.zeros(3)).tolist()
    [-0.0, -0.0, -0.0]
    """

    name: ClassVar[str] = "ring"
    stages: int = 3
    gain: float = 5.0
    coupler: Literal["inverter", "resistor"] = "inverter"

    def __post_init__(self) -> None:
        if self.stages < 3 or self.stages % 2 == 0:
            raise ConfigError(f"stages: given {self.stages}, expected an odd number of at least 3")
        least = 1.0 / np.cos(np.pi / self.stages)
        if not self.gain > 1.05 * least:
            raise ConfigError(
                f"gain: given {self.gain:g}, expected more than {1.05 * least:.3g}: a ring of {self.stages} stages "
                "does not oscillate (or barely) below; raise the gain"
            )

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
        slope = -self.gain / np.cosh(self.gain * np.roll(x, 1)) ** 2
        return -np.eye(self.stages) + np.roll(np.diag(np.roll(slope, -1)), 1, axis=0)

    def signal(self, x: Array) -> Array:
        return x[:1] if self.reciprocal else -np.tanh(self.gain * x[-1:])

    def load(self, x: Array) -> Array:
        return x[:1] if self.reciprocal else np.zeros_like(x[:1])

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        # node k lags its driver by pi + pi/stages: turning each node back adds all fundamentals up
        turn = np.exp(1j * np.arange(self.stages) * (np.pi + np.pi / self.stages))
        return np.tensordot(turn.conj() ** -1, x, axes=1)

    def start(self) -> Array:
        return np.cos(np.arange(self.stages) * (np.pi + np.pi / self.stages))

    def period_estimate(self) -> float:
        return 2.0 * np.pi / np.tan(np.pi / self.stages)

    def relaxation_estimate(self) -> float:
        return 0.5
