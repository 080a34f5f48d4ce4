"""Free-running oscillators over 100,000 steps, widths without an end, and what a wrong rounding does."""

import math
from itertools import accumulate

import numpy as np
import pytest
from golden_runs import DEFAULT, SMALL, cells, golden_cells, golden_network, ints, lava_cells, lava_network

from hw_targets.lava import fixed_point, golden
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.golden import Golden, stacked
from hw_targets.lava.program import ROWS, NetworkProgram

STEPS = 100_000
TURN = 2**24
# one step of 64 per turn, a third of it, and so slow that it turns 3 times in all
FREE = cells([0, 5, TURN - 1], [65538, 21846, 127], [0, 0, 0], [STEPS] * 3)


def exact_sine(phase: int) -> int:
    """The default format's sine in Python integers."""
    entry, fraction = divmod(phase % TURN, 2**14)
    low, high = (round(32767 * math.sin(2 * math.pi * one / 1024)) for one in (entry, entry + 1))
    return low + ((high - low) * fraction + 2**13) // 2**14


def exact_run(start: int, mismatch: int) -> np.ndarray:
    """(STEPS, rows) of one free-running cell: ``phase(t) = start + t k``, all in Python integers."""
    # r = 16 + 15 - (24 - 6) = 13; without coupling all four stages are k, and so is their mean
    k = (mismatch * 32767 + 2**12) // 2**13
    phase = [(start + t * k) % TURN for t in range(STEPS + 1)]
    cosine = [exact_sine(one + TURN // 4) for one in phase]
    cosine_sum = list(accumulate(cosine))
    sine_sum = list(accumulate(exact_sine(one) for one in phase))
    first, last = (-1, 0, 0, 0, 0), (-1, 0, 0, 0, 0)
    rows = []
    for t in range(STEPS):
        if cosine[t] > 0 >= cosine[t + 1]:
            last = (t, phase[t], phase[t + 1], cosine_sum[t], sine_sum[t])
            first = last if first[0] < 0 else first
        rows.append((phase[t + 1], k, cosine_sum[t + 1], sine_sum[t + 1], *first, *last))
    return np.array(rows)


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    """(STEPS, rows, cells)."""
    return np.stack(
        [exact_run(*one) for one in zip(FREE.phase.tolist(), FREE.mismatch.tolist(), strict=True)], axis=2
    )


def test_lava_runs_free_without_drift(exact):
    """Every state after every one of 100,000 steps is that of integers without a width."""
    np.testing.assert_array_equal(lava_cells(FREE, DEFAULT), exact)
    # the start comes back to the bit: 64 steps are a turn
    assert exact[63::64, 0, 0].tolist() == [0] * (STEPS // 64)


def test_the_golden_model_runs_free_without_drift(exact):
    """The same in 100 pieces of 1,000 steps side by side, each from where the one before must end."""
    pieces, length = 100, STEPS // 100
    whole = np.concatenate([FREE.phase[None], exact[:-1, 0]])
    starts = whole[::length]
    expected = exact.reshape(pieces, length, len(ROWS), 3)
    motion = Golden(**DEFAULT).cells(starts, FREE.mismatch, FREE.coupling, length, "runge_kutta")
    record = stacked(motion, length)
    for place, name in enumerate(ROWS[:2]):
        np.testing.assert_array_equal(record[name].transpose(1, 0, 2), expected[:, :, place])
    # the sums of a piece start at its first phase
    for name, row in (("cosine_sum", 2), ("sine_sum", 3)):
        growth = np.diff(record[name], axis=0).transpose(1, 0, 2)
        np.testing.assert_array_equal(growth, np.diff(expected[:, :, row], axis=1))


@pytest.mark.parametrize(("integrator", "stages"), [("runge_kutta", 4), ("euler", 1)])
def test_golden_oscillators_run_free_without_drift(integrator, stages):
    """A network without weights, drifts both ways: 400 oscillators, each a piece of 1,000 steps."""
    drift = np.repeat(ints(262144, -262143, 1, -77), 100)
    starts = drift * 1000 * np.tile(np.arange(100), 4) % TURN
    numbers = (starts, drift, 0 * drift, 16, np.zeros((400, 400), dtype=np.int64))
    motion = Golden(**DEFAULT).network(*numbers, integrator, False)
    theta = stacked(motion, 1 + 1000 * stages)["theta"][::stages]
    steps = np.arange(1001)[:, None]
    np.testing.assert_array_equal(theta, (starts + steps * drift) % TURN)


def many_cells() -> cells:
    rng = np.random.default_rng(4)
    draw = (rng.integers(0, 256, 48), rng.integers(0, 19, 48), rng.integers(0, 19, 48))
    return cells(*draw, np.full(48, 24))


def many_oscillators(integrator="runge_kutta", delay_steps=0) -> NetworkProgram:
    """Twelve oscillators with every even weight that Dense keeps as it is."""
    rng = np.random.default_rng(5)
    return NetworkProgram(
        theta=rng.integers(0, 256, 12),
        drift=rng.integers(-20, 21, 12),
        gain=rng.integers(0, 16, 12),
        gain_shift=9,
        weights=2 * rng.integers(-127, 128, (12, 12)),
        weight_bits=8,
        payload_bits=4,
        fan_out=np.full(12, 12),
        chunk=64,
        integrator=integrator,
        delay_steps=delay_steps,
        synapses="dense",
    )


@pytest.mark.parametrize("mode", ["nearest", "floor", "toward_zero"])
def test_64_bits_are_enough(mode):
    """The golden model on Python integers, which have no width, gives the same."""
    form = Golden(
        **(DEFAULT | {"phase_bits": 31, "payload_bits": 24, "parameter_bits": 20, "rounding": mode})
    )
    rng = np.random.default_rng(6)
    phase, drift = rng.integers(0, 2**31, 9), rng.integers(-(2**25), 2**25, 9)
    mismatch, coupling = rng.integers(0, 2**20, (2, 9))
    weights, gain = rng.integers(-254, 255, (9, 9)), rng.integers(0, 2**20, 9)
    for kind in (np.int64, object):
        numbers = [one.astype(kind) for one in (phase, mismatch, coupling, drift, gain, weights)]
        psi, m, c, drifts, gains, matrix = numbers
        run = stacked(form.cells(psi, m, c, 5, "runge_kutta"), 6)
        run |= stacked(form.network(psi, drifts, gains, 40, matrix, "runge_kutta", False), 9)
        if kind is np.int64:
            narrow = run
    assert all((narrow[name] == run[name]).all() for name in run)
    assert run["phase"].dtype == run["theta"].dtype == object


def halves_down(x, bits):
    return -((-x + (1 << (bits - 1))) >> bits)


def halves_to_even(x, bits):
    return np.rint(x / 2.0**bits).astype(np.int64)


def halves_away(x, bits):
    return np.sign(x) * ((np.abs(x) + (1 << (bits - 1))) >> bits)


def down(x, bits):
    return x >> bits


def truncated(x, bits):
    return np.sign(x) * (np.abs(x) >> bits)


WRONG = pytest.mark.parametrize("wrong", [halves_down, halves_to_even, halves_away, down, truncated])


@pytest.fixture(scope="module")
def right() -> dict:
    """Lava and golden agree on these programs as they are."""
    prog, net = many_cells(), many_oscillators()
    both = {"cells": golden_cells(prog), "network": golden_network(net, 21)}
    np.testing.assert_array_equal(lava_cells(prog), both["cells"])
    np.testing.assert_array_equal(lava_network(net, 21), both["network"])
    return both


@WRONG
def test_another_rounding_in_lava_shows(wrong, right, monkeypatch):
    """Of products alone, and of halves and sixths of Runge-Kutta alone."""
    right_shift = fixed_point.shift_right
    monkeypatch.setattr(FixedPoint, "product", lambda self, x, bits: wrong(x, bits))
    assert (lava_cells(many_cells()) != right["cells"]).any()
    assert (lava_network(many_oscillators(), 21) != right["network"]).any()
    monkeypatch.undo()

    def shifted(x, bits, *mode):
        return right_shift(x, bits, *mode) if mode else wrong(x, bits)

    monkeypatch.setattr(fixed_point, "shift_right", shifted)
    assert (lava_cells(many_cells()) != right["cells"]).any()
    assert (lava_network(many_oscillators(), 21) != right["network"]).any()


@WRONG
def test_another_rounding_in_the_golden_model_shows(wrong, right, monkeypatch):
    """The same on the other side: all shifts, and the halves and sixths alone."""
    right_shift = golden.shift
    monkeypatch.setattr(golden, "shift", lambda x, bits, mode: wrong(x, bits))
    assert (golden_cells(many_cells()) != right["cells"]).any()
    assert (golden_network(many_oscillators(), 21) != right["network"]).any()
    monkeypatch.setattr(golden, "half", lambda k: wrong(k, 1))
    monkeypatch.setattr(golden, "shift", right_shift)
    assert (golden_cells(many_cells()) != right["cells"]).any()
    assert (golden_network(many_oscillators(), 21) != right["network"]).any()


@pytest.mark.parametrize("mode", ["nearest", "floor", "toward_zero"])
def test_modes_of_rounding_and_delay_are_told_apart(mode):
    """Lava in one mode is the golden model in that mode and in no other; the same for the delay."""
    form = SMALL | {"rounding": mode}
    record = lava_cells(many_cells(), form)
    schemes = [("euler", 0), ("euler", 1)]
    traces = [lava_network(many_oscillators(*one), 12, form) for one in schemes]
    for other in ("nearest", "floor", "toward_zero"):
        model = SMALL | {"rounding": other}
        assert (record == golden_cells(many_cells(), model)).all() == (other == mode)
        for trace, scheme in zip(traces, schemes, strict=True):
            for tried in schemes:
                same = (trace == golden_network(many_oscillators(*tried), 12, model)).all()
                assert same == (other == mode and tried == scheme)
