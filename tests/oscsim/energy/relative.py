"""Comparison of joules: ``pytest.approx`` alone allows 1e-12, which is more than many energies are."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp


def relative(expected: Any, rel: float = 1e-9) -> Any:
    """``pytest.approx`` by relative error alone.

    >>> 1e-15 == relative(2e-15), 1e-15 == pytest.approx(2e-15)
    (False, True)
    """
    return pytest.approx(expected, rel=rel, abs=0.0)


def variance_by_ode(sine: float, a: float, start: float, ran: float) -> float:
    """Variance per kappa^2 along ``psi' = a sine - a sin psi`` from an exact start, linearised."""
    found = solve_ivp(
        lambda t, y: [a * sine - a * np.sin(y[0]), 1.0 - 2.0 * a * np.cos(y[0]) * y[1]],
        (0.0, ran), [start, 0.0], "DOP853", rtol=1e-10, atol=1e-13,
    )  # fmt: skip
    return float(found.y[1, -1])
