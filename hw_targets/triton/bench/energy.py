"""Joules of a call on a device with an energy counter, measured.

The counter of NVML moves only every 20 to 100 ms [PETSC]. So a call is repeated for seconds, and counting
begins and ends at a step of the counter while the device works.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from oscsim.energy.measured import MeasuredEnergy, measured_from
from oscsim.errors import ConfigError, TargetRunError

BOUNDARY = "board (GPU, memory, regulators), whole layer"
# A counter that has not moved for so long stands still.
_STUCK_S = 2.0
# Calls between two looks at the counter take about this: short against its steps.
_BATCH_S = 0.005
_IDLE_NAP_S = 0.002
# Clocks and temperature follow a load that begins.
_WARM_S = 1.0


class Counter(Protocol):
    """Counts the energy of a device, as :class:`hw_targets.triton.bench.nvml.NvmlCounter`."""

    device: str
    driver: str

    def millijoules(self) -> int:
        """Energy since some moment, mJ."""
        ...


@dataclass(frozen=True)
class Clock:
    """Seconds and how to wait for them."""

    now: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class EnergyOptions:
    """How long and how often a call is measured.

    Parameters
    ----------
    sample_s : least duration of a sample and of the idle baseline; the counter's steps are 0.1 s at most.
    repeats : samples. subtract_idle : whether the idle power of their duration is taken off.
    """

    sample_s: float = 4.0
    repeats: int = 5
    subtract_idle: bool = False

    def __post_init__(self) -> None:
        if not self.sample_s >= 1.0:
            raise ConfigError(f"sample_s: given {self.sample_s:g}, expected at least 1 (the counter is slow)")
        if self.repeats < 2:
            raise ConfigError(f"repeats: given {self.repeats}, expected at least 2: one has no spread")


def measure(
    call: Callable[[], object],
    synchronize: Callable[[], object],
    what: str,
    counter: Counter,
    options: EnergyOptions | None = None,
    clock: Clock | None = None,
) -> MeasuredEnergy:
    """Joules per run of a call: the idle device first, then ``repeats`` samples of many runs each.

    Parameters
    ----------
    call : starts one run. synchronize : waits for all that were started.

    Raises
    ------
    TargetRunError
        the counter stands still, or went backwards in as many samples as are wanted.
    EnergyError
        idle power was to be subtracted, and the device was not idle.
    """
    options, clock = options or EnergyOptions(), clock or Clock()
    call()  # compiles, allocates
    synchronize()
    idle = _idle(counter, options.sample_s, clock)
    batch = _batch(call, synchronize, clock)

    def work() -> int:
        for _ in range(batch):
            call()
        synchronize()
        return batch

    _sample(work, counter, _WARM_S, clock)
    samples: list[_Sample] = []
    discarded = 0
    while len(samples) < options.repeats:
        sample = _sample(work, counter, options.sample_s, clock)
        if sample.joules > 0.0:
            samples.append(sample)
            continue
        discarded += 1  # the driver was reloaded, or the counter wrapped
        if discarded == options.repeats:
            raise TargetRunError(
                f"target 'triton' on {counter.device}: the energy counter went backwards {discarded} times; "
                "expected it to grow: measure again when nobody resets the driver"
            )
    per_run = [sample.joules / sample.runs for sample in samples]
    seconds = [sample.seconds / sample.runs for sample in samples]
    return MeasuredEnergy(
        what=what,
        device=counter.device,
        driver=counter.driver,
        boundary=BOUNDARY,
        samples_j=measured_from(per_run, seconds, idle, subtract_idle=options.subtract_idle),
        runs_per_sample=min(sample.runs for sample in samples),
        resolution_j=max(sample.resolution_j / sample.runs for sample in samples),
        idle_power_w=idle,
        idle_subtracted=options.subtract_idle,
        discarded=discarded,
    )


@dataclass(frozen=True)
class _Sample:
    joules: float
    seconds: float
    runs: int
    resolution_j: float


def _sample(work: Callable[[], int], counter: Counter, least_s: float, clock: Clock) -> _Sample:
    """Work from one step of the counter to the first that is ``least_s`` later."""
    first, begin, _, look = _step(work, counter, clock)
    runs = 0
    while True:
        last, end, done, look = _step(work, counter, clock)
        runs += done
        if last < first or end - begin >= least_s:
            # both ends are known to within one look at the counter
            power = (last - first) / 1e3 / (end - begin)
            return _Sample((last - first) / 1e3, end - begin, runs, abs(power) * look + 1e-3)


def _step(work: Callable[[], int], counter: Counter, clock: Clock) -> tuple[int, float, int, float]:
    """Work until the counter moves: what it shows, when, runs done until then, and time of the last look."""
    before, start, runs = counter.millijoules(), clock.now(), 0
    while True:
        looked = clock.now()
        runs += work()
        now = counter.millijoules()
        end = clock.now()
        if now != before:
            return now, end, runs, end - looked
        if end - start > _STUCK_S:
            raise TargetRunError(
                f"target 'triton' on {counter.device}: the energy counter stood still at {now} mJ for "
                f"{end - start:.1f} s; expected a step every 0.1 s at most: this driver cannot measure"
            )


def _idle(counter: Counter, least_s: float, clock: Clock) -> float:
    """Power of the idle device, W."""

    def nap() -> int:
        clock.sleep(_IDLE_NAP_S)
        return 1

    for _ in range(2):
        sample = _sample(nap, counter, least_s, clock)
        if sample.joules > 0.0:
            return sample.joules / sample.seconds
    raise TargetRunError(f"target 'triton' on {counter.device}: the energy counter went backwards twice")


def _batch(call: Callable[[], object], synchronize: Callable[[], object], clock: Clock) -> int:
    """How many calls take about ``_BATCH_S``."""
    begin, calls = clock.now(), 0
    while clock.now() - begin < _BATCH_S:
        call()
        synchronize()
        calls += 1
    return calls
