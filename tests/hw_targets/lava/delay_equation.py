"""Networks with and without a delay, integrated on their own: Runge-Kutta steps far finer than a target's."""

import numpy as np


def network_rate(drift, matrix):
    """Rate of (theta, old): ``drift_i + sum_j M_ij sin(old_j - theta_i)``; old None means only the drift."""

    def rate(theta, old):
        if old is None:
            return drift
        return drift + (matrix * np.sin(old[None, :] - theta[:, None])).sum(axis=1)

    return rate


def without_delay(theta, drift, matrix, step, count, fine=8):
    """Phases (count + 1, M) at multiples of a step."""
    rate = network_rate(drift, matrix)
    h, path = step / fine, [theta]
    for number in range(count * fine):
        k1 = rate(theta, theta)
        k2 = rate(theta + h / 2 * k1, theta + h / 2 * k1)
        k3 = rate(theta + h / 2 * k2, theta + h / 2 * k2)
        k4 = rate(theta + h * k3, theta + h * k3)
        theta = theta + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if (number + 1) % fine == 0:
            path.append(theta)
    return np.array(path)


def with_delay(theta, drift, matrix, delay, count, fine=8):
    """The same for sources that are seen ``delay`` late, and not at all before; at multiples of the delay.

    Method of steps: between the stored phases of one delay ago a cubic goes through both ends and slopes.
    """
    rate = network_rate(drift, matrix)
    h, path, left, right = delay / fine, [theta], [], []
    for number in range(count * fine):
        at = number - fine
        old, middle, new = None, None, None
        if at >= 0:
            old, new = path[at], path[at + 1]
            middle = (old + new) / 2 + h / 8 * (left[at] - right[at])
        k1 = rate(theta, old)
        k2 = rate(theta + h / 2 * k1, middle)
        k3 = rate(theta + h / 2 * k2, middle)
        k4 = rate(theta + h * k3, new)
        theta = theta + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(theta)
        left.append(k1)
        right.append(rate(theta, new))
    return np.array(path)[::fine]
