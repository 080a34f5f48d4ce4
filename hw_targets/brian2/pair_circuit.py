"""The pair circuit on Brian2: injection-locked cells, each read out on its own clock."""

from dataclasses import dataclass

import numpy as np
from brian2 import Network, NetworkOperation, NeuronGroup, hertz, second
from numpy.typing import NDArray

from hw_targets.brian2.outcome import Outcome
from hw_targets.brian2.pair_lowering import EQUATIONS, CellClass, PairLowering
from oscsim.pair_terms import spec_order_parameter
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import SETTLE_RESIDUAL

Array = NDArray[np.float64]
_TURN = 2.0 * np.pi
# Looking for rest costs a sine per cell; every few steps is soon enough.
_STEPS_PER_CHECK = 8


@dataclass(eq=False)
class CellReadings:
    """What the cells of a layer (or of one duration class) showed; one entry per cell.

    psi : final phase difference, rad. settled : came to rest. turned : made a whole turn, so it is
    unlocked, and mean_cosine is its mean over that turn. steps : integration steps, per class.
    """

    psi: Array
    mean_cosine: Array
    settled: NDArray[np.bool_]
    turned: NDArray[np.bool_]
    steps: dict[int, int]

    @classmethod
    def unread(cls, start: Array) -> "CellReadings":
        """Nothing read yet; NaN so that a cell nobody wrote cannot pass for a reading."""
        nothing = np.zeros(start.shape, bool)
        return cls(start.copy(), np.full_like(start, np.nan), nothing, nothing.copy(), {})


class PairClassRun:
    """One duration class as a NeuronGroup, watched after every step until each cell has been read.

    ``step`` advances every cell by ``part.step`` of its own clock.
    """

    def __init__(self, lowering: PairLowering, part: CellClass) -> None:
        self.part = part
        self.rate = lowering.rate[part.cells]
        self.mismatch, self.locking = lowering.mismatch[part.cells], lowering.locking[part.cells]
        self.start = lowering.start[part.cells]
        self.readings = CellReadings.unread(self.start)
        self.steps = 0
        scale, dt = lowering.scale, lowering.scale.dt_s(part.step) * second
        group = NeuronGroup(len(part.cells), EQUATIONS, method="rk4", dt=dt, namespace={})
        group.psi = self.start
        group.mismatch = scale.per_second(self.mismatch) * hertz
        group.locking = scale.per_second(self.locking) * hertz
        group.stretch = scale.stretch(self.rate)
        group.pace = scale.fastest / scale.time_unit_s * hertz
        self._psi, self._cosine = group.variables["psi"], group.variables["cosine"]
        self._before = self.state()
        watch = NetworkOperation(self._after_step, clock=group.clock, when="end")
        self._network, self._dt = Network(group, watch), dt

    def run(self, most_steps: int) -> CellReadings:
        """Integrate until every cell has been read, at most ``most_steps``."""
        self._network.run(most_steps * self._dt, namespace={})
        self.readings.psi, _ = self.state()
        self._look_for_rest(self.readings.psi)
        self.readings.steps = {self.part.number: self.steps}
        return self.readings

    def state(self) -> tuple[Array, Array]:
        """psi (rad) and the integral of cos(psi) over own-clock time, now."""
        return self._psi.get_value().copy(), self._cosine.get_value().copy()

    def speed(self, psi: Array, cells: NDArray[np.int64] | slice = slice(None)) -> Array:
        """d psi / d tau on the own clock; 0 for a cell without a clock (d = a = 0)."""
        drive = self.mismatch[cells] - self.locking[cells] * np.sin(psi)
        rate = self.rate[cells]
        return np.divide(drive, rate, out=np.zeros_like(drive), where=rate > 0)

    def _after_step(self) -> None:
        self.steps += 1
        psi, cosine = self.state()
        turned = np.flatnonzero((psi - self.start >= _TURN) & ~self.readings.turned)
        if len(turned):
            self._read_turn(turned, psi[turned], cosine[turned])
        if self.steps % _STEPS_PER_CHECK == 0 and self._look_for_rest(psi):
            self._network.stop()
        self._before = psi, cosine

    def _look_for_rest(self, psi: Array) -> bool:
        read = self.readings
        read.settled = ~read.turned & (np.abs(self.speed(psi)) <= SETTLE_RESIDUAL)
        return bool((read.settled | read.turned).all())

    def _read_turn(self, cells: NDArray[np.int64], psi: Array, cosine: Array) -> None:
        """Mean cosine over the whole turn that ended inside the last step (fourth-order interpolation)."""
        psi_0, cosine_0 = (part[cells] for part in self._before)
        slopes = [self.part.step * self.speed(phase, cells) for phase in (psi_0, psi)]
        end = self.start[cells] + _TURN
        low, high = np.zeros(len(cells)), np.ones(len(cells))
        for _ in range(52):  # bisection: psi rises monotonically, and 2^-52 of a step is rounding
            middle = 0.5 * (low + high)
            below = hermite(middle, psi_0, psi, *slopes) < end
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        area_slopes = [self.part.step * np.cos(phase) for phase in (psi_0, psi)]
        area = hermite(high, cosine_0, cosine, *area_slopes)
        self.readings.mean_cosine[cells] = area / ((self.steps - 1 + high) * self.part.step)
        self.readings.turned[cells] = True


