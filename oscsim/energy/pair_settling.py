"""How long pair cells have to run until S is read to an accuracy: from their own relaxation rates.

Sources: [ADLER] Adler, Proc. IRE 34 (1946) 351; docs/spec.md sections 2, 3 and 5.
"""

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.closed_form import lock_ratio, pair_rate
from oscsim.energy.flow_noise import Flow
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.settling import Settling, Tuning, stuck_note
from oscsim.phase import wrap
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import UNSTABLE_BAND

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def locked_time(d: Array, a: Array, j: Array, psi_0: Array, accuracy: float) -> Array:
    """Time after which ``J cos psi`` of a locked cell stays within ``accuracy`` of S, time units.

    Exact: with s the resting and u = pi - s the unstable point, ``w = sin((psi-s)/2)/sin((psi-u)/2)`` decays
    like ``exp(-lambda t)``, ``lambda = sqrt(a^2 - d^2)`` [ADLER]; so ``T = ln(w(psi_0)/w(e))/lambda`` with e
    the last phase at which the read-out is off by ``accuracy``. 0 where it never is. Arguments broadcast;
    infinite for a start on u, NaN where ``d >= |a|``.

    >>> t = locked_time(np.array(0.6), np.array(1.0), np.array(1.0), np.array(0.0), 1e-3)
    >>> from oscsim.closed_form import pair_trajectory
    >>> abs(np.cos(pair_trajectory(np.array(0.6), np.array(1.0), np.array(0.0), t)) - 0.8).round(9)
    np.float64(0.001)
    """
    d, a, j, psi_0 = np.broadcast_arrays(d, a, j, psi_0)
    rho = np.where(d < np.abs(a), lock_ratio(d, a), np.nan)
    rest, cosine = np.arcsin(rho), np.sqrt((1.0 - rho) * (1.0 + rho))
    unstable = np.pi - rest
    turned = psi_0 + np.where(a < 0.0, np.pi, 0.0)
    psi = unstable - np.mod(unstable - turned, 2.0 * np.pi)  # in (u - 2 pi, u], on its way to s
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.where(np.abs(j) > accuracy, accuracy / np.abs(j), 2.0)
        low, high = cosine - off, cosine + off
        above = np.where(low > -cosine, np.arccos(np.clip(low, -1.0, 1.0)), unstable)
        wide = np.where(low > -1.0, -np.arccos(np.clip(low, -1.0, 1.0)), -np.inf)
        below = np.where(high < 1.0, np.arccos(np.clip(high, -1.0, 1.0)), wide)
        inside = np.where(psi > rest, psi <= above, psi >= below)
        end = np.where(psi > rest, above, below)
        time = np.log(_quotient(psi, rest) / _quotient(end, rest)) / (cosine * np.abs(a))
    return np.where(np.isnan(rho), np.nan, np.where(inside, 0.0, time))


def _quotient(psi: Array, rest: Array) -> Array:
    return np.abs(np.sin((psi - rest) / 2.0) / np.sin((psi - np.pi + rest) / 2.0))


def window_time(d: Array, a: Array, j: Array, accuracy: float) -> Array:
    """Time over which ``|J <cos psi>|`` of a turning cell averages to at most ``accuracy``, time units.

    A window that is no whole beat leaves up to ``ln((d+a)/(d-a))/(a T)`` (docs/spec.md section 3); that is
    ``2/(d T)`` without coupling. 0 where ``|J| <= accuracy``; NaN where ``d <= |a|``.

    >>> window_time(np.array(2.0), np.array([1.0, 0.0]), np.array(1.0), 0.01).round(3).tolist()
    [109.861, 100.0]
    """
    d, a, j = np.broadcast_arrays(d, np.abs(a), np.abs(j))
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(d > a, a / d, np.nan)
        per_d = np.where(x < 1e-8, 2.0, 2.0 * np.arctanh(x) / np.where(x > 0.0, x, 1.0))
        return np.where(j <= accuracy, np.where(np.isnan(x), np.nan, 0.0), j * per_d / (d * accuracy))


