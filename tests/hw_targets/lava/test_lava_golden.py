"""Integers worked out by hand, against the golden model and the Lava processes, in the format SMALL."""

import ast
from pathlib import Path

import numpy as np
import pytest
from golden_runs import SMALL, cells, golden_cells, golden_network, ints, lava_cells, lava_network
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets.lava import golden
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.golden import Golden, half, shift, sixth, stacked
from hw_targets.lava.program import ROWS, NetworkProgram

MODES = ("nearest", "floor", "toward_zero")


def pair_of_oscillators(integrator: str, delay_steps: int = 0) -> NetworkProgram:
    """Phases 0 and a quarter turn, weights +2 and -2, gain 3/4, drifts of one per step apart."""
    return NetworkProgram(
        theta=ints(0, 64),
        drift=ints(1, -1),
        gain=ints(3, 3),
        gain_shift=2,
        weights=np.array([[0, 2], [-2, 0]]),
        weight_bits=8,
        payload_bits=4,
        fan_out=ints(1, 1),
        chunk=64,
        integrator=integrator,
        delay_steps=delay_steps,
        synapses="dense",
    )


BOTH_CELLS = pytest.mark.parametrize("run", [golden_cells, lava_cells], ids=["golden", "lava"])
BOTH_NETWORKS = pytest.mark.parametrize("run", [golden_network, lava_network], ids=["golden", "lava"])


def test_the_golden_model_imports_nothing_but_numpy():
    tree = ast.parse(Path(golden.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(one) for one in imports] == ["import numpy as np"]
    assert "__import__" not in Path(golden.__file__).read_text()


def test_shifts_by_hand():
    """-7/4 = -1.75, -6/4 = -1.5, -1/4, 1/4, 6/4 = 1.5, 7/4 = 1.75."""
    x = ints(-7, -6, -4, -1, 0, 1, 6, 7)
    assert shift(x, 2, "nearest").tolist() == [-2, -1, -1, 0, 0, 0, 2, 2]
    assert shift(x, 2, "floor").tolist() == [-2, -2, -1, -1, 0, 0, 1, 1]
    assert shift(x, 2, "toward_zero").tolist() == [-1, -1, -1, 0, 0, 0, 1, 1]
    for mode in MODES:
        assert shift(x, 0, mode).tolist() == x.tolist()
        assert shift(ints(-3, 5), -2, mode).tolist() == [-12, 20]
    assert half(ints(-3, -1, 1, 3)).tolist() == [-1, 0, 1, 2]
    # 3/6 = 0.5 up, -3/6 = -0.5 just below zero: 2796203 is a little more than 2^24/6
    assert sixth(ints(3, -3, 4), 0, 0, 0).tolist() == [1, -1, 1]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # phases 8: 5/4; 16: 5/2; 72: 7 - 1/2; 80: 7 - 1; 208: -7 + 1; -8 = 248: -5 + 15/4
        ("nearest", [1, 3, 7, 6, -6, -1]),
        ("floor", [1, 2, 6, 6, -6, -2]),
        ("toward_zero", [1, 2, 7, 6, -6, -2]),
    ],
)
def test_interpolated_sines_by_hand(mode, expected):
    assert Golden(**SMALL).table.tolist() == [0, 5, 7, 5, 0, -5, -7, -5, 0]
    form = SMALL | {"rounding": mode}
    phases = ints(8, 16, 72, 80, 208, -8)
    for model in (Golden(**form), FixedPoint(**form)):
        assert model.sine(phases).tolist() == expected
        assert model.sine(phases + 512).tolist() == expected
        assert model.cosine(phases - 64).tolist() == expected


@pytest.mark.parametrize("mode", MODES)
def test_the_nearest_entry_by_hand(mode):
    """Entries are 32 apart: 15 belongs to the first, 16 to the next, 240 to the one after the last."""
    form = SMALL | {"rounding": mode, "interpolation": "nearest"}
    for model in (Golden(**form), FixedPoint(**form)):
        assert model.sine(ints(15, 16, 47, 48, 239, 240, 255)).tolist() == [0, 5, 5, 7, -5, 0, 0]


