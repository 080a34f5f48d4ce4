"""Options: what is refused and how, and that each one changes the plan or the answer."""

import json

import pytest

from hw_targets import get_target
from hw_targets.lava.run import settings
from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import ConfigError, LoweringError

TARGET = get_target("lava")


def layer(dynamics: str = "pair") -> PhaseLayerSpec:
    return PhaseLayerSpec(
        omega=[[[0.0], [0.4], [1.1]]],
        theta=[[[0.1], [0.5], [-0.3]]],
        coupling=FrequencyCoupling(alpha=[0.2]),
        gain=[1.5],
        order_parameter=FixedOrder(r=[0.8]),
        dynamics=dynamics,
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"steps_per_turn": 100}, "power of two, the nearest are 64 and 128"),
        ({"sine_bits": 12, "phase_bits": 12}, "sine_bits: given 12 with phase_bits=12; expected fewer"),
        ({"number_format": "floating_point", "phase_bits": 24}, "phase_bits: given with number_format"),
        (
            {"number_format": "floating_point", "rounding": "floor", "chip": "none"},
            "rounding, chip: given with",
        ),
        ({"delay_steps": 1}, "delay_steps: given 1 with integrator='runge_kutta'"),
        ({"integrator": "euler", "delay_steps": 2}, "delay_steps"),
        ({"integrator": "heun"}, "integrator"),
        ({"rounding": "up"}, "rounding"),
        ({"number_format": "float"}, "number_format"),
        ({"timeout_s": 0.0}, "timeout_s"),
        ({"weight_bits": 9}, "weight_bits"),
        ({"no_such_option": 1}, "unknown option 'no_such_option'"),
    ],
)
def test_bad_options_are_refused_by_name(options, text):
    with pytest.raises(ConfigError, match="lava") as error:
        TARGET.config(**options)
    assert text in str(error.value)
    assert "Value error" not in str(error.value) and "option ''" not in str(error.value)


CHANGES = {
    "number_format": "floating_point",
    "integrator": "euler",
    "delay_steps": 1,
    "interpolation": "nearest",
    "rounding": "floor",
    "gain_shift": 10,
    "synapses": "sparse",
    "held_sources": "synapses",
    "chip": "none",
    "stall_s": 3.0,
    "phase_bits": 22,
    "sine_bits": 11,
    "payload_bits": 15,
    "parameter_bits": 15,
    "steps_per_turn": 128,
    "max_steps": 2000,
    "timeout_s": 12.0,
    "weight_bits": 7,
    "trajectory_samples": 3,
}


def test_the_list_of_options_is_complete():
    assert set(CHANGES) == set(TARGET.config_class.model_fields)


# what each option changes besides its own line in the plan
EFFECTS = {
    "number_format": ("pair", "accuracy"),
    "integrator": ("pair", "accuracy"),
    "interpolation": ("pair", "accuracy"),
    "rounding": ("pair", "accuracy"),
    "chip": ("pair", "chip"),
    "delay_steps": ("network", "accuracy"),
    "gain_shift": ("network", "network"),
    "synapses": ("network", "network"),
    "held_sources": ("clamped", "resources"),
    "phase_bits": ("pair", "format"),
    "sine_bits": ("pair", "accuracy"),
    "payload_bits": ("pair", "accuracy"),
    "parameter_bits": ("pair", "cells"),
    "steps_per_turn": ("pair", "clock"),
    "max_steps": ("network", "clock"),
    "weight_bits": ("network", "network"),
}


@pytest.mark.parametrize("option", sorted(EFFECTS))
def test_every_option_changes_what_is_run(option):
    dynamics, section = EFFECTS[option]
    others = {"integrator": "euler"} if option == "delay_steps" else {}
    plain = TARGET.lower(layer(dynamics), TARGET.config(**others)).plan
    changed = TARGET.lower(layer(dynamics), TARGET.config(**others, **{option: CHANGES[option]})).plan
    assert plain[section] != changed[section]


def test_time_limit_and_samples_are_in_the_plan():
    # what they do is tested in test_lava_runtime.py and test_lava_network.py
    config = TARGET.config(timeout_s=12.0, trajectory_samples=3)
    entries = TARGET.lower(layer("network"), config).plan["config"]
    assert (entries["timeout_s"], entries["trajectory_samples"]) == (12.0, 3)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"sine_bits": 3}, "sine_bits"),
        ({"payload_bits": 6}, "payload_bits"),
        ({"phase_bits": 12, "sine_bits": 8, "steps_per_turn": 64}, "phase_bits"),
        ({"parameter_bits": 4}, "parameter_bits"),
        ({"interpolation": "nearest", "sine_bits": 7}, "sine_bits, or interpolation='linear'"),
    ],
)
def test_a_format_that_could_reject_nothing_is_refused(options, advice):
    with pytest.raises(LoweringError, match="could still reject a wrong answer") as error:
        TARGET.lower(layer(), TARGET.config(**options))
    assert f"use more {advice}" in str(error.value) or advice in str(error.value).split("use more")[1]


@pytest.mark.parametrize("number_format", ["fixed_point", "floating_point"])
def test_a_step_so_coarse_that_it_could_reject_nothing_is_refused(number_format):
    """Euler, 16 steps per turn: 0.184 h (1 + h/4) = 0.079 of a moment, but only 0.15 h of a mean."""
    config = TARGET.config(number_format=number_format, integrator="euler", steps_per_turn=16)
    with pytest.raises(LoweringError, match=r"epsilon would be 0.0[78].*use more steps_per_turn"):
        TARGET.lower(layer("clamped"), config)
    assert TARGET.lower(layer("pair"), config).plan["accuracy"]["averaging_error"] == pytest.approx(
        0.059, abs=1e-3
    )


@pytest.mark.parametrize(
    ("dynamics", "options"),
    [
        ("pair", {}),
        ("pair", {"number_format": "floating_point", "integrator": "euler"}),
        ("clamped", {"held_sources": "synapses"}),
        ("network", {"phase_bits": 22}),
        # gains of so few bits that they are shifted left
        (
            "network",
            {"phase_bits": 31, "steps_per_turn": 16, "parameter_bits": 8, "payload_bits": 10, "chip": "none"},
        ),
        ("network", {"number_format": "floating_point", "synapses": "sparse"}),
    ],
)
def test_the_settings_of_a_run_make_it_again(dynamics, options):
    """Nothing is left to pick: a version with other rules would make the same integers of them."""
    lowered = TARGET.lower(layer(dynamics), TARGET.config(**options)).lowered
    given = json.loads(json.dumps(settings(lowered)))
    again = TARGET.lower(lowered.spec, TARGET.config(**given))
    assert settings(again.lowered) == given and all(given[name] == value for name, value in options.items())
    # the rest of the plan says which options were given
    kept = [name for name, _ in lowered.plan.entries if name not in ("config", "picks")]
    assert [again.plan[name] for name in kept] == [lowered.plan[name] for name in kept]
    assert all(row["given"] for row in again.plan["picks"].values())
    gained = dynamics == "network" or "held_sources" in options
    fixed = options.get("number_format") != "floating_point"
    assert (given.get("gain_shift") is not None) == (gained and fixed)
