"""An energy that was measured: another type than an estimate, and never added to one."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, stdev
from typing import Any, NoReturn

from oscsim.energy.estimate import EnergyError


@dataclass(frozen=True)
class MeasuredEnergy:
    """Joules per run of something, measured on a device; :class:`Estimate` is what is calculated.

    Parameters
    ----------
    what : what ran, as "fused op, triton, N = 4096".
    device, driver : on what, by name and version.
    boundary : what the meter sees, as "board (GPU, memory, regulators)".
    samples_j : (repeats,) joules per run, each the mean over ``runs_per_sample`` runs.
    resolution_j : error of a sample from the steps of the counter, J per run.
    idle_power_w : of the device before, W; idle_subtracted : whether it is taken off the samples.
    discarded : samples thrown away because the counter went backwards.

    >>> x = MeasuredEnergy("op", "GPU", "550", "board", (2.0, 3.0, 4.0), 10, 0.1, 70.0, False)
    >>> x.joules, round(x.standard_error_j, 3)
    (3.0, 0.577)
    >>> print(x)
    measured: 3 J +- 0.577 J (median of 3, 2 J to 4 J; counter 0.1 J), op on GPU, board, 70 W idle included
    """

    what: str
    device: str
    driver: str
    boundary: str
    samples_j: tuple[float, ...]
    runs_per_sample: int
    resolution_j: float
    idle_power_w: float
    idle_subtracted: bool
    discarded: int = 0

    def __post_init__(self) -> None:
        if len(self.samples_j) < 2:
            raise EnergyError(
                f"{self.what}: given {len(self.samples_j)} samples, expected two or more: one has no spread"
            )

    @property
    def joules(self) -> float:
        """Median of the samples, J per run."""
        return median(self.samples_j)

    @property
    def standard_error_j(self) -> float:
        """Standard error of the mean over the repeats, J per run."""
        return stdev(self.samples_j) / len(self.samples_j) ** 0.5

    def to_json(self) -> dict[str, Any]:
        """Everything above as plain JSON, under the key ``measured_j``: no key of an estimate."""
        return {
            "measured_j": self.joules, "standard_error_j": self.standard_error_j,
            "samples_j": list(self.samples_j),
            "what": self.what, "device": self.device, "driver": self.driver, "boundary": self.boundary,
            "runs_per_sample": self.runs_per_sample, "resolution_j": self.resolution_j,
            "idle_power_w": self.idle_power_w, "idle_subtracted": self.idle_subtracted,
            "discarded": self.discarded,
        }  # fmt: skip

    def __str__(self) -> str:
        numbers = f"{_words(self.joules)} +- {_words(self.standard_error_j)}"
        spread = f"{_words(min(self.samples_j))} to {_words(max(self.samples_j))}"
        idle = "subtracted" if self.idle_subtracted else "included"
        return (
            f"measured: {numbers} (median of {len(self.samples_j)}, {spread}; counter "
            f"{_words(self.resolution_j)}), {self.what} on {self.device}, {self.boundary}, "
            f"{self.idle_power_w:.3g} W idle {idle}"
        )

    def __add__(self, other: object) -> NoReturn:
        raise TypeError(
            f"a measured energy cannot be added to a {type(other).__name__}: what is measured and what is "
            f"estimated, or measured on another run, have no common sum; show them side by side"
        )

    __radd__ = __add__


def measured_from(
    samples_j: Sequence[float], seconds: Sequence[float], idle_power_w: float, *, subtract_idle: bool
) -> tuple[float, ...]:
    """Samples with the idle power of their duration taken off, or as they are.

    Raises
    ------
    EnergyError
        the device drew less than when idle: the baseline was taken while something else ran.

    >>> measured_from([3.0], [0.02], 50.0, subtract_idle=True)
    (2.0,)
    """
    if not subtract_idle:
        return tuple(samples_j)
    rest = tuple(j - idle_power_w * s for j, s in zip(samples_j, seconds, strict=True))
    if min(rest) <= 0.0:
        raise EnergyError(
            f"idle power {idle_power_w:.3g} W is more than the device drew at work; expected an idle device "
            "before the measurement: stop what else runs on it and measure again"
        )
    return rest


def _words(energy_j: float) -> str:
    return f"{energy_j:.3g} J"