def hermite(u: Array, y_0: Array, y_1: Array, slope_0: Array, slope_1: Array) -> Array:
    """Cubic through two values and slopes (per step) at u in [0, 1]; error ~ step^4 / 384."""
    v = 1.0 - u
    return v * v * ((1.0 + 2.0 * u) * y_0 + u * slope_0) + u * u * ((3.0 - 2.0 * u) * y_1 - v * slope_1)


def read_cells(lowering: PairLowering) -> CellReadings:
    """Run all duration classes one after the other."""
    readings = CellReadings.unread(lowering.start)
    for part in lowering.classes:
        one = PairClassRun(lowering, part).run(int(np.ceil(lowering.max_duration / part.step)))
        for name in ("psi", "mean_cosine", "settled", "turned"):
            getattr(readings, name)[part.cells] = getattr(one, name)
        readings.steps |= one.steps
    return readings


def run_pair(spec: PhaseLayerSpec, lowering: PairLowering) -> Outcome:
    """``S = |J <cos psi>|``: at rest the cosine itself, else its mean over a whole turn [ADLER]."""
    read = read_cells(lowering)
    cosine = np.where(read.turned, read.mean_cosine, np.cos(read.psi))
    sync, locked = np.zeros(lowering.allowed.shape), np.zeros(lowering.allowed.shape, bool)
    undecided = ~(read.settled | read.turned)
    outside = undecided & (lowering.edge_distance > lowering.accuracy.band)
    # inside the band a cell that is neither has no read-out: where it stopped would be chance
    cosine = np.where(undecided & ~outside, 0.0, cosine)
    sync[lowering.allowed] = np.abs(lowering.coupling * cosine)
    locked[lowering.allowed] = read.settled
    unstable = read.settled & (lowering.locking * np.cos(read.psi) < 0)
    notes = [f"steps taken by duration class: {read.steps}"]
    if undecided.any():
        notes.append(
            f"{undecided.sum()} cells neither at rest nor once around at the end, {outside.sum()} of them "
            f"outside the edge band {lowering.accuracy.band:.3g} and read at their last instant; the others "
            "are undecided: S = 0, not locked"
        )
    if unstable.any():
        notes.append(f"{unstable.sum()} cells started on their unstable point and never moved")
    return Outcome(
        sync=sync,
        locked=locked,
        order_parameter=spec_order_parameter(spec),
        status=SyncStatus.NOT_CONVERGED if outside.any() else SyncStatus.SETTLED,
        notes=tuple(notes),
        accuracy=lowering.accuracy,
    )
