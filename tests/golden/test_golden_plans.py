"""Printed plans, word for word: a change of lowering has to be seen and meant.

After a meant change:  python tests/golden/test_golden_plans.py
"""

from pathlib import Path

import numpy as np
import pytest

from hw_targets import get_target, target_names
from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec

HERE = Path(__file__).resolve().parent
LAYERS = {
    "pair": {"mask": "causal"},
    "clamped": {"dynamics": "clamped", "duration": 0.5, "phase_0": np.full((2, 4, 1), 0.5)},
    "network": {"dynamics": "network"},
}


def printed(target, name):
    """Plan of a layer of round binary numbers: no digit depends on a processor's exp or sqrt."""
    spec = PhaseLayerSpec(
        omega=np.arange(8.0).reshape(2, 4, 1) / 32,
        theta=np.zeros((2, 4, 1)),
        values=np.ones((2, 4, 2)),
        coupling=ExplicitCoupling(matrix=np.full((2, 4, 4), 0.5) + 0.5 * np.eye(4)),
        gain=[1.0, 2.0],
        order_parameter=FixedOrder(r=[1.0, 0.5]),
        **LAYERS[name],
    )
    return f"{get_target(target).lower(spec).plan}\n"


@pytest.mark.parametrize("target", target_names())
@pytest.mark.parametrize("name", LAYERS)
def test_plan_is_as_printed(target, name):
    assert printed(target, name) == (HERE / f"{target}_{name}.txt").read_text()


if __name__ == "__main__":
    for target in target_names():
        for name in LAYERS:
            (HERE / f"{target}_{name}.txt").write_text(printed(target, name))
