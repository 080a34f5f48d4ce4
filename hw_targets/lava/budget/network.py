"""Predicted errors of the rates of a network at rest, by source, from uniform roundings (lava_budget.md)."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.head import Head, Rates
from hw_targets.lava.budget.roundings import UNIFORM, Roundings

Array = NDArray[np.float64]


def rate_errors(head: Head, r: Roundings, delayed: bool) -> dict[str, Rates]:
    """Errors of the rates of one head, by source."""
    channels, count = head.theta.shape
    none = np.zeros((channels, count))
    own, other = np.eye(count), np.eye(channels)[:, :, None, None]
    sines = np.sin(head.difference)
    table, payload = _table(head, r), _payload(head, r)
    late = -head.rotation[:, None] * (head.matrix * np.cos(head.difference)).sum(axis=2) * r.step
    # channels share their synapses and gains, everything else is independent
    synapses = np.einsum("ij,cij,dij->cdi", _entries(head), sines, sines)
    gains = UNIFORM / np.maximum(np.abs(head.gain), 1.0) ** 2 * (r.mantissa_lsb > 0)
    return {
        "phase": Rates(
            _cut_off(head, r), other * own * _steps(head, r, table[1] + payload[1])[:, None, :, None]
        ),
        "table": Rates(table[0], other * table[1][:, None]),
        "payload": Rates(payload[0], other * payload[1][:, None]),
        "weights": Rates(none, own * synapses[..., None]),
        "parameters": Rates(none, own * (gains * head.pull[:, None] * head.pull[None])[..., None]),
        "delay": Rates(late if delayed else none, np.zeros((channels, channels, count, count))),
    }


def _entries(head: Head) -> Array:
    """(n, n) variance of the synapses: the largest of a row is exact, the smallest vanish."""
    size = np.abs(head.matrix)
    exact = size == size.max(axis=1)[:, None]
    step = head.weight_step[:, None]
    return np.where(exact, 0.0, np.where(size < step / 2, size**2, UNIFORM * step**2))


def _cut_off(head: Head, r: Roundings) -> Array:
    """Toward zero, half a bit of every drive is lost; rounding down shifts all alike, which is a rotation."""
    return -0.5 * r.rate_lsb * np.sign(head.pull) * (r.rounding == "toward_zero")


def _steps(head: Head, r: Roundings, jitter: Array) -> Array:
    """(D, n) variance from rounding the drift, and from rounding the drive to bits of phase per step.

    While a channel turns, table and payload shake the drive. A shaken rounding errs less on average: by
    ``exp(-2 pi^2 sigma^2)`` of its first harmonic, sigma in least significant bits [WIDROW], and the rest
    of it is new in every step.
    """
    bit = UNIFORM * r.rate_lsb**2
    if bit == 0.0:
        return np.zeros_like(head.theta)
    turning = 1.0 - head.lasting(r.spacing, r)[:, None]
    shaken = np.diagonal(jitter, axis1=1, axis2=2) * turning / r.rate_lsb**2
    still = np.exp(-4 * np.pi**2 * shaken)
    return bit * ((head.drift != 0) + still + (1.0 - still) * head.lasting(0.0, r)[:, None])


def _table(head: Head, r: Roundings) -> tuple[Array, Array]:
    """A chord shortens both phasors of a pair; the nearest entry turns them."""
    if r.interpolation == "nearest":
        slopes, left = head.jacobian, head.passing(r.spacing, r)[:, None, None]
        return np.zeros_like(head.theta), left * r.spacing**2 / 12 * slopes @ slopes.transpose(0, 2, 1)
    left = head.lasting(r.spacing, r)[:, None, None]
    both = head.matrix * np.sin(head.difference) + np.eye(len(head.gain)) * head.pull[:, :, None]
    return -(r.spacing**2) / 6 * head.pull, left * r.spacing**4 / 720 * both @ both.transpose(0, 2, 1)


def _payload(head: Head, r: Roundings) -> tuple[Array, Array]:
    """Rounded sines and cosines, of the sources and of the oscillator itself."""
    cosine, sine = np.cos(head.theta), np.sin(head.theta)
    own = np.eye(len(head.gain))
    through_sine = cosine[:, :, None] * head.matrix - own * (cosine @ head.matrix.T)[:, :, None]
    through_cosine = own * (sine @ head.matrix.T)[:, :, None] - sine[:, :, None] * head.matrix
    left = r.entry_variance * head.lasting(r.spacing, r) + r.interpolation_variance * head.passing(
        r.sine_lsb, r
    )
    spread = through_sine @ through_sine.transpose(0, 2, 1) + through_cosine @ through_cosine.transpose(
        0, 2, 1
    )
    mean = through_sine @ r.interpolation_mean(cosine)[..., None]
    mean += through_cosine @ r.interpolation_mean(-sine)[..., None]
    return mean[..., 0], left[:, None, None] * spread
