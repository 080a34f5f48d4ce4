"""``oscsim run --target lava --explain``: the error budget of a layer."""

import json

import numpy as np
import pytest

from oscsim.coupling import ExplicitCoupling, FixedOrder
from oscsim.spec import PhaseLayerSpec


def saved(tmp_path, dynamics: str, scale: float) -> str:
    rng = np.random.default_rng(5)
    omega = scale * rng.normal(size=(1, 7, 1))
    spec = PhaseLayerSpec(
        omega=omega,
        theta=rng.uniform(-1.0, 1.0, omega.shape),
        coupling=ExplicitCoupling(matrix=rng.uniform(0.2, 1.0, (1, 7, 7))),
        gain=[1.0],
        order_parameter=FixedOrder(r=np.ones(1)),
        dynamics=dynamics,
    )
    path = tmp_path / f"{dynamics}.phase"
    spec.save(path)
    return str(path)


@pytest.mark.parametrize(("dynamics", "scale"), [("pair", 0.5), ("clamped", 0.5), ("network", 0.05)])
def test_the_budget_is_shown_and_saved(cli, tmp_path, dynamics: str, scale: float) -> None:
    report = tmp_path / "r.json"
    done = cli(
        "run", saved(tmp_path, dynamics, scale), "--target", "lava", "--explain", "--set", "phase_bits=16",
        "--json", str(report),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "bottleneck" in done.out and "measured" in done.out
    found = json.loads(report.read_text())["budget"]
    assert found["bottleneck"] in {source["name"] for source in found["sources"]}
    # seven oscillators are a small sample: the orders of magnitude have to agree
    assert 0.1 < found["rms"]["predicted"] / max(found["rms"]["measured"], 1e-300) < 10


def test_a_network_that_does_not_rest_is_refused_with_the_reason(cli, tmp_path) -> None:
    done = cli("run", saved(tmp_path, "network", 3.0), "--target", "lava", "--explain")
    assert done.code == 2
    assert "no known resting state" in done.err
