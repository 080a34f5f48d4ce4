"""run and compare: real backends on small layers, and every way in which a target can refuse."""

import json
import warnings

import numpy as np
import pytest

import oscsim.cli.commands
from oscsim import PhaseLayerSpec, SyncResult, SyncStatus, solve
from oscsim.cli.guard import ExitCode
from oscsim.errors import LoweringError, TargetRunError
from oscsim.result import Provenance
from oscsim.target import AbstractTarget, ConvergenceWarning, Executable, Plan, TargetConfig
from oscsim.tolerance import FLOAT64
from oscsim.trial import Trial, exit_code

COMPARE_KEYS = {
    "status", "conforms", "max_abs_error", "tolerance", "locked_agreement", "excluded_pairs",
    "locked_fraction", "wall_s",
}  # fmt: skip


class FakeConfig(TargetConfig):
    scale: float = 1.0
    label: str = ""


class FakeTarget(AbstractTarget[FakeConfig]):
    """Answers with the closed form times ``scale``, or does what its name says."""

    config_class = FakeConfig
    packages = ()
    install_command = "pip install fake"

    def __init__(self, name):
        self.name = name

    def _lower(self, spec, config):
        if self.name == "refusing":
            raise LoweringError("given 6 tokens, expected at most 5; use fewer")
        return FakeExecutable(self, spec, config)


class FakeExecutable(Executable):
    def __init__(self, target, spec, config):
        self.target, self.spec, self.config = target, spec, config
        self.plan = Plan(target.name, spec.digest, (("config", config.model_dump()),))

    def run(self):
        if self.target.name == "absent":
            self.target.require()
        if self.target.name == "failing":
            raise TargetRunError("target 'failing': ValueError: it broke")
        print("a backend that talks")
        exact, status = solve(self.spec), SyncStatus.SETTLED
        if self.target.name == "slow":
            status = SyncStatus.NOT_CONVERGED
            warnings.warn("target 'slow': not_converged", ConvergenceWarning, stacklevel=2)
        return SyncResult(
            self.config.scale * exact.sync, exact.locked, exact.weights, exact.order_parameter, exact.output,
            exact.phase, status, Provenance(self.target.name, self.spec.digest, self.plan.digest), FLOAT64,
        )  # fmt: skip


@pytest.fixture
def fakes(monkeypatch):
    """Replace the registry; a target does what its name says."""

    def install(*names):
        monkeypatch.setattr(oscsim.cli.commands, "target_names", lambda: names)
        monkeypatch.setattr(oscsim.cli.commands, "get_target", FakeTarget)
        monkeypatch.setattr("oscsim.cli.run.get_target", FakeTarget)

    return install


def test_compare_real_targets(cli, saved, tmp_path):
    path = saved(mask="causal")
    result = cli("compare", path, "--json", tmp_path / "x.json")
    content = json.loads((tmp_path / "x.json").read_text())
    assert result.code == 0, result.err
    assert content["spec_digest"] == PhaseLayerSpec.load(path).digest
    assert content["reference"]["status"] == "settled"
    assert list(content["targets"]) == ["triton", "brian2", "lava"]
    for entry in content["targets"].values():
        assert set(entry) >= COMPARE_KEYS
        assert (entry["status"], entry["conforms"]) == ("conforms", True)
        assert entry["locked_fraction"] == pytest.approx(content["reference"]["locked_fraction"])
        assert 0 < entry["max_abs_error"] < 0.05
    assert result.out.count("conforms") == 3


def test_compare_clamped_on_one_target(cli, saved):
    result = cli("compare", saved(dynamics="clamped", duration=0.4), "--target", "brian2", "--json", "-")
    assert list(result.json()["targets"]) == ["brian2"]
    assert result.json()["targets"]["brian2"]["conforms"] is True
    assert "brian2" in result.err  # table and progress


def test_network_without_exact_answer_is_a_finding(cli, saved):
    result = cli(
        "compare",
        saved(heads=1, count=3, channels=1, dynamics="network", spread=6.0),
        "--target",
        "brian2",
        "--json",
        "-",
    )
    entry = result.json()["targets"]["brian2"]
    assert (result.code, entry["status"], entry["conforms"]) == (0, "finding", None)
    assert entry["mean_abs_error"] > 0
    assert "finding: brian2: mean approximation error" in result.err


def test_run_saves_and_reports(cli, saved, tmp_path):
    path = saved()
    result = cli(
        "run", path, "--target", "brian2", "--set", "step=0.25", "-o", tmp_path / "x.sync", "--json", "-"
    )
    content = result.json()
    assert (result.code, content["status"], content["settings"]["step"]) == (0, "settled", 0.25)
    assert content["plan"]["plan_digest"] == content["plan_digest"]
    loaded = SyncResult.load(tmp_path / "x.sync")
    np.testing.assert_allclose(loaded.sync, solve(PhaseLayerSpec.load(path)).sync, atol=1e-3)


