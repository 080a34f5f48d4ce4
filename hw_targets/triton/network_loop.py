"""The network run: launch, look whether every head has settled, launch twice as long, until it has."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.plan import Lowered
from oscsim.beat_average import pair_averages
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import AVERAGING_CAP, FLOAT32_SETTLE_RESIDUAL, LOCK_THRESHOLD

Array = NDArray[np.float64]
# (heads, steps) -> phases after every step (heads, steps, COUNT, WIDTH), velocity (heads, COUNT, WIDTH)
Advance = Callable[[NDArray[np.int32], int], tuple[NDArray[np.float32], NDArray[np.float32]]]


@dataclass(frozen=True, eq=False)
class HeadReadOut:
    """One head after a launch; padded oscillators left out.

    mean : (n, n, D) ``<exp(i(theta_i - theta_j))>``; phase : (n, D) rad; steps : taken so far; change :
    how much the mean changes when only the later half is used, 0 at rest, infinite while a beat is unseen.
    """

    mean: NDArray[np.complex128]
    phase: Array
    steps: int
    change: float

    @property
    def locked(self) -> NDArray[np.bool_]:
        """(n, n): held together on every channel."""
        return np.all(np.abs(self.mean) >= LOCK_THRESHOLD, axis=2)

    @property
    def status(self) -> SyncStatus:
        """Decided from the samples."""
        if not np.isfinite(self.phase).all():
            return SyncStatus.FAILED
        if self.change > AVERAGING_CAP:
            return SyncStatus.NOT_CONVERGED
        return SyncStatus.SETTLED if self.locked.all() else SyncStatus.DRIFTING


def run_heads(spec: PhaseLayerSpec, lowered: Lowered, advance: Advance) -> list[HeadReadOut]:
    """Run every head until its read-out has converged or max_steps are spent.

    Every launch lasts half as long as all before it together; after each one every moving head is read.
    """
    steps = lowered.plan["steps"]
    tolerance = lowered.plan["numbers"]["average_tolerance"]
    read: dict[int, HeadReadOut] = {}
    kept: dict[int, NDArray[np.float32]] = {}
    active, taken = np.arange(spec.n_heads, dtype=np.int32), 0
    while len(active) and taken < steps["most"]:
        longer = int(taken * (steps["growth"] - 1.0))
        length = min(max(longer, steps["first"]), steps["kept"], steps["most"] - taken)
        samples, velocity = advance(active, length)
        taken += length
        for slot, head in enumerate(active.tolist()):
            history = [kept[head], samples[slot]] if head in kept else [samples[slot]]
            kept[head] = np.concatenate(history)[-steps["kept"] :]
            row_rate = lowered.scales["row_rate"][head]
            read[head] = read_out(spec, kept[head], velocity[slot], row_rate, taken)
        active = np.array([head for head in active if read[int(head)].change > tolerance], dtype=np.int32)
    return [read[head] for head in range(spec.n_heads)]


def read_out(
    spec: PhaseLayerSpec,
    samples: NDArray[np.float32],
    velocity: NDArray[np.float32],
    row_rate: Array,
    steps: int,
) -> HeadReadOut:
    """Channels at rest are read from the final phases, moving ones from the window over the samples."""
    index, channels = np.flatnonzero(spec.valid), spec.n_channels
    moving = velocity[index, :channels].astype(np.float64)
    moving -= moving.mean(axis=0)
    at_rest = (np.abs(moving) <= FLOAT32_SETTLE_RESIDUAL * row_rate[index]).all(axis=0)
    phases = samples[:, index, :channels].astype(np.float64)
    final = np.exp(1j * phases[-1])
    mean = final[:, None, :] * final.conj()[None, :, :]
    change, unwrapped = 0.0, np.unwrap(phases, axis=0).astype(np.float64)
    for channel in np.flatnonzero(~at_rest):
        mean[:, :, channel], moved = pair_averages(unwrapped[:, :, channel])
        change = max(change, moved)
    return HeadReadOut(mean, phases[-1], steps, change)
