"""The integer arithmetic: hand-computed vectors, and its distance from float64."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets.lava.fixed_point import FixedPoint, shift_right
from hw_targets.lava.floating_point import FloatingPoint
from oscsim.tolerance import euler_bias, euler_moment_epsilon, largest_euler_bias, sine_table_error

TINY = FixedPoint(phase_bits=12, sine_bits=3, payload_bits=8, parameter_bits=4, steps_per_turn=16)
DEFAULT = FixedPoint(phase_bits=24, sine_bits=10, payload_bits=16, parameter_bits=16, steps_per_turn=64)


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_shift_rounds_to_nearest_and_halves_up():
    assert shift_right(ints(-3, -2, -1, 0, 1, 2, 3), 1).tolist() == [-1, -1, 0, 0, 1, 1, 2]
    assert shift_right(ints(-3, 5), 0).tolist() == [-3, 5]
    assert shift_right(ints(-3, 5), -2).tolist() == [-12, 20]


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("nearest", [-2, -1, -1, 0, 0, 0, 1, 1, 2]),
        ("floor", [-2, -2, -1, -1, 0, 0, 0, 1, 1]),
        ("toward_zero", [-1, -1, 0, 0, 0, 0, 0, 1, 1]),
    ],
)
def test_every_rounding_mode_by_hand(mode, wanted):
    # quarters: -7/4, -5/4, -3/4, -1/2, 0, 1/4, 3/4, 5/4, 7/4
    assert shift_right(ints(-7, -5, -3, -2, 0, 1, 3, 5, 7), 2, mode).tolist() == wanted


def test_sine_table_is_the_hand_computed_one():
    # eight entries of 127 sin(2 pi k/8): 127/sqrt(2) = 89.80
    assert TINY.table.tolist() == [0, 90, 127, 90, 0, -90, -127, -90, 0]
    # an eighth of a turn is 512; a quarter of the way from 90 to 127 is 99.25
    assert TINY.sine(ints(512, 640, 1024, 2048, 2560, 3584)).tolist() == [90, 99, 127, 0, -90, -90]
    assert TINY.cosine(ints(0, 512, 1024, 2048)).tolist() == [127, 90, 0, -127]


def test_nearest_entry_by_hand():
    form = replace(TINY, interpolation="nearest")
    # an entry every 512; 255 and 256 are the last phase of the first one and the first of the second
    assert form.sine(ints(255, 256, 767, 768, 3839, 3840, -257, -256)).tolist() == [
        0,
        90,
        90,
        127,
        -90,
        0,
        -90,
        0,
    ]


def test_interpolation_rounds_as_the_format_says():
    # between 90 and 127, a quarter of the way: 99.25; between 0 and -90 the same: -22.5
    wanted = {"nearest": [99, -22], "floor": [99, -23], "toward_zero": [99, -22]}
    for mode, values in wanted.items():
        assert replace(TINY, rounding=mode).sine(ints(640, 2176)).tolist() == values


def test_sine_wraps():
    phase = np.arange(-5000, 5000, 37, dtype=np.int64)
    assert np.array_equal(TINY.sine(phase), TINY.sine(phase + 4096))


def test_one_step_of_the_cell_by_hand():
    """phase 0, mismatch one step per step, coupling half of it: worked out on paper.

    Mantissas 16*128/127 = 16.13 -> 16 and 8; a step is 256 bits; the shift is 4 + 7 - 8 = 3.
    k1 = (16*127 - 8*0) >> 3 = 254; sin(127) = 90*127/512 = 22.3 -> 22, k2 = (2032 - 176)/8 = 232
    sin(116) = 20.4 -> 20, k3 = (2032 - 160)/8 = 234; sin(234) = 41.1 -> 41, k4 = (2032 - 328)/8 = 213
    (254 + 2*232 + 2*234 + 213)/6 = 1399/6 = 233.2 -> 233
    """
    mismatch, coupling = TINY.rate(np.array([1.0])), TINY.rate(np.array([0.5]))
    assert (mismatch.tolist(), coupling.tolist(), TINY.rate_shift) == ([16], [8], 3)
    phase = ints(0)
    assert TINY.advance(phase, TINY.sine(phase), mismatch, coupling).tolist() == [233]


def test_one_euler_step_by_hand():
    """phase 512, sine 90: (2*127 - 8*90)/2^3 = -466/8 = -58.25, and 10 more than that is -48.25."""
    phase = ints(512)
    wanted = {"nearest": 454, "floor": 453, "toward_zero": 454}
    for mode, after in wanted.items():
        form = replace(TINY, rounding=mode)
        assert form.euler(phase, form.sine(phase), ints(2), ints(8)).tolist() == [after]
    # -3 back over zero
    assert TINY.euler(ints(2), ints(3), ints(0), ints(8)).tolist() == [4095]


def test_the_weighted_sum_of_stages_is_rounded():
    phase = ints(100, 100, 4095)
    ahead, still = ints(-5, 1, 1), ints(-5, 0, 1)
    # -30/6, 5/6 and 6/6
    assert TINY.runge_kutta(phase, (ahead, ahead, ahead, still)).tolist() == [95, 101, 0]


def test_one_step_wraps_at_a_full_turn():
    phase = ints(4000)
    after = TINY.advance(phase, TINY.sine(phase), ints(16), ints(0))
    assert after.tolist() == [(4000 + 254) % 4096]
    assert TINY.difference(after, phase).tolist() == [254]


def test_one_stage_of_the_network_by_hand():
    """cos = 90, sin = 90, sums w sin = 254, w cos = -254: drive = 90*254 + 90*254 = 45720.

    45720/2^7 = 357.2 -> 357; times gain 11 = 3927; /2^5 = 122.7 -> 123.
    """
    turned = TINY.rotation((ints(90), ints(90)), (ints(-254), ints(254)), ints(11), 5)
    assert turned.tolist() == [123]


def test_the_resting_point_of_equal_strengths_does_not_move():
    # rho = 1: at a quarter turn the sine is exactly the amplitude, drift and pull cancel to the last bit
    phase = ints(1 << 22)
    rate = DEFAULT.rate(np.array([1.0]))
    assert DEFAULT.advance(phase, DEFAULT.sine(phase), rate, rate).tolist() == phase.tolist()


@pytest.mark.parametrize("rounding", ["nearest", "floor", "toward_zero"])
@pytest.mark.parametrize("interpolation", ["linear", "nearest"])
@pytest.mark.parametrize("bits", [(24, 10, 16), (20, 8, 12), (16, 6, 10), (31, 12, 20)])
def test_sine_error_is_within_the_derived_bound(bits, interpolation, rounding):
    form = FixedPoint(*bits, 16, 64, interpolation, rounding)
    phase = np.random.default_rng(3).integers(0, form.turn, 20000)
    exact = np.sin(form.to_radians(phase.astype(float)))
    error = np.abs(form.sine(phase) / form.amplitude - exact).max()
    modes = {"interpolated": interpolation == "linear", "to_nearest": rounding == "nearest"}
    bound = sine_table_error(bits[1], bits[2], **modes)
    assert bound / 20 < error <= bound
    # and the modes do differ: the bound of another one would be broken, or be far away
    assert interpolation == "linear" or error > 2 * sine_table_error(bits[1], bits[2])


@settings(max_examples=40, deadline=None)
@given(
    phase=st.floats(0.0, 6.28), ratio=st.floats(0.0, 1.0), swap=st.booleans(), steps=st.sampled_from([16, 64])
)
def test_integer_step_follows_the_float_step(phase, ratio, swap, steps):
    fixed, exact = FixedPoint(24, 10, 16, 16, steps), FloatingPoint(steps)
    drift, pull = np.array([1.0 if swap else ratio]), np.array([ratio if swap else 1.0])
    start = fixed.from_radians(np.array([phase]))
    radians = fixed.to_radians(start.astype(float))
    after = fixed.advance(start, fixed.sine(start), fixed.rate(drift), fixed.rate(pull))
    wanted = exact.advance(radians, np.sin(radians), exact.rate(drift), exact.rate(pull))
    moved = fixed.to_radians(fixed.difference(after, start).astype(float))
    # one step of: sine error, parameter rounding, and two bits of phase
    allowed = exact.step_lsb * (sine_table_error(10, 16) + 2.0**-16) + 2 * 2 * np.pi / 2**24
    assert abs(float(moved[0] - (wanted - radians)[0])) <= allowed


def test_angles_survive_the_round_trip():
    angle = np.array([0.0, 1.0, -1.0, 7.0, -3.5, 2 * np.pi - 1e-9])
    back = DEFAULT.to_radians(DEFAULT.from_radians(angle).astype(float))
    assert np.abs(np.exp(1j * back) - np.exp(1j * angle)).max() < 2e-7


@pytest.mark.parametrize("steps_per_turn", [32, 64, 256])
def test_euler_steps_err_by_what_is_promised_and_not_by_much_less(steps_per_turn):
    """The phase of -sin phi at every moment and from every start, against the exact flow."""
    form = FloatingPoint(steps_per_turn)
    start = np.pi - np.geomspace(1e-3, 3.1, 400)
    tangent, phase, worst = np.tan(start / 2), start, 0.0
    pull = form.rate(np.ones(len(start)))
    for step in range(1, 4 * steps_per_turn):
        phase = form.euler(phase, form.sine(phase), 0 * pull, pull)
        shrunk = tangent * np.exp(-step * form.step_lsb)
        growth = np.sin(2 * np.arctan(shrunk)) / np.sin(start)
        worst = max(worst, float((np.abs(phase - 2 * np.arctan(shrunk)) / np.maximum(1.0, growth)).max()))
    bound = euler_moment_epsilon(form.step_lsb)
    assert 0.9 * bound < worst <= bound


def test_the_largest_euler_bias_is_the_largest():
    bias = [euler_bias(rho, 0.1) for rho in np.linspace(1.0, 4.0, 3001)]
    assert 0.999 * largest_euler_bias(0.1) < max(bias) <= largest_euler_bias(0.1)