@pytest.mark.parametrize("target", ["triton", "brian2", "lava"])
def test_plan_needs_no_backend(cli, saved, without_backends, target):
    path = saved()
    printed = cli("run", path, "--target", target, "--plan")
    content = cli("run", path, "--target", target, "--plan", "--json", "-").json()
    assert printed.code == 0
    assert printed.out.startswith(f"{target} plan {content['plan_digest'][:12]}")
    assert content["spec_digest"] == PhaseLayerSpec.load(path).digest


@pytest.mark.parametrize("target", ["triton", "brian2", "lava"])
def test_missing_backend(cli, saved, without_backends, target):
    result = cli("run", saved(), "--target", target)
    assert (result.code, result.out) == (3, "")
    assert "Install it with: pip install nothing" in result.err


def test_compare_with_missing_backends(cli, saved, without_backends):
    result = cli("compare", saved(), "--json", "-")
    assert result.code == 3
    assert {entry["status"] for entry in result.json()["targets"].values()} == {"unavailable"}
    assert result.err.count("pip install nothing") == 3


def test_json_on_stdout_is_alone_even_if_a_backend_talks(cli, saved, fakes):
    fakes("talking")
    result = cli("compare", saved(), "--json", "-")
    assert result.json()["targets"]["talking"]["conforms"] is True
    assert "a backend that talks" in result.err
    assert "a backend that talks" not in cli("run", saved(), "--target", "talking").out


@pytest.mark.parametrize(
    ("name", "code", "status", "conforms", "words"),
    [
        ("failing", 1, "failed", False, "it broke"),
        ("slow", 1, "not_settled", False, "not_converged"),
        ("refusing", 2, "unsupported", None, "at most 5"),
        ("absent", 3, "unavailable", None, "pip install fake"),
    ],
)
def test_compare_names_what_went_wrong(cli, saved, fakes, monkeypatch, name, code, status, conforms, words):
    fakes("good", name)
    monkeypatch.setattr(FakeTarget, "packages", ("no-such-package",) if name == "absent" else ())
    result = cli("compare", saved(), "--target", "good", "--target", name, "--json", "-")
    entries = result.json()["targets"]
    assert result.code == code
    assert (entries[name]["status"], entries[name]["conforms"]) == (status, conforms)
    assert set(entries[name]) == set(entries["good"])
    assert words in " ".join(entries[name]["problems"])
    assert words in result.err
    assert entries["good"]["conforms"] is True


def test_wrong_numbers_differ(cli, saved, fakes):
    fakes("good")
    assert cli("compare", saved(), "--set", "good.scale=1.01").code == 1
    assert cli("compare", saved(), "--set", "good.scale=1.0").code == 0


def test_refusing_target_that_nobody_named(cli, saved, fakes):
    fakes("good", "refusing")
    result = cli("compare", saved(), "--json", "-")
    assert (result.code, result.json()["targets"]["refusing"]["status"]) == (0, "unsupported")
    assert "at most 5" in result.err
    fakes("refusing")
    assert cli("compare", saved()).code == 2


@pytest.mark.parametrize(("name", "code"), [("failing", 1), ("slow", 1), ("refusing", 2)])
def test_run_exit_codes(cli, saved, fakes, name, code):
    fakes(name)
    assert cli("run", saved(), "--target", name).code == code


def test_convergence_warning_is_one_line(cli, saved, fakes):
    fakes("slow")
    lines = cli("run", saved(), "--target", "slow").err.splitlines()
    assert "warning: target 'slow': not_converged" in lines
    assert not any(".py:" in line for line in lines)


def test_text_option_that_looks_like_a_number(cli, saved, fakes):
    fakes("good")
    content = cli(
        "run", saved(), "--target", "good", "--set", "label=8", "--set", "scale=2", "--plan", "--json", "-"
    )
    assert content.json()["config"] == {"scale": 2.0, "label": "8"}


def test_exit_codes_in_order_of_severity():
    def code(*statuses, named=()):
        return exit_code([Trial(status, status) for status in statuses], named)

    assert code("failed", "unavailable", "unsupported") is ExitCode.DIFFERS
    assert code("unavailable", "unsupported") is ExitCode.BACKEND_MISSING
    assert code("unsupported", "finding", named=["unsupported"]) is ExitCode.BAD_INPUT
    assert code("unsupported", "finding") is ExitCode.CONFORMS
