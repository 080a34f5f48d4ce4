"""Predicted errors of free oscillators against a held drive: ``psi' = -y sin psi`` for a finite or infinite
time.

The flow is known, ``tan(psi(t)/2) = tan(psi(0)/2) exp(-y t)``, and so is what an error made at time t has
become at the end: it is multiplied by ``sin psi(T) / sin psi(t)``. An error e of the rate moves the end by
the integral of both (docs/targets/lava_budget.md); where the rate has become too small for the format, the
oscillator stands.
"""

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.moments import Moments
from hw_targets.lava.budget.roundings import Roundings, step_error

Array = NDArray[np.float64]

# Midpoints in time at which errors are added up.
NODES = 96


def driven_errors(start: Array, pull: Array, time: Array, whole: Array, r: Roundings) -> dict[str, Moments]:
    """Errors of the final phase, rad, by source.

    Parameters
    ----------
    start : psi(0), rad. pull : y, own clock. time : own-clock time of the run. whole : y times the time
    that the
        layer asks for, infinity allowed; longer than the run where an oscillator was taken to rest.
    """
    at = time * (np.arange(NODES) + 0.5)[:, None] / NODES
    psi = flow(start, pull * at)
    end = flow(start, pull * time)
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = np.where(psi == 0.0, np.exp(pull * (at - time)), np.sin(end) / np.sin(psi))
    sine, cosine = np.sin(psi), np.cos(psi)
    count = time / r.step  # steps

    def noise(variance: Array) -> Array:
        """Of a rate that errs independently in every step."""
        return (grown**2 * variance).mean(axis=0) * r.step**2 * count

    def drift(rate: Array) -> Array:
        return (grown * rate).mean(axis=0) * time

    table_mean, table_variance = r.table(sine, cosine)
    smooth = r.fresh(pull * np.abs(sine))
    zero = np.zeros_like(start)
    first = np.where(
        start == 0.0, np.exp(-pull * time), np.sin(end) / np.where(start == 0.0, 1.0, np.sin(start))
    )
    bits, plateau = _edges(end, pull, r)
    moving = np.abs(end) > np.maximum(bits, plateau)
    free = {
        "phase": Moments(
            drift(r.rate_mean(-pull * sine)),
            noise(r.step_variance + 0.0 * psi) + (r.phase_lsb * first) ** 2 / 12,
        ),
        "table": Moments(drift(-pull * table_mean), noise(r.table_share * smooth * pull**2 * table_variance)),
        "payload": Moments(
            drift(-pull * r.interpolation_mean(cosine)), noise(pull**2 * r.stage_variance(smooth) + 0.0 * psi)
        ),
        "parameters": Moments(zero, (np.sin(end) * time) ** 2 * r.mantissa_variance * (pull < 1.0)),
        "step": Moments(drift(step_error(-pull * sine, -pull * cosine, pull * sine, r)), zero),
    }
    rest = {
        name: Moments(np.where(moving, m.mean, 0.0), np.where(moving, m.variance, 0.0))
        for name, m in free.items()
    }
    side = np.sign(end)
    stands = np.maximum(np.maximum(bits, plateau) - np.abs(end), 0.0) * side * ~moving
    source = np.where(bits >= plateau, "phase", "table" if r.interpolation == "nearest" else "payload")
    for name in ("phase", "table", "payload"):
        rest[name] = rest[name] + Moments(stands * (source == name), zero)
    rest["settling"] = Moments(end - flow(start, whole), zero)
    return rest


def flow(start: Array, x: Array) -> Array:
    """psi after y t = x, rad, in (-pi, pi)."""
    return 2.0 * np.arctan2(np.exp(-x) * np.sin(start / 2), np.cos(start / 2))


def _edges(psi: Array, pull: Array, r: Roundings) -> tuple[Array, Array]:
    """Distances from rest, rad, within which the rate rounds to zero, and within which the sine does."""
    safe = np.where(pull > 0, pull, np.inf)
    plateau = r.spacing / 2 if r.interpolation == "nearest" else r.sine_lsb / 2
    # a phase above its resting point has a negative rate
    return np.where(psi > 0, r.stop_above, r.stop_below) / safe, np.where(pull > 0, plateau, 0.0)
