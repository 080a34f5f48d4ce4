"""Oscillators of level-1 transistors: their equations in natural units, for trimming and as their own law.

Shichman and Hodges, IEEE J. Solid-State Circuits 3 (1968) 285: the drain current of a transistor with gate
overdrive u = v_gs - v_t > 0 is ``beta u^2/2`` in saturation (v_ds >= u), ``beta (u v_ds - v_ds^2/2)`` below;
no channel length modulation. Unit of voltage V0, of current V0/Z, as everywhere in :mod:`oscsim.circuits`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from oscsim.oscillators.lc import LC
from oscsim.oscillators.oscillator import Array, Oscillator
from oscsim.oscillators.ring import Ring

# Overdrive of the pair at balance; sqrt(2) of it, a quarter of the differential swing, switches it fully.
PAIR_OVERDRIVE = 0.4
# Threshold above the differential swing of 2, so that no transistor of the pair leaves saturation, and a
# supply that leaves room for it.
PAIR_THRESHOLD, PAIR_SUPPLY = 2.2, 4.2
# Ring: a supply of 2 (nodes run from -1 to 1 about its middle), thresholds of a fifth of it, and a
# transistor that passes a current of 1 when it is fully on.
RING_THRESHOLD = 0.4
RING_BETA = 2.0 / (2.0 - RING_THRESHOLD) ** 2


@dataclass(frozen=True)
class MosLC(Oscillator):
    """Cross-coupled pair on a tank: ``c v' = -i - 2 mu v + f(v) + u``, ``i' = v``, v = (p - n)/2.

    The pair steers its tail current I = pi mu between the two sides: ``f(v) = beta v sqrt(I/beta - v^2)``
    up to ``v^2 = I/(2 beta)``, then +-I/2. A square wave of I/2 into the tank's loss 2 mu swings to 1. Common
    mode and coupling do not mix, so this is the whole circuit as long as both transistors are saturated.

    Parameters
    ----------
    mu : loss 1/(2 Q) of the tank, at which amplitudes relax: what mu is to :class:`oscsim.oscillators.LC`.

    >>> round(float(MosLC(mu=0.1).pair_current(np.array(1.0))), 6)
    0.15708
    """

    name: ClassVar[str] = "mos_lc"
    uniform_tuning: ClassVar[bool] = False
    mu: float = 0.1
    coupler: str = "resistor"

    @property
    def tail_current(self) -> float:
        """I."""
        return float(np.pi * self.mu)

    @property
    def beta(self) -> float:
        """Transconductance parameter of either transistor: ``I/2 = beta overdrive^2/2``."""
        return self.tail_current / PAIR_OVERDRIVE**2

    @property
    def dimension(self) -> int:
        return 2

    @property
    def devices(self) -> int:
        return 1

    def pair_current(self, v: Array, drive: Array | float = 1.0) -> Array:
        """f(v), shape of v; ``drive`` scales beta."""
        beta, tail = self.beta * drive, self.tail_current
        steered = beta * v * np.sqrt(np.maximum(tail / beta - np.square(v), 0.0))
        return np.where(np.square(v) < 0.5 * tail / beta, steered, 0.5 * tail * np.sign(v))

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        v, i = x[0], x[1]
        pulled = self.pair_current(v, 1.0 if drive is None else drive[0])
        return np.stack([(pulled - i - 2.0 * self.mu * v) / capacitance, v])

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        square, ratio = x[0] ** 2, self.tail_current / self.beta
        inside = square < 0.5 * ratio
        slope = self.beta * (ratio - 2.0 * square) / np.sqrt(ratio - square) if inside else 0.0
        return np.array([[slope - 2.0 * self.mu, -1.0], [1.0, 0.0]])

    def signal(self, x: Array) -> Array:
        return x[:1]

    def load(self, x: Array) -> Array:
        return x[:1]

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        return x[0] + 1j * x[1]

    def start(self) -> Array:
        return np.array([1.0, 0.0])

    def period_estimate(self) -> float:
        return 2.0 * np.pi

    def relaxation_estimate(self) -> float:
        return self.mu


@dataclass(frozen=True)
class MosRing(Oscillator):
    """Odd number of loaded CMOS inverters: ``c x_k' = I(x_(k-1), x_k) + u_k``, supply from -1 to 1.

    I is the current of the p transistor less that of the n transistor, both in saturation or not as the
    voltages have it. A resistor connects like nodes.
    """

    name: ClassVar[str] = "mos_ring"
    stages: int = 3
    coupler: str = "resistor"

    @property
    def dimension(self) -> int:
        return self.stages

    @property
    def devices(self) -> int:
        return self.stages

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        gate = np.roll(x, 1, axis=0)
        current = _drain(1.0 - gate, 1.0 - x)[0] - _drain(1.0 + gate, 1.0 + x)[0]
        return (current if drive is None else drive * current) / capacitance

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        gate = np.roll(x, 1)
        _, gate_p, out_p = _drain(1.0 - gate, 1.0 - x)
        _, gate_n, out_n = _drain(1.0 + gate, 1.0 + x)
        follow = np.roll(np.eye(self.stages), -1, axis=1)  # row k picks x_(k-1)
        return -np.diag(out_p + out_n) - (gate_p + gate_n)[:, None] * follow

    def signal(self, x: Array) -> Array:
        return x[:1]

    def load(self, x: Array) -> Array:
        return x[:1]

    def phasor(self, x: Array) -> NDArray[np.complex128]:
        turn = np.exp(1j * np.arange(self.stages) * (np.pi + np.pi / self.stages))
        return np.tensordot(turn, x, axes=1).astype(np.complex128)

    def start(self) -> Array:
        return 0.9 * np.cos(np.arange(self.stages) * (np.pi + np.pi / self.stages))

    def period_estimate(self) -> float:
        return 2.0 * self.stages

    def relaxation_estimate(self) -> float:
        return 0.5


def _drain(gate: Array, drain: Array) -> tuple[Array, Array, Array]:
    """Drain current of a ring's transistor and its slopes by gate and drain voltage, source at 0."""
    over = np.maximum(gate - RING_THRESHOLD, 0.0)
    # beyond the rail source and drain change places; a coupling resistor can push a node there
    swapped = drain < 0.0
    over = np.where(swapped, np.maximum(gate - drain - RING_THRESHOLD, 0.0), over)
    across = np.abs(drain)
    saturated = across >= over
    size = np.where(saturated, 0.5 * over**2, over * across - 0.5 * across**2)
    by_over, by_across = np.where(saturated, over, across), np.where(saturated, 0.0, over - across)
    slope = np.where(swapped, by_over + by_across, by_across)
    return (
        RING_BETA * np.where(swapped, -size, size),
        RING_BETA * np.where(swapped, -by_over, by_over),
        RING_BETA * slope,
    )


def mos_oscillator(behavioural: Oscillator) -> Oscillator:
    """The transistor circuit that stands for a family."""
    if isinstance(behavioural, LC):
        return MosLC(mu=behavioural.mu)
    if isinstance(behavioural, Ring):
        return MosRing(stages=behavioural.stages)
    raise TypeError(f"family {behavioural.name}: no transistor circuit is known for it")
