"""Lowering of circuits: pure, deterministic, readable, and sensitive to every option."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import hw_targets.brian2.circuits.run as runner
from hw_targets import circuit_names, get_target, target_names
from hw_targets.brian2.circuits.config import CircuitConfig
from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.circuits.imperfections import Imperfections
from oscsim.circuits.timing import step_error
from oscsim.circuits.validity import CircuitWarning
from oscsim.errors import ConfigError, LoweringError, TargetRunError
from oscsim.oscillators import LC
from oscsim.phase_reduction import reduce

TARGET = get_target("circuit")
CARRIER = 1e9


def layer(dynamics="pair", **fields):
    rng = np.random.default_rng(1)
    defaults = {
        "omega": rng.standard_normal((2, 4, 2)),
        "theta": rng.uniform(-1, 1, (2, 4, 2)),
        "coupling": FrequencyCoupling([0.0, 0.0]),
        "order_parameter": FixedOrder(r=[1.0, 1.0]),
        "gain": [1.0, 0.5],
        "duration": 3.0,
        "dynamics": dynamics,
        "time_unit_s": 1.0 / (2.0 * np.pi * CARRIER * 0.02),
        "carrier_hz": CARRIER,
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def plan(spec, **options):
    return TARGET.lower(spec, TARGET.config(**options)).plan


def test_names():
    assert "circuit" in circuit_names() and "circuit" not in target_names()
    with pytest.raises(ConfigError, match=r"expected one of triton, brian2, lava, circuit"):
        get_target("analog")


@pytest.mark.parametrize("family", ["lc", "ring", "relaxation", "stuart_landau"])
def test_same_input_same_plan_for_every_family(family):
    first, second = plan(layer(), family=family), plan(layer(), family=family)
    assert first.digest == second.digest and str(first) == str(second)
    assert json.loads(json.dumps(first.to_json(), allow_nan=False)) == first.to_json()
    assert first["circuit"]["family"] == family
    assert first["circuit"]["epsilon"] == pytest.approx(0.02)
    assert len(first["components"]) >= 4


def test_a_plan_needs_no_brian2():
    code = (
        "import sys\n"
        "from hw_targets import get_target\n"
        "from oscsim import FrequencyCoupling, PhaseLayerSpec\n"
        "spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0],\n"
        "    coupling=FrequencyCoupling([0.0]), time_unit_s=1e-8)\n"
        "print(get_target('circuit').lower(spec).plan.digest)\n"
        "assert 'brian2' not in sys.modules\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        for _ in "ab"
    ]
    assert all(done.returncode == 0 for done in runs), runs[0].stderr
    assert runs[0].stdout == runs[1].stdout


def test_components_of_a_gigahertz_tank():
    """L C = 1/w0^2 up to the tuning, sqrt(L/C) = Z, a = 1/(R_c C) for a mutual pair."""
    omega = np.array([[[0.0], [0.0]]])
    spec = layer(omega=omega, theta=omega, gain=[1.0], coupling=FrequencyCoupling([0.0]),
                 order_parameter=FixedOrder(r=[1.0]))  # fmt: skip
    lowered = TARGET.lower(spec, TARGET.config(mu=0.1, impedance_ohm=50.0))._lowered
    made = lowered.parts
    inductance, capacitance = made.inductance_h, made.capacitance_f[0, 0]
    assert np.sqrt(inductance / capacitance) == pytest.approx(50.0, rel=1e-3)
    assert 1.0 / np.sqrt(inductance * capacitance) == pytest.approx(2 * np.pi * CARRIER, rel=2e-3)
    resistor = 1.0 / made.coupler_s[0, 0, 1]
    assert 1.0 / (resistor * capacitance) * spec.time_unit_s == pytest.approx(1.0, rel=2e-3)
    table = lowered.circuit and TARGET.lower(spec, TARGET.config(mu=0.1)).plan["components"]
    assert table["coupling resistor"]["unit"] == "Ohm" and table["tank inductor"]["count"] == 2
    shown = str(TARGET.lower(spec, TARGET.config(mu=0.1)).plan)
    assert "tank inductor         2 x L = 15.9056 nH (natural_s Z)" in shown
    assert "4 cells, 2 of them self-pairs (i = j); distinct ones: 1, of 2 oscillators each" in shown
    assert TARGET.lower(spec, TARGET.config(mu=0.1)).plan["circuit"]["amplitude_v"] == 1.0


# every option changes the plan; some belong to a family of their own
CHANGES = {
    "family": {"family": "ring"}, "coupler": {"coupler": "transconductance"}, "mu": {"mu": 0.2},
    "shear": {"family": "stuart_landau", "shear": 0.1}, "stages": {"family": "ring", "stages": 5},
    "stage_gain": {"family": "ring", "stage_gain": 4.0},
    "threshold": {"family": "relaxation", "threshold": 0.25},
    "discharge": {"family": "relaxation", "discharge": 2.0},
    "comparator_gain": {"family": "relaxation", "comparator_gain": 30.0},
    "comparator_time": {"family": "relaxation", "comparator_time": 0.03},
    "impedance_ohm": {"impedance_ohm": 80.0}, "voltage_v": {"voltage_v": 0.4}, "trim": {"trim": "none"},
    "cell_clock": {"cell_clock": "own"},
    "tuning_range": {"tuning_range": 0.1}, "phase_accuracy": {"phase_accuracy": 1e-5},
    "max_cycles": {"max_cycles": 500.0}, "steps_per_cycle": {"steps_per_cycle": 64},
    "trajectory_samples": {"trajectory_samples": 8},
}  # fmt: skip


# these two change what is refused and what is stored
ELSEWHERE = {"tuning_range", "trajectory_samples"}


def consequences(**options):
    """The plan without the section that merely repeats the options."""
    return {name: part for name, part in plan(layer(), **options).entries if name != "config"}


def test_every_option_changes_more_of_the_plan_than_its_own_line():
    own = set(CircuitConfig.model_fields) - set(Imperfections.model_fields)
    assert own == set(CHANGES)
    plain = {family: consequences(family=family) for family in ("lc", "ring", "relaxation", "stuart_landau")}
    for name in sorted(own - ELSEWHERE):
        options = CHANGES[name]
        family = "lc" if name == "family" else options.get("family", "lc")
        assert consequences(**options) != plain[family], name
    with pytest.raises(LoweringError, match=r"tuning reaches 0\.01"):
        plan(layer(), tuning_range=0.01)


def test_stored_phases():
    spec = layer("network", omega=np.zeros((2, 4, 2)))
    few, none = (
        TARGET.lower(spec, TARGET.config(family="stuart_landau", trajectory_samples=n)).run() for n in (5, 0)
    )
    assert len(few.times) <= 5 and few.trajectory.shape == (len(few.times), 2, 4, 2)
    assert none.trajectory is None and none.times is None


@pytest.mark.parametrize("dynamics", ["pair", "network", "clamped"])
def test_dynamics_and_scale_change_the_plan(dynamics):
    options = {"coupler": "transconductance", "mu": 0.3}
    base = plan(layer(dynamics), **options)
    for change in ({"time_unit_s": 2e-8}, {"carrier_hz": 2e9}, {"mask": "causal"}, {"gain": [0.9, 0.5]}):
        assert plan(layer(dynamics, **change), **options).digest != base.digest, change


def test_ignored_or_impossible_options_are_refused():
    with pytest.raises(ConfigError, match="'stages': given 5 for family lc"):
        TARGET.config(stages=5)
    with pytest.raises(ConfigError, match=r"its options: stages, stage_gain, coupler; leave it out$"):
        TARGET.config(family="ring", mu=0.1)
    with pytest.raises(ConfigError, match=r"'tunning_range'; it has: .*; nearest: tuning_range$"):
        TARGET.config(tunning_range=0.1)
    with pytest.raises(ConfigError, match=r"^target 'circuit': steps_per_cycle: given 30, .*multiple of 8"):
        TARGET.config(steps_per_cycle=30)
    with pytest.raises(ConfigError, match="at least 2"):
        TARGET.config(trajectory_samples=1)
    with pytest.raises(LoweringError, match="nearest valid"):
        plan(layer(time_unit_s=1e-9))
    with pytest.raises(LoweringError, match="steps per cycle"):
        plan(layer(), coupling_delay_s=1e-15)
    with pytest.raises(LoweringError, match="all-pass is a delay only up to"):
        plan(layer(), coupling_delay_s=1e-3)


@pytest.mark.parametrize(("unit", "options"), [
    (1e-9, {"mu": 0.1}), (5e-9, {"mu": 0.02}), (2e-10, {"family": "ring"}),
])  # fmt: skip
def test_the_nearest_valid_scale_is_valid(unit, options):
    """Both limits are named, and following either piece of advice leaves nothing to warn of."""
    refused = layer(time_unit_s=unit)
    with pytest.raises(LoweringError, match=r"advised up to 0\.35, refused from 1 on") as caught:
        plan(refused, **options)
    said = str(caught.value)
    advised = re.search(r"nearest valid: time_unit_s=(\S+) \(oscsim export \.\.\. --time-unit \1\)", said)
    assert advised is not None
    assert plan(layer(time_unit_s=float(advised[1])), max_cycles=1e5, **options)["circuit"]["warnings"] == []
    mu = re.search(r"or mu=(\S+)", said)
    assert (mu is not None) == (unit == 5e-9)
    if mu is not None:
        assert plan(refused, mu=float(mu[1]), max_cycles=1e5)["circuit"]["warnings"] == []


@pytest.mark.parametrize(("options", "said"), [
    ({"mu": 0.04}, r"a ratio of 0\.5, advised up to 0\.35.*or mu=0\.059"),
    ({"max_cycles": 20.0}, r"[1-9]\d* of .* later than max_cycles=20.*max_cycles=.*cell_clock=own"),
])  # fmt: skip
def test_doubts_of_a_plan_are_said_before_the_run(options, said, monkeypatch):
    monkeypatch.setattr(runner, "run_layer", lambda *_: "ran")
    executable = TARGET.lower(layer(), TARGET.config(**options))
    assert any(re.search(said, text) for text in executable.plan["circuit"]["warnings"])
    with pytest.warns(CircuitWarning, match=said):
        assert executable.run() == "ran"


def test_rings_that_turn_are_promised_less():
    """Their mean S is 1.04 epsilon at most where the closed form has 0 (docs/circuits.md)."""
    omega = np.array([[[0.0], [2.0]]])
    turning = layer(omega=omega, theta=0 * omega, gain=[1.0], coupling=FrequencyCoupling([0.0]),
                    order_parameter=FixedOrder(r=[1.0]))  # fmt: skip
    locked = turning.replace(omega=0.1 * omega)
    for family, more in (("ring", 1.1 * 0.02), ("lc", 0.0)):
        free, firm = (plan(spec, family=family)["accuracy"] for spec in (turning, locked))
        assert free["averaging_error"] - firm["averaging_error"] == pytest.approx(more, rel=1e-6)
    ring = TARGET.lower(turning, TARGET.config(family="ring"))
    assert compare(ring.run(), solve(turning)).conforms


def test_steps_follow_the_accuracy():
    """Relative frequency error (w h)^4/120 of a nearly linear tank; 1/100 of it takes 3.2 times the steps."""
    reduction = reduce(LC(mu=0.05))
    for steps in (16.0, 32.0, 64.0):
        assert step_error(reduction, steps)[0] == pytest.approx(-((2 * np.pi / steps) ** 4) / 120, rel=0.1)
    coarse, fine = (plan(layer(), mu=0.1, phase_accuracy=a)["integrator"] for a in (1e-3, 1e-5))
    assert 2.0 < fine["steps_per_cycle"] / coarse["steps_per_cycle"] < 4.0
    assert coarse["dt_s"] == pytest.approx(1 / (CARRIER * coarse["steps_per_cycle"]))


def test_turning_frame_takes_long_steps():
    slow = plan(layer(time_unit_s=1e-6), family="stuart_landau", mu=0.01)["integrator"]
    assert slow["steps_per_cycle"] < 1.0


def test_the_backends_own_words_reach_the_user(monkeypatch):
    def broken(spec, lowering):
        raise RuntimeError("no such integrator")

    monkeypatch.setitem(runner._RUN, "pair", broken)
    with pytest.raises(TargetRunError, match="target 'circuit': RuntimeError: no such integrator"):
        TARGET.lower(layer()).run()


def test_runs_repeat_and_carry_their_origin():
    omega = np.array([[[0.0], [0.4]]])
    spec = layer(omega=omega, theta=0 * omega, gain=[1.0], coupling=FrequencyCoupling([0.0]),
                 order_parameter=FixedOrder(r=[1.0]), values=np.ones((1, 2, 2)))  # fmt: skip
    executable = TARGET.lower(spec, TARGET.config(family="stuart_landau"))
    first, second = executable.run(), executable.run()
    assert np.array_equal(first.sync, second.sync) and first.status is SyncStatus.SETTLED
    assert np.allclose(first.output, 1.0)
    assert first.provenance.source == "circuit" and first.provenance.plan_digest == executable.plan.digest
    assert first.provenance.settings["family"] == "stuart_landau"
