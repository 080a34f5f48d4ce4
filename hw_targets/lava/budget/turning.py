"""Predicted errors of phase cells that turn, by source; every coefficient is derived, none is fitted.

A cell ``psi' = f(psi) = 1 - kappa sin psi`` with an error e of its rate has ``<cos psi>`` moved by
``-<cos(psi) e / f>``. The angle u with ``du = omega dt``, ``omega = sqrt(1 - kappa^2)`` and ``sin psi =
(kappa + sin u)/(1 + kappa sin u)`` is uniform in time, and ``cos(psi)/f = cos(u)/omega``. Errors that are
independent from step to step give ``var <cos psi> = var(e)/(2 omega^2 steps)``
(docs/targets/lava_budget.md).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.moments import Moments
from hw_targets.lava.budget.roundings import Roundings

Array = NDArray[np.float64]

# Nodes of an average over a beat: smooth, periodic integrands.
NODES = 64


@dataclass(frozen=True, eq=False)
class Beat:
    """A turning cell, x = 1: pull kappa < 1, beat ``omega = sqrt(1 - kappa^2)``, and what was averaged.

    Parameters
    ----------
    first : own-clock time of the first crossing of pi/2; beats : whole beats seen.
    """

    kappa: Array
    omega: Array
    first: Array
    beats: Array

    @classmethod
    def of(cls, kappa: Array, start: Array, time: Array) -> "Beat":
        """From the start and the length of a run."""
        omega = np.sqrt((1.0 - kappa) * (1.0 + kappa))
        u = beat_angle(kappa, start)
        first = np.mod(np.pi / 2 - u, 2 * np.pi) / omega
        return cls(kappa, omega, first, np.maximum(np.floor((time - first) * omega / (2 * np.pi)), 1.0))

    @property
    def span(self) -> Array:
        """Own-clock time of the average."""
        return 2 * np.pi * self.beats / self.omega

    def average(self, value: Array) -> Array:
        """Over a beat, of values at :func:`nodes`."""
        return value.mean(axis=0)


def beat_angle(kappa: Array, psi: Array) -> Array:
    """The angle u of a phase psi that grows uniformly in time, rad."""
    below = 1.0 - kappa * np.sin(psi)
    omega = np.sqrt((1.0 - kappa) * (1.0 + kappa))
    return np.arctan2((np.sin(psi) - kappa) / below, omega * np.cos(psi) / below)


def turning_errors(beat: Beat, r: Roundings) -> dict[str, Moments]:
    """Errors of ``<cos psi>`` of cells that turn, by source."""
    u = (2 * np.pi * (np.arange(NODES) + 0.5) / NODES)[:, None]
    slow = 1.0 + beat.kappa * np.sin(u)
    sine, cosine = (beat.kappa + np.sin(u)) / slow, beat.omega * np.cos(u) / slow
    rate = beat.omega**2 / slow
    weight = np.cos(u) / beat.omega  # cos(psi) / f
    rounded = r.entry_variance + r.interpolation_variance
    drag = -beat.kappa * r.interpolation_mean(cosine)
    zero = np.zeros_like(beat.kappa)

    def noise(variance: Array) -> Array:
        """Of a mean over independent steps."""
        return variance.mean(axis=0) * r.step / beat.span

    smooth = r.fresh(rate)
    return {
        "phase": Moments(zero, noise(weight**2 * r.step_variance)),
        "table": Moments(zero, noise(smooth * _table_noise(beat.kappa, sine, cosine, rate, r))),
        # the rate errs by kappa times the sine's rounding, and so does the cosine that is summed
        "payload": Moments(
            -(weight * drag).mean(axis=0) + r.interpolation_mean(-sine).mean(axis=0),
            noise((weight * beat.kappa) ** 2 * r.stage_variance(smooth) + rounded + 0.0 * u),
        ),
        "parameters": Moments(zero, zero),
        "step": Moments(step_bias(beat, r, sine, cosine, rate, weight) + read_out_bias(beat, r), zero),
        "settling": Moments(zero, zero),
    }


def _table_noise(kappa: Array, sine: Array, cosine: Array, rate: Array, r: Roundings) -> Array:
    """Variance per step of what the table's own errors do to the mean: through the rate, and where it is
    read.

    The nearest entry turns the phasor by up to half an interval, a chord shortens it; both parts of one
    look-up err together. One third of a Runge-Kutta step uses the phase that is also read out, the rest
    others.
    """
    own = 1.0 / 3.0 if r.integrator == "runge_kutta" else 1.0
    if r.interpolation == "nearest":
        turned = r.spacing**2 / 12
        through, read = -kappa * cosine**2 / rate, -sine
        return turned * ((own * through + read) ** 2 + ((1.0 - own) * through) ** 2)
    shortened = r.spacing**4 / 720
    through, read = -kappa * sine * cosine / rate, -cosine
    return shortened * ((own * through + read) ** 2 + ((1.0 - own) * through) ** 2)


def step_bias(beat: Beat, r: Roundings, sine: Array, cosine: Array, rate: Array, weight: Array) -> Array:
    """Shift of ``<cos psi>`` because a step of size h follows a rate ``f + e`` (backward error analysis).

    Euler: ``e = -(h/2) f f'``, the bias of docs/spec.md section 3. Runge-Kutta: the term of order h^4 is
    symmetric about pi/2 and averages out; that of order h^5 does not.
    """
    k = beat.kappa
    f0, f1, f2, f3, f4, f5 = rate, -k * cosine, k * sine, k * cosine, -k * sine, -k * cosine
    if r.integrator == "euler":
        return (weight * r.step / 2 * f0 * f1).mean(axis=0)
    # Taylor coefficients of one step minus those of the flow, and half the bracket of f with the h^4 term
    sixth = (
        f0**5 * f5 / 5760 + 7 * f0**4 * f1 * f4 / 5760 - f0**4 * f2 * f3 / 384
        + 3 * f0**3 * f1**2 * f3 / 320 + 7 * f0**3 * f1 * f2**2 / 1440
        - 29 * f0**2 * f1**3 * f2 / 2880 - f0 * f1**5 / 720
    )  # fmt: skip
    inner = f0**3 * f4 + 2 * f0**2 * f1 * f3 - 6 * f0**2 * f2**2 + 36 * f0 * f1**2 * f2 - 24 * f1**4
    slope = (
        3 * f0**2 * f1 * f4 + f0**3 * f5 + 4 * f0 * f1**2 * f3 + 2 * f0**2 * (f2 * f3 + f1 * f4)
        - 12 * f0 * f1 * f2**2 - 12 * f0**2 * f2 * f3 + 36 * f1**3 * f2
        + 36 * f0 * (2 * f1 * f2**2 + f1**2 * f3) - 96 * f1**3 * f2
    )  # fmt: skip
    fourth, fourth_slope = f0 * inner / 2880, (f1 * inner + f0 * slope) / 2880
    fifth = sixth - (f0 * fourth_slope + f1 * fourth) / 2
    return -(r.step**5) * (weight * fifth).mean(axis=0)


def read_out_bias(beat: Beat, r: Roundings) -> Array:
    """Error of trapezoids that start and end between two steps, at crossings of pi/2 (Euler-Maclaurin).

    With the shares s of a step before the crossings, ``c h^4 / 24 [(s^4 - s^2)_last - (s^4 - s^2)_first]``
    over the span, c = (1 - kappa)^2 (2 kappa - 1) the third derivative of -cos psi at the crossing.
    """
    share = np.mod(beat.first / r.step, 1.0)
    last = np.mod((beat.first + beat.span) / r.step, 1.0)
    third = (1.0 - beat.kappa) ** 2 * (2.0 * beat.kappa - 1.0)
    ends = (last**4 - last**2) - (share**4 - share**2)
    return third * r.step**4 / 24 * ends / beat.span