def beat_time(d: Array, a: Array, j: Array, accuracy: float) -> Array:
    """One whole beat ``2 pi/sqrt(d^2 - a^2)``, over which a turning cell averages to exactly 0, time units.

    0 where ``|J| <= accuracy``; NaN where ``d <= |a|``.

    >>> float(beat_time(np.array(1.25), np.array(0.75), np.array(1.0), 0.01).round(6))
    6.283185
    """
    with np.errstate(divide="ignore"):
        beat = np.where(d > np.abs(a), 2.0 * np.pi / pair_rate(d, a), np.nan)
    return np.where((np.abs(j) <= accuracy) & ~np.isnan(beat), 0.0, beat)


def pair_settling(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> Settling:
    """Times of all pair cells, (H, N, N); those near the locking edge are left out."""
    d = pair_terms.mismatch(spec)
    j = pair_terms.coupling(spec, d)
    a, psi = pair_terms.locking_strength(spec, j), pair_terms.initial_difference(spec, d, j)
    built = np.broadcast_to(pair_terms.unmasked(spec), d.shape)
    accuracy, rho = hardware.accuracy, lock_ratio(d, a)
    turning = window_time if hardware.read_out == "window" else beat_time
    time = np.where(d < np.abs(a), locked_time(d, a, j, psi, accuracy), turning(d, a, j, accuracy))
    time = np.where((d == 0.0) & (a == 0.0), 0.0, time)  # nothing pulls, nothing turns: S = |J| at once
    needed = np.abs(j) > accuracy
    stuck = (d < np.abs(a)) & _on_unstable_point(rho, a, psi)
    edge = np.abs(rho - 1.0) <= hardware.edge_band
    left_out = built & needed & (edge | stuck)
    time = np.where(needed, time, 0.0)
    speed = cell_speed(spec, hardware, d, np.abs(a))
    rate = np.where(needed & (d < np.abs(a)), pair_rate(d, a) * speed, np.nan)
    return Settling(
        np.where(built & ~left_out, time / speed, np.nan), built, left_out, built & (d <= np.abs(a)),
        np.where(built, rate, np.nan), built & ~np.eye(d.shape[1], dtype=bool),
        stuck_note(built & stuck & needed), tuning=_pair_tuning(spec, d, a, speed, built & needed, accuracy),
        flow=Flow(rho, np.where(built, rate, np.nan), np.where(a < 0.0, psi + np.pi, psi)),
    )  # fmt: skip


def _pair_tuning(
    spec: PhaseLayerSpec, d: Array, a: Array, speed: Array, read: Mask, accuracy: float
) -> Tuning:
    """``dS = (d/|a|)/sqrt(1 - (d/a)^2) dd/(K r)``: steps of K r per unit of condition, from d = 0 on.

    Of cells that lock, or whose K r is at least the accuracy of the strongest coupling: one that turns far
    from its edge averages to 0 whatever its frequency is. An oscillator is never off from itself.
    """
    pull = (spec.gain[:, None] * pair_terms.spec_order_parameter(spec))[:, :, None] * speed
    strongest = float((np.abs(a) * speed)[read].max(initial=0.0))
    apart = read & (pull > 0.0) & ~np.eye(d.shape[1], dtype=bool)
    held = apart & ((d <= np.abs(a)) | (pull >= accuracy * strongest))
    return Tuning(float((d * speed)[held].max(initial=0.0)), float(pull[held].min(initial=np.inf)))


def _on_unstable_point(rho: Array, a: Array, psi: Array) -> Mask:
    unstable = np.pi - np.arcsin(np.minimum(rho, 1.0)) + np.where(a < 0.0, np.pi, 0.0)
    return np.abs(wrap(psi - unstable)) < UNSTABLE_BAND


def cell_speed(spec: PhaseLayerSpec, hardware: OscillatorHardware, d: Array, strength: Array) -> Array:
    """How much faster each pair cell runs on its own clock: up to the strongest coupling, never slower."""
    if hardware.cell_clock != "own":
        return np.ones_like(d)
    rate = np.maximum(strength, d)
    fastest = np.where(pair_terms.unmasked(spec), strength, 0.0).max(initial=0.0)
    return np.maximum(np.divide(fastest, rate, out=np.ones_like(rate), where=rate > 0.0), 1.0)
