"""``oscsim run --target lava --explain``: the error budget of a layer."""

import json

import numpy as np
import pytest

from hw_targets.lava.target import LavaExecutable
from oscsim.coupling import ExplicitCoupling, FixedOrder
from oscsim.errors import LoweringError
from oscsim.result import SyncResult
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


def test_a_run_without_a_budget_is_saved_and_says_why(cli, tmp_path) -> None:
    """Too few steps to tell more than that it drifts; the exit code is that of the result."""
    layer, report, result = saved(tmp_path, "network", 3.0), tmp_path / "r.json", tmp_path / "r.sync"
    arguments = ("run", layer, "--target", "lava", "--set", "max_steps=256")
    plain = cli(*arguments)
    done = cli(*arguments, "--explain", "-o", str(result), "--json", str(report))
    assert done.code == plain.code
    assert "no known resting state" in done.err and "the run is done" in done.err
    assert SyncResult.load(result).sync.shape == (1, 7, 7)
    found = json.loads(report.read_text())
    assert found["budget"] is None and "no known resting state" in found["budget_reason"]
    assert found["saved"] == str(result) and "bottleneck" not in done.out


def test_an_explanation_that_fails_loses_no_result(cli, tmp_path, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise LoweringError("nothing fits")

    monkeypatch.setattr("oscsim.cli.explain.budget", fails)
    report, result = tmp_path / "r.json", tmp_path / "r.sync"
    layer = saved(tmp_path, "pair", 0.5)
    done = cli("run", layer, "--target", "lava", "--explain", "-o", str(result), "--json", str(report))
    assert done.code == 0 and result.exists()
    assert json.loads(report.read_text())["budget_reason"] == "nothing fits"


def test_held_sources_are_refused_before_the_run(cli, tmp_path, monkeypatch) -> None:
    def never(self: LavaExecutable) -> None:
        raise AssertionError("ran")

    monkeypatch.setattr(LavaExecutable, "run", never)
    layer = saved(tmp_path, "clamped", 0.5)
    done = cli("run", layer, "--target", "lava", "--explain", "--set", "held_sources=synapses")
    assert done.code == 2
    assert "held_sources='synapses'" in done.err and "held_sources=folded" in done.err


def test_the_advice_of_a_report_can_be_followed(cli, tmp_path) -> None:
    layer, report = saved(tmp_path, "network", 0.05), tmp_path / "r.json"
    arguments = ("run", layer, "--target", "lava", "--explain", "--json", str(report))
    cli(*arguments)
    first = json.loads(report.read_text())["budget"]
    assert first["bottleneck"] == "weights", "already eight bits wide"
    better = first["improvement"]
    settings = [text for name, value in better["change"].items() for text in ("--set", f"{name}={value}")]
    done = cli(*arguments, *settings)
    assert done.code == 0, done.err
    second = json.loads(report.read_text())["budget"]
    assert second["rms"]["predicted"] == pytest.approx(better["rms_then"])
    assert better["rms_now"] == pytest.approx(first["rms"]["predicted"])
    assert better["rms_then"] < better["rms_now"]
