"""Comparison of joules: ``pytest.approx`` alone allows 1e-12, which is more than many energies are."""

from typing import Any

import pytest


def relative(expected: Any, rel: float = 1e-9) -> Any:
    """``pytest.approx`` by relative error alone.

    >>> 1e-15 == relative(2e-15), 1e-15 == pytest.approx(2e-15)
    (False, True)
    """
    return pytest.approx(expected, rel=rel, abs=0.0)
