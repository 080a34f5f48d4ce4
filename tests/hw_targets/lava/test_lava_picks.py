"""The converter: what it picks, what it says about it, and how exactly it turns numbers into integers."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets import get_target
from hw_targets.lava.converter import COUNTS, SHARE, affordable, pick_steps, step_error
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.picks import Picked
from hw_targets.lava.sums import payload_that_fits, row_sum
from hw_targets.lava.synapses import integer_weights
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import LoweringError

TARGET = get_target("lava")
QUICK = settings(max_examples=40, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


def layer(count: int = 4, **changes) -> PhaseLayerSpec:
    rng = np.random.default_rng(count)
    fields = {
        "omega": 0.1 * rng.standard_normal((2, count, 1)),
        "theta": rng.uniform(-1, 1, (2, count, 1)),
        "coupling": FrequencyCoupling(alpha=[0.1, 0.3]),
        "gain": [1.0, 2.0],
    }
    return PhaseLayerSpec(**(fields | changes))


def picks(spec: PhaseLayerSpec, **options) -> dict[str, int]:
    rows = TARGET.lower(spec, TARGET.config(**options)).plan["picks"]
    return {name: row["value"] for name, row in rows.items()}


def test_default_picks():
    assert picks(layer()) == {"payload_bits": 16, "steps_per_turn": 64}
    assert picks(layer(dynamics="clamped", duration=1.0)) == {"payload_bits": 16, "steps_per_turn": 64}
    network = picks(layer(count=2, dynamics="network"))
    assert (network["payload_bits"], network["steps_per_turn"]) == (16, 64)
    assert picks(layer(), number_format="floating_point") == {"steps_per_turn": 64}


def test_the_plan_keeps_options_as_given_beside_the_picks():
    plan = TARGET.lower(layer(dynamics="network")).plan
    assert plan["config"]["payload_bits"] is plan["config"]["steps_per_turn"] is None
    assert not any(row["given"] for row in plan["picks"].values())
    options = {"payload_bits": 11, "steps_per_turn": 128, "gain_shift": plan["format"]["gain_shift"] - 1}
    lowered = TARGET.lower(layer(dynamics="network"), TARGET.config(**options))
    assert all(row["given"] for row in lowered.plan["picks"].values())
    assert {name: row["value"] for name, row in lowered.plan["picks"].items()} == options
    assert lowered.lowered.config.payload_bits == 11 and lowered.plan["format"]["payload_bits"] == 11
    for word in ("truncation", "lost_phase", "sine", "given", "synaptic sums up to"):
        assert word in str(lowered.plan)


@pytest.mark.parametrize("chip", ["loihi2", "none"])
@pytest.mark.parametrize("count", [3, 17, 40])
@pytest.mark.parametrize("dynamics", ["network", "clamped"])
def test_the_payload_is_the_widest_whose_sums_fit(chip, count, dynamics):
    options = {"chip": chip} | ({"held_sources": "synapses"} if dynamics == "clamped" else {})
    lowered = TARGET.lower(layer(count, dynamics=dynamics, duration=1.0), TARGET.config(**options)).lowered
    payload, most = lowered.config.payload_bits, int(np.abs(lowered.program.weights).sum(axis=1).max())
    limit = 2**23 if chip == "loihi2" else 2**31
    assert most * (2 ** (payload - 1) - 1) < limit
    assert payload == 16 or most * (2**payload - 1) >= limit


@QUICK
@given(st.integers(1, 600_000), st.sampled_from([24, 32]))
def test_payload_that_fits(most, bits):
    payload = payload_that_fits(most, bits)
    assert most * (2 ** (payload - 1) - 1) < 2 ** (bits - 1) <= most * (2**payload - 1)


FORMATS = st.builds(
    Picked,
    phase_bits=st.integers(13, 24),
    sine_bits=st.integers(4, 12),
    payload_bits=st.integers(8, 16),
    rounding=st.sampled_from(["nearest", "floor"]),
    interpolation=st.sampled_from(["linear", "nearest"]),
    integrator=st.sampled_from(["runge_kutta", "euler"]),
    max_steps=st.sampled_from([2000, 16384, 2**20]),
)


@QUICK
@given(FORMATS)
def test_the_step_balances_truncation_against_lost_bits(config):
    spec = layer()
    count, why = pick_steps(config, spec)
    error = {n: step_error(config.having(steps_per_turn=n), spec) for n in COUNTS}
    hidden = [n for n in COUNTS if error[n].own <= SHARE * error[n].sine]
    paid = [n for n in COUNTS if affordable(config.having(steps_per_turn=n))]
    if hidden:
        assert count == hidden[0] and "sine hides" in why
    elif paid:
        assert count in paid and error[count].own == min(error[n].own for n in paid)
        assert ("max_steps" in why) == (len(paid) < len(COUNTS))
    else:
        assert "cuts the band" in why and error[count].truncation <= 0.05 < max(
            [error[n].truncation for n in COUNTS if n < count], default=1.0
        )


def test_coarse_formats_take_fewer_steps_and_patience_buys_euler_more():
    assert picks(layer(), payload_bits=10)["steps_per_turn"] == 16
    assert picks(layer(), phase_bits=14)["steps_per_turn"] == 16
    assert picks(layer(), integrator="euler")["steps_per_turn"] == 64
    assert picks(layer(), integrator="euler", max_steps=2**20)["steps_per_turn"] == 1024
    few = TARGET.lower(layer(), TARGET.config(max_steps=8000)).plan
    same = TARGET.lower(layer(), TARGET.config(max_steps=8000, steps_per_turn=64)).plan
    assert few["picks"]["steps_per_turn"]["value"] == 32
    assert few["accuracy"]["band"] < same["accuracy"]["band"]


# float -> fixed -> float


NUMBERS = st.builds(
    FixedPoint,
    phase_bits=st.integers(12, 31),
    sine_bits=st.just(6),
    payload_bits=st.integers(4, 24),
    parameter_bits=st.integers(4, 20),
    steps_per_turn=st.sampled_from(COUNTS),
)
# what float64 itself rounds, in least significant bits
ROUNDED = 0.5 + 1e-4


@QUICK
@given(NUMBERS, SEEDS)
def test_phases_return_within_half_a_bit(form, seed):
    angle = np.random.default_rng(seed).uniform(-20, 20, 17)
    back = form.to_radians(form.from_radians(angle))
    lsb = 2 * np.pi / 2**form.phase_bits
    assert np.abs(np.angle(np.exp(1j * (back - angle)))).max() <= ROUNDED * lsb


@QUICK
@given(NUMBERS, SEEDS)
def test_rates_and_drifts_return_within_half_a_bit(form, seed):
    rate = np.random.default_rng(seed).uniform(-1, 1, 17)
    # the table's peak is one below a power of two, and mantissas make up for it
    lsb = form.amplitude / 2 ** (form.payload_bits - 1) / 2**form.parameter_bits
    assert np.abs(form.rate(rate) * lsb - rate).max() <= ROUNDED * lsb
    step = form.steps_per_turn / 2**form.phase_bits
    assert np.abs(form.increment(rate) * step - rate).max() <= ROUNDED * step


@QUICK
@given(SEEDS, st.integers(3, 8), st.booleans())
def test_weights_return_within_half_a_bit(seed, weight_bits, signed):
    matrix = np.random.default_rng(seed).uniform(-1 if signed else 0, 1, (5, 5))
    weights, scale = integer_weights(matrix, weight_bits)
    lsb = scale[:, None] * (2 if signed else 1)
    assert (np.abs(weights * scale[:, None] - matrix) <= ROUNDED * lsb).all()
    assert row_sum(matrix, weight_bits) == np.abs(weights).sum(axis=1).max()
    assert np.abs(weights).max() == 2**weight_bits - (2 if signed else 1)


@settings(QUICK, max_examples=15)
@given(SEEDS, st.integers(6, 16), st.sampled_from(["network", "clamped"]))
def test_gains_return_within_half_a_bit(seed, parameter_bits, dynamics):
    rng = np.random.default_rng(seed)
    spec = layer(
        5, dynamics=dynamics, duration=1.0, coupling=ExplicitCoupling(matrix=rng.uniform(-1, 1, (2, 5, 5)))
    )
    options = {"held_sources": "synapses"} if dynamics == "clamped" else {}
    lowered = TARGET.lower(spec, TARGET.config(parameter_bits=parameter_bits, **options)).lowered
    program, form = lowered.program, lowered.number_format.arithmetic
    numbers = lowered.held if dynamics == "clamped" else lowered.network
    _, scale = integer_weights(numbers.matrix, 8)
    pace = 1.0
    if dynamics == "clamped":
        pace = np.concatenate([lowered.schedule.pace * np.sign(numbers.rate), np.zeros(len(numbers.free))])
    exact = pace * scale * form.step_lsb * 2 ** (form.payload_bits - 1) / form.amplitude**2
    assert np.abs(program.gain - np.ldexp(exact, program.gain_shift)).max() <= ROUNDED
    assert 2 ** (parameter_bits - 1) <= np.abs(program.gain).max() <= 2**parameter_bits


# formats too coarse for a promise


@pytest.mark.parametrize(
    ("dynamics", "options"),
    [
        ("pair", {"phase_bits": 12, "sine_bits": 8, "steps_per_turn": 64}),
        ("pair", {"sine_bits": 3}),
        ("pair", {"payload_bits": 5}),
        ("pair", {"parameter_bits": 4}),
        ("pair", {"phase_bits": 21, "sine_bits": 6, "interpolation": "nearest", "integrator": "euler"}),
        ("network", {"weight_bits": 3}),
        ("network", {"integrator": "euler", "steps_per_turn": 16, "delay_steps": 0}),
        ("clamped", {"integrator": "euler", "steps_per_turn": 16}),
    ],
)
def test_what_is_enough_is_enough_and_less_is_not(dynamics, options):
    spec = layer(dynamics=dynamics, duration=0.7)
    with pytest.raises(LoweringError) as error:
        TARGET.lower(spec, TARGET.config(**options))
    ((option, value),) = re.findall(r"\((\w+)=(\d+) is enough\)", str(error.value))
    assert option in options
    TARGET.lower(spec, TARGET.config(**(options | {option: int(value)})))
    less = int(value) // 2 if option == "steps_per_turn" else int(value) - 1
    with pytest.raises(LoweringError):
        TARGET.lower(spec, TARGET.config(**(options | {option: less})))


def test_a_network_too_short_to_average_is_refused_and_the_advice_lowers():
    spec = layer(dynamics="network")
    with pytest.raises(LoweringError, match=r"max_steps: given 16, .* set max_steps=(\d+) or more") as error:
        TARGET.lower(spec, TARGET.config(max_steps=16))
    ((need,),) = [re.findall(r"set max_steps=(\d+)", str(error.value))]
    assert TARGET.lower(spec, TARGET.config(max_steps=int(need))).plan["accuracy"]["band"] <= 0.5
    with pytest.raises(LoweringError):
        TARGET.lower(spec, TARGET.config(max_steps=int(need) - 1))


def test_a_row_whose_gain_rounds_away_names_the_mantissa_of_parameters():
    matrix = [[[0.0, 1.0, 1.0], [1e-4, 0.0, 0.0], [1.0, 1.0, 0.0]]]
    fields = {"omega": np.zeros((1, 3, 1)), "theta": np.zeros((1, 3, 1)), "gain": [1.5]}
    spec = PhaseLayerSpec(**fields, coupling=ExplicitCoupling(matrix=matrix), dynamics="network")
    with pytest.raises(LoweringError, match="that of its gain") as error:
        TARGET.lower(spec)
    ((bits,),) = [re.findall(r"\(parameter_bits=(\d+) is enough\)", str(error.value))]
    TARGET.lower(spec, TARGET.config(parameter_bits=int(bits)))
