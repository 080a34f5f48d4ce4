"""Lowering: pure, deterministic, readable, and sensitive to every knob."""

import ast
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hw_targets.brian2 import timing
from hw_targets.registry import get_target
from oscsim import EmpiricalOrder, ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import ConfigError, LoweringError

TARGET = get_target("brian2")
FOLDER = Path(timing.__file__).parent
DYNAMICS = ("pair", "network", "clamped")


def layer(dynamics, **fields):
    rng = np.random.default_rng(1)
    defaults = {
        "omega": rng.standard_normal((2, 4, 2)),
        "theta": rng.uniform(-1, 1, (2, 4, 2)),
        "coupling": FrequencyCoupling([0.2, 0.4]),
        "gain": [1.0, 2.0],
        "duration": 0.5,
        "dynamics": dynamics,
    }
    return PhaseLayerSpec(**{**defaults, **fields})


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_same_input_same_plan(dynamics):
    first, second = TARGET.lower(layer(dynamics)).plan, TARGET.lower(layer(dynamics)).plan
    assert first.digest == second.digest and str(first) == str(second)
    assert json.loads(json.dumps(first.to_json(), allow_nan=False)) == first.to_json()


CHANGES = {
    "omega": np.random.default_rng(2).standard_normal((2, 4, 2)),
    "coupling": ExplicitCoupling(np.random.default_rng(3).standard_normal((2, 4, 4))),
    "gain": [1.0, 1.5],
    "mask": "causal",
    "padding": np.array([False, False, True, False]),
    "time_unit_s": 1e-6,
    "carrier_hz": 5e6,
}
OWN_CHANGES = {
    "pair": {
        "order_parameter": FixedOrder([0.5, 0.5]),
        "psi_0": np.ones((2, 4, 4)),
        "theta": np.zeros((2, 4, 2)),
    },
    "network": {"theta": np.zeros((2, 4, 2))},
    "clamped": {
        "theta": np.zeros((2, 4, 2)),
        "phase_0": np.zeros((2, 4, 2)),
        "rate": -np.ones((2, 4, 2)),
        "duration": math.inf,
    },
}


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_every_field_in_use_changes_what_is_simulated(dynamics):
    before = TARGET.lower(layer(dynamics)).plan.entries
    for name, value in {**CHANGES, **OWN_CHANGES[dynamics]}.items():
        after = TARGET.lower(layer(dynamics, **{name: value})).plan.entries
        assert after != before, f"{name} changes nothing in the plan of {dynamics}"


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_field_of_another_dynamics_changes_nothing(dynamics):
    before = TARGET.lower(layer(dynamics)).plan.entries
    inert = {name: value for other in DYNAMICS for name, value in OWN_CHANGES[other].items()}
    for name in set(inert) - set(OWN_CHANGES[dynamics]):
        assert TARGET.lower(layer(dynamics, **{name: inert[name]})).plan.entries == before, name


@pytest.mark.parametrize(
    "dynamics, option, value, section",
    [
        ("pair", "step", 0.05, "classes"),
        ("network", "step", 0.05, "clock"),
        ("clamped", "step", 0.05, "clock"),
        ("pair", "max_duration", 60.0, "accuracy"),
        ("network", "max_duration", 60.0, "clock"),
        ("network", "drift_tolerance", 1e-3, "accuracy"),
        ("pair", "step", 0.5, "accuracy"),
    ],
)
def test_every_option_reaches_the_plan(dynamics, option, value, section):
    before, after = (
        TARGET.lower(layer(dynamics)),
        TARGET.lower(layer(dynamics), TARGET.config(**{option: value})),
    )
    assert before.plan[section] != after.plan[section]


@pytest.mark.parametrize(
    "options", [{"step": 0.0}, {"step": 0.6}, {"max_duration": 10.0}, {"max_duration": math.inf},
                {"drift_tolerance": 0.0}, {"trajectory_samples": 1}, {"trajectory_samples": -2}, {"dt": 0.1}]
)  # fmt: skip
def test_impossible_options(options):
    with pytest.raises(ConfigError, match=f"option '{next(iter(options))}'|trajectory_samples|expected"):
        TARGET.config(**options)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_rates_that_fit_no_clock(dynamics):
    with pytest.raises(LoweringError, match="time_unit_s"):
        TARGET.lower(layer(dynamics, time_unit_s=1e-250))


def test_planned_steps_are_those_taken():
    spec = layer("pair", omega=0.5 * np.random.default_rng(1).standard_normal((2, 4, 2)))
    executable = TARGET.lower(spec)
    taken = ast.literal_eval(executable.run().provenance.notes[0].split(": ", 1)[1])
    for number, steps in taken.items():
        planned = executable.plan["classes"][f"class_{number}"]["planned_steps"]
        assert steps <= planned + 8, (number, steps, planned)


def test_predicted_settling_is_right():
    """Integrating a cell for the predicted time leaves just the residual that rest is declared at."""
    for ratio, start in [(0.3, 0.0), (0.95, -2.0), (0.99, 3.0)]:
        predicted = float(timing.settling_duration(np.array([ratio]), np.array([start]))[0])
        psi, steps = start, 20000
        h = predicted / steps
        for _ in range(steps):
            half = psi + 0.5 * h * (ratio - math.sin(psi))
            psi += h * (ratio - math.sin(half))
        assert abs(ratio - math.sin(psi)) == pytest.approx(1e-8, rel=0.05)


def test_lowering_imports_no_backend():
    code = (
        "import sys; sys.modules['brian2'] = None\n"
        "from hw_targets.registry import get_target\n"
        "from oscsim import FrequencyCoupling, PhaseLayerSpec\n"
        "from oscsim.errors import TargetUnavailable\n"
        "target = get_target('brian2')\n"
        "for dynamics in ('pair', 'network', 'clamped'):\n"
        "    spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [1.0]]], gain=[1.0],\n"
        "                          coupling=FrequencyCoupling([0.0]), dynamics=dynamics)\n"
        "    executable = target.lower(spec)\n"
        "    print(executable.plan.digest)\n"
        "    try:\n"
        "        executable.run()\n"
        "    except TargetUnavailable as error:\n"
        "        assert target.availability().command in str(error), error\n"
        "    else:\n"
        "        raise SystemExit('ran without brian2')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 3


def test_no_module_knows_the_answer():
    """No import of the reference side, and the backend only in run.py and the circuits."""
    answers = {"closed_form", "reference", "ode", "compare", "locked_state", "network_reference"}
    for path in FOLDER.glob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
                backend = (node.module or "").split(".")[0] == "brian2"
                assert not backend or path.stem == "run" or path.stem.endswith("circuit"), path
            elif isinstance(node, ast.Import):
                names |= {part for alias in node.names for part in alias.name.split(".")}
        assert not names & (answers | {"solve", "integrate_layer"}), (path, names & answers)


def test_runs_do_not_solve(monkeypatch):
    spec = layer("pair", order_parameter=EmpiricalOrder())
    before = TARGET.lower(spec).run().sync

    def refuse(*args, **kwargs):
        raise AssertionError("a target looked at the answer")

    for module in ("oscsim", "oscsim.reference", "oscsim.closed_form"):
        for name in ("solve", "synchronization"):
            if hasattr(sys.modules[module], name):
                monkeypatch.setattr(f"{module}.{name}", refuse)
    assert np.array_equal(TARGET.lower(spec).run().sync, before)