@BOTH_CELLS
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # sine 3: 42 - 12 = 30, 7.5 -> 8;    sine 3: 7 - 33 = -26, -6.5 -> -6
        ("nearest", [24, 10]),
        # sine 2: 42 - 8 = 34, 8.5 -> 8;     sine 2: 7 - 22 = -15, -3.75 -> -4
        ("floor", [24, 12]),
        # the same, -3.75 -> -3
        ("toward_zero", [24, 13]),
    ],
)
def test_an_euler_step_by_hand(run, mode, expected):
    """Both cells at phase 16; mismatch and coupling (6, 4) and (1, 11)."""
    record = run(cells([16, 16], [6, 1], [4, 11], [1, 1], "euler"), SMALL | {"rounding": mode})
    assert record[0, ROWS.index("phase")].tolist() == expected
    assert record[0, ROWS.index("increment")].tolist() == [one - 16 for one in expected]


@BOTH_CELLS
def test_euler_steps_wrap_both_ways(run):
    """250 + 56/4 = 264 -> 8; at phase 4 the sine is 20/32 -> 1, and 4 + (-22/4 = -5.5 -> -5) = -1 -> 255."""
    record = run(cells([250, 4], [8, 0], [0, 22], [1, 1], "euler"))
    assert record[0, ROWS.index("phase")].tolist() == [8, 255]
    assert record[0, ROWS.index("increment")].tolist() == [14, -5]


@BOTH_CELLS
def test_a_runge_kutta_step_by_hand(run):
    """Mismatch and coupling 8, from 0: k1 = 56/4 = 14; at 7 the sine is 35/32 -> 1, k2 = 48/4 = 12; at 6 it
    is 30/32 -> 1, k3 = 12; at 12 it is 60/32 -> 2, k4 = 40/4 = 10; (14 + 24 + 24 + 10)/6 = 12.
    """
    record = run(cells([0, 0], [8, 8], [8, 8], [2, 1]))
    assert record[0, ROWS.index("phase")].tolist() == [12, 12]
    assert record[1, :, 1].tolist() == record[0, :, 1].tolist()
    # k1 = 10; at 17 (85/32 -> 3) k2 = 8; at 16 (2.5 -> 3) k3 = 8; at 20 (100/32 -> 3) k4 = 8; 50/6 = 8.3
    assert record[1, ROWS.index("phase"), 0] == 20


@BOTH_CELLS
def test_a_record_with_two_crossings_by_hand(run):
    """56 per step: 50, 106, 162, 218, 18, 74. Cosines 2, -6, -5, 4, 6, -2; sines 6, 3, -5, -5, 3, 6."""
    record = run(cells([50], [32], [0], [5], "euler"))[:, :, 0]
    by_name = {name: record[:, place].tolist() for place, name in enumerate(ROWS)}
    assert by_name == {
        "phase": [106, 162, 218, 18, 74],
        "increment": [56] * 5,
        "cosine_sum": [-4, -9, -5, 1, -1],
        "sine_sum": [9, 4, -1, 2, 8],
        "first_step": [0] * 5,
        "first_before": [50] * 5,
        "first_after": [106] * 5,
        "first_cosine_sum": [2] * 5,
        "first_sine_sum": [6] * 5,
        "last_step": [0, 0, 0, 0, 4],
        "last_before": [50, 50, 50, 50, 18],
        "last_after": [106, 106, 106, 106, 74],
        "last_cosine_sum": [2, 2, 2, 2, 1],
        "last_sine_sum": [6, 6, 6, 6, 2],
    }


@BOTH_CELLS
def test_before_any_crossing_the_record_says_so(run):
    record = run(cells([0, 3], [1, 0], [0, 0], [1, 0], "euler"))
    rest = {"first_step": -1, "last_step": -1}
    for place, name in enumerate(ROWS[4:], start=4):
        assert (record[:, place] == rest.get(name, 0)).all()
    # the cell without steps has the sums of its start: cosine 7, sine 15/32 -> 0
    assert record[0, :4, 1].tolist() == [3, 0, 7, 0]


# In each network: phasors (7, 0) and (0, 7), so the sums are X = (2*0, -2*7), Y = (2*7, -2*0), both torques
# are 98/8 = 12.25 -> 12, times 3/4 is 9, and the slopes are 1 + 9 and -1 + 9.
SENT_FIRST = [[0, 64], [7, 0], [0, 7], [0, 0], [0, 0], [0, 0]]
SUMS_FIRST = [[0, -14], [14, 0]]


@BOTH_NETWORKS
def test_an_euler_network_by_hand(run):
    """Phases 10 and 72: cosine 7 - 20/32 -> 6, sine 50/32 -> 2; cosine -40/32 -> -1, sine 7 - 1/2 -> 7."""
    trace = run(pair_of_oscillators("euler"), 2)
    assert trace[0].tolist() == SENT_FIRST
    assert trace[1].tolist() == [[10, 72], [6, -1], [2, 7], *SUMS_FIRST, [10, 8]]


