"""The order of an error: how fast it falls with its small parameter."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Order:
    """``error = prefactor * epsilon^exponent``, least squares on logarithms.

    Parameters
    ----------
    exponent, prefactor : of the fit.
    low, high : 95 % confidence interval of the exponent; NaN with two points, which leave no residual.
    """

    exponent: float
    prefactor: float
    low: float
    high: float


def fit_order(epsilon: Array, error: Array) -> Order | None:
    """Fit the order of an error; None with fewer than two different positive points.

    >>> fit = fit_order(np.array([0.1, 0.03, 0.01]), 2.0 * np.array([0.1, 0.03, 0.01]))
    >>> round(fit.exponent, 12), round(fit.prefactor, 12)
    (1.0, 2.0)
    """
    usable = (epsilon > 0) & (error > 0)
    x, y = np.log(epsilon[usable]), np.log(error[usable])
    if len(np.unique(x)) < 2:
        return None
    from scipy import stats  # a second to import, and it looks for torch

    fit: Any = stats.linregress(x, y)  # typed as a bare tuple by its stubs
    freedom = len(x) - 2
    half = float(stats.t.ppf(0.975, freedom) * fit.stderr) if freedom > 0 else np.nan
    return Order(
        float(fit.slope), float(np.exp(fit.intercept)), float(fit.slope - half), float(fit.slope + half)
    )
