"""Oscillators of level-1 transistors: their equations in natural units, for trimming and as their own law.

[SHICHMAN]: the drain current of a transistor with gate overdrive u = v_gs - v_t > 0 is ``beta u^2/2`` in
saturation (v_ds >= u), ``beta (u v_ds - v_ds^2/2)`` below; no channel length modulation. Unit of voltage V0,
of current V0/Z, as everywhere in :mod:`oscsim.circuits`.
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


# The law has corners where a transistor switches off or leaves saturation; rounded off over this much (of the
# switching voltage, or of V0), limit cycles are found to 1e-11, and phases move by less than 1e-4 rad.
SMOOTH = 0.1


@dataclass(frozen=True)
class MosLC(Oscillator):
    """Cross-coupled pair on a tank: ``c v' = -i - 2 mu v + f(v) + u``, ``i' = v``, v = (p - n)/2.

    The pair steers its tail current I = pi mu between the two sides: ``f(v) = (I/2) u sqrt(2 - u^2)`` with
    ``u = v/v_s`` up to 1, where the pair has switched at ``v_s^2 = I/(2 beta)``, then +-I/2. A square wave of
    I/2 into the tank's loss 2 mu swings to 1. Common mode and coupling do not mix, so this is the whole
    circuit as long as both transistors are saturated.

    Parameters
    ----------
    mu : loss 1/(2 Q) of the tank, at which amplitudes relax: what mu is to :class:`oscsim.oscillators.LC`.

    >>> round(float(MosLC(mu=0.1).pair_current(np.array(1.0))), 4)
    0.1571
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
        u = _limited(v / self.switching_v(drive))[0]
        return 0.5 * self.tail_current * u * np.sqrt(2.0 - np.square(u))

    def switching_v(self, drive: Array | float = 1.0) -> Array:
        """v at which the pair is fully switched."""
        return np.sqrt(0.5 * self.tail_current / (self.beta * drive))

    def flow(self, x: Array, capacitance: Array | float = 1.0, drive: Array | None = None) -> Array:
        v, i = x[0], x[1]
        pulled = self.pair_current(v, 1.0 if drive is None else drive[0])
        return np.stack([(pulled - i - 2.0 * self.mu * v) / capacitance, v])

    def admittance(self, capacitance: Array | float = 1.0) -> Array | float:
        return 1.0 / capacitance

    def jacobian(self, x: Array) -> Array:
        scale = self.switching_v()
        u, by_u = _limited(x[0] / scale)
        slope = self.tail_current * (1.0 - u**2) / np.sqrt(2.0 - u**2) * by_u / scale
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


def _limited(u: Array) -> tuple[Array, Array]:
    """u between -1 and 1, rounded off over SMOOTH, and its slope."""
    above, below = np.hypot(u + 1.0, SMOOTH), np.hypot(u - 1.0, SMOOTH)
    return 0.5 * (above - below), 0.5 * ((u + 1.0) / above - (u - 1.0) / below)


def _drain(gate: Array, drain: Array) -> tuple[Array, Array, Array]:
    """Drain current of a ring's transistor and its slopes by gate and drain voltage, source at 0.

    ``u a - a^2/2`` with a the smaller of drain voltage and overdrive u, and u not below 0.
    """
    over = gate - RING_THRESHOLD
    root = np.hypot(over, SMOOTH)
    u, by_gate = 0.5 * (over + root), 0.5 * (1.0 + over / root)
    apart = np.hypot(drain - u, SMOOTH)
    a, by_drain = 0.5 * (drain + u - apart), 0.5 * (1.0 - (drain - u) / apart)
    current = u * a - 0.5 * np.square(a)
    by_u = a + (u - a) * (1.0 - by_drain)
    return RING_BETA * current, RING_BETA * by_u * by_gate, RING_BETA * (u - a) * by_drain


def mos_oscillator(behavioural: Oscillator) -> Oscillator:
    """The transistor circuit that stands for a family."""
    if isinstance(behavioural, LC):
        return MosLC(mu=behavioural.mu)
    if isinstance(behavioural, Ring):
        return MosRing(stages=behavioural.stages)
    raise TypeError(f"family {behavioural.name}: no transistor circuit is known for it")