@BOTH_NETWORKS
def test_a_delayed_euler_network_by_hand(run):
    """First the drift alone. Phases 1 and 63 have the phasors of 0 and 64, 11 and 71 have (6, 2) and (-1, 7).

    Third slope: 6*14/8 = 10.5 -> 11, 33/4 = 8.25 -> 8, 1 + 8; 7*14/8 -> 12, 9, -1 + 9.
    """
    trace = run(pair_of_oscillators("euler", delay_steps=1), 3)
    assert trace[0].tolist() == [[1, 63], [7, 0], [0, 7], [0, 0], [0, 0], [1, -1]]
    assert trace[1].tolist() == [[11, 71], [7, 0], [0, 7], *SUMS_FIRST, [10, 8]]
    assert trace[2].tolist() == [[20, 79], [6, -1], [2, 7], *SUMS_FIRST, [9, 8]]


@BOTH_NETWORKS
def test_a_runge_kutta_network_by_hand(run):
    """k2: at 5 and 68, phasors (7, 1) and (-1, 7): torques 100/8 = 12.5 -> 13, 39/4 -> 10.

    k3: halves 5.5 -> 6 and 4.5 -> 5, the same phasors. k4: at 11 and 73, (6, 2) and (-1, 6): torques
    76/8 = 9.5 -> 10, 30/4 = 7.5 -> 8. Sums 63/6 = 10.5 -> 11 and 51/6 = 8.5 -> 9.
    """
    trace = run(pair_of_oscillators("runge_kutta"), 6)
    assert trace[0].tolist() == SENT_FIRST
    assert trace[1].tolist() == [[0, 64], [7, -1], [1, 7], *SUMS_FIRST, [10, 8]]
    assert trace[2].tolist() == [[0, 64], [7, -1], [1, 7], [-2, -14], [14, -2], [11, 9]]
    assert trace[3].tolist() == [[0, 64], [6, -1], [2, 6], [-2, -14], [14, -2], [11, 9]]
    assert trace[4].tolist() == [[11, 73], [6, -1], [2, 6], [-2, -12], [12, -4], [9, 7]]
    # the next step begins with the same sums; halves 4.5 -> 5 and 3.5 -> 4, phases 16 and 77
    assert trace[5].tolist() == [[11, 73], [6, -2], [3, 6], [-2, -12], [12, -4], [9, 7]]


@settings(max_examples=60)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_every_format_gives_the_same_integers(data, number):
    """Formats that lowering refuses included; without Lava, whose processes only call these functions."""
    phase_bits = data.draw(st.integers(12, 31))
    form = {
        "phase_bits": phase_bits,
        "sine_bits": data.draw(st.integers(3, min(16, phase_bits - 1))),
        "payload_bits": data.draw(st.integers(4, 24)),
        "parameter_bits": data.draw(st.integers(4, 20)),
        "steps_per_turn": 2 ** data.draw(st.integers(4, 10)),
        "rounding": data.draw(st.sampled_from(MODES)),
        "interpolation": data.draw(st.sampled_from(["linear", "nearest"])),
    }
    gain_shift = data.draw(st.integers(0, 48))
    fixed, model, rng = FixedPoint(**form), Golden(**form), np.random.default_rng(number)
    phase = rng.integers(-(2**33), 2**33, 65)
    mismatch, coupling, gain = rng.integers(0, fixed.full_scale + 2, (3, 65))
    assert fixed.table.tolist() == model.table.tolist()
    sine, cosine = fixed.sine(phase), fixed.cosine(phase)
    assert (sine == model.sine(phase)).all() and (cosine == model.cosine(phase)).all()
    for integrator, step in (("euler", fixed.euler), ("runge_kutta", fixed.advance)):
        after = step(phase, sine, mismatch, coupling)
        assert (after == model.cell_step(phase, mismatch, coupling, integrator)).all()
    # the first slope of a network with small enough sums, any gain shift
    weights = rng.integers(-3, 4, (65, 65))
    motion = model.network(phase, mismatch, gain, gain_shift, weights, "euler", False)
    slope = stacked(motion, 2)["slope"][1]
    turned = fixed.rotation((cosine, sine), (weights @ cosine, weights @ sine), gain, gain_shift)
    assert (slope == mismatch + turned).all()
