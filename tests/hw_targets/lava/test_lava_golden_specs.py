"""Lava against the golden model on random layers: every state after every time step, to the last bit."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from golden_runs import SMALL, golden_cells, golden_network
from hypothesis import given, reject, seed, settings
from hypothesis import strategies as st

from hw_targets.lava import golden
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.plan import lower
from hw_targets.lava.program import NETWORK_ROWS, ROWS, CellProgram
from hw_targets.lava.trace import traced_cells, traced_network
from oscsim import ExplicitCoupling, PhaseLayerSpec
from oscsim.errors import LoweringError

ROUNDINGS = ("nearest", "floor", "toward_zero")
INTERPOLATIONS = ("linear", "nearest")
SCHEMES = (("runge_kutta", 0), ("euler", 0), ("euler", 1))
MODES = list(product(ROUNDINGS, INTERPOLATIONS, SCHEMES))
CELL_MODES = [mode for mode in MODES if mode[2] != ("euler", 1)]

# What the layers of one kind together must have met; cells never turn backwards through zero.
REMAINDERS = ("exact", "below half", "half", "above half")
ROUNDING_EVENTS = tuple(product(ROUNDINGS, "+-", REMAINDERS))
CELL_EVENTS = ("left shift", "stopped before others")
NETWORK_EVENTS = ("wrapped up", "wrapped down", "positive weights", "negative weights", "dense", "sparse")


@st.composite
def configurations(draw, mode, kind):
    """A number format of any width, with the modes under test."""
    rounding, interpolation, (integrator, delay_steps) = mode
    options = {"held_sources": "synapses"} if kind == "held" else {}
    if kind in ("network", "held"):
        options["weight_bits"] = draw(st.sampled_from([8, 7]))
        options["synapses"] = draw(st.sampled_from(["dense", "sparse"]))
    return LavaConfig(
        **options,
        rounding=rounding,
        interpolation=interpolation,
        integrator=integrator,
        delay_steps=delay_steps,
        steps_per_turn=draw(st.sampled_from([32, 64, 128, 256])),
        phase_bits=draw(st.sampled_from([24, 20, 17, 28, 31])),
        sine_bits=draw(st.sampled_from([10, 8, 12, 15])),
        payload_bits=draw(st.sampled_from([16, 13, 10])),
        parameter_bits=draw(st.sampled_from([16, 11, 20])),
        chip="none",
    )


def layer(kind: str, count: int, number: int) -> PhaseLayerSpec:
    """A random layer: both signs of coupling, locked and unlocked, starts many turns away."""
    rng = np.random.default_rng(number)
    heads, channels = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    shape = (heads, count, channels)
    fields = {
        "omega": rng.choice([0.0, 0.3, 1.5]) * rng.standard_normal(shape),
        "theta": rng.uniform(-20, 20, shape),
        "coupling": ExplicitCoupling(matrix=rng.standard_normal((heads, count, count))),
        "gain": rng.uniform(0.2, 2.0, heads),
        "mask": str(rng.choice(["full", "causal"])),
        "padding": None if rng.random() < 0.7 else np.arange(count) == count - 1,
        "dynamics": "clamped" if kind == "held" else kind,
        "phase_0": rng.uniform(-20, 20, shape),
        "rate": rng.choice([-1.5, 0.0, 0.4, 1.0], size=shape),
        "duration": float(rng.choice([np.inf, 0.7])),
        "psi_0": rng.uniform(-20, 20, (heads, count, count)),
    }
    return PhaseLayerSpec(**fields)


def form_of(config) -> dict:
    """The number format of a configuration in which lowering has picked what was left open."""
    return {name: getattr(config, name) for name in SMALL}


def compare_cells(lowered, most: int, seen: Counter) -> None:
    """Golden and Lava from the numbers that lowering made, over the first `most` steps."""
    prog = replace(lowered.program, steps=np.minimum(lowered.program.steps, most))
    expected = golden_cells(prog, form_of(lowered.config))
    np.testing.assert_array_equal(traced_cells(replace(lowered, program=prog)), expected)
    row = dict(zip(ROWS, expected.transpose(1, 0, 2), strict=True))
    seen["second crossing"] += int((row["last_step"][-1] > row["first_step"][-1]).sum())
    seen["no crossing"] += int((row["first_step"][-1] < 0).sum())
    seen["stopped before others"] += int((prog.steps < prog.lava_steps).sum())
    note_wraps(np.concatenate([prog.phase[None], row["phase"]]), lowered.config.phase_bits, seen)


def compare_networks(lowered, lava_steps: int, seen: Counter) -> None:
    prog = lowered.program
    expected = golden_network(prog, lava_steps, form_of(lowered.config))
    np.testing.assert_array_equal(traced_network(lowered, lava_steps), expected)
    theta = np.concatenate([prog.theta[None], expected[:, NETWORK_ROWS.index("theta")]])
    note_wraps(theta, lowered.config.phase_bits, seen)
    for name, weights in (("positive", prog.weights > 0), ("negative", prog.weights < 0)):
        seen[f"{name} weights"] += int(weights.sum())
    seen[prog.synapses] += 1


def note_wraps(path, phase_bits: int, seen: Counter) -> None:
    """Count passages through zero; a step is shorter than half a turn."""
    moved = np.diff(path, axis=0)
    seen["wrapped up"] += int((moved < -(2 ** (phase_bits - 1))).sum())
    seen["wrapped down"] += int((moved > 2 ** (phase_bits - 1)).sum())


def noted(true_shift, seen: Counter):
    """The golden shift, noting which kinds of numbers every rounding meets."""

    def shift(x, bits, mode):
        if bits > 0:
            rest = x % 2**bits
            for sign, side in (("+", x > 0), ("-", x < 0)):
                place = np.where(rest == 0, 0, 2 + np.sign(2 * rest - 2**bits))[side]
                for kind, count in zip(REMAINDERS, np.bincount(place, minlength=4), strict=True):
                    seen[mode, sign, kind] += int(count)
        seen["left shift"] += bits < 0
        return true_shift(x, bits, mode)

    return shift


def explore(kind: str, place: int, mode, examples: int, seen: Counter) -> None:
    """So many random layers and formats in one mode, refused ones not counted."""

    @seed(place)
    @settings(max_examples=examples)
    @given(configurations(mode, kind), st.integers(0, 46), st.integers(0, 2**32 - 1), st.integers(6, 22))
    def check(config, count, number, lava_steps):
        # every mode begins with another size, small layers run longer
        spec = layer(kind, 2 + (count + 9 * place) % 47, number + place)
        most = lava_steps + 160 // spec.n_oscillators
        try:
            lowered = lower(spec, config)
        except LoweringError:
            reject()
        one_by_one = isinstance(lowered.program, CellProgram)
        (compare_cells if one_by_one else compare_networks)(lowered, most, seen)
        seen["specs"] += 1

    check()


@pytest.mark.parametrize(
    ("kind", "modes", "examples", "events"),
    [
        ("pair", CELL_MODES, 5, (*CELL_EVENTS, "wrapped up", "second crossing", "no crossing")),
        ("clamped", CELL_MODES, 5, CELL_EVENTS),
        ("network", MODES, 3, NETWORK_EVENTS),
        ("held", CELL_MODES, 3, NETWORK_EVENTS),
    ],
    ids=["pair", "clamped", "network", "held"],
)
def test_lava_equals_the_golden_model(kind, modes, examples, events, monkeypatch):
    """Pair 60, clamped 60, network 54, held sources 36 layers, and every branch of every rounding."""
    seen = Counter()
    monkeypatch.setattr(golden, "shift", noted(golden.shift, seen))
    for place, mode in enumerate(modes):
        explore(kind, place, mode, examples, seen)
    assert seen["specs"] == len(modes) * examples
    missing = [event for event in (*ROUNDING_EVENTS, *events) if not seen[event]]
    assert missing == []
