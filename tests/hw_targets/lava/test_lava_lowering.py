"""Lowering: without Lava, deterministic, visible, and honest about what does not fit."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.converter import timing_of
from hw_targets.lava.duration import Timing, cell_steps, edge_band, edge_steps, network_band
from hw_targets.lava.formats import number_format
from hw_targets.lava.picks import Picked
from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import LoweringError
from oscsim.tolerance import EDGE_BAND, FIXED_POINT_EPSILON, FLOAT64_EPSILON

TARGET = get_target("lava")


def layer(**changes) -> PhaseLayerSpec:
    rng = np.random.default_rng(1)
    fields = {
        "omega": rng.standard_normal((2, 3, 2)),
        "theta": rng.uniform(-1, 1, (2, 3, 2)),
        "coupling": FrequencyCoupling(alpha=[0.1, 0.3]),
        "gain": [1.0, 2.0],
    }
    return PhaseLayerSpec(**(fields | changes))


def test_lowering_imports_no_lava():
    code = textwrap.dedent("""
        import sys
        sys.modules["lava"] = None  # any import of it now fails
        from hw_targets import get_target
        from oscsim import FrequencyCoupling, PhaseLayerSpec
        fields = dict(omega=[[[0.0], [0.4]]], theta=[[[0.0], [1.0]]], gain=[1.0])
        for dynamics in ("pair", "clamped", "network"):
            spec = PhaseLayerSpec(coupling=FrequencyCoupling(alpha=[0.1]), dynamics=dynamics, **fields)
            for form in ("fixed_point", "floating_point"):
                target = get_target("lava")
                print(target.lower(spec, target.config(number_format=form)).plan.digest)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(set(done.stdout.split())) == 6


@pytest.mark.parametrize("dynamics", ["pair", "clamped", "network"])
@pytest.mark.parametrize("form", ["fixed_point", "floating_point"])
def test_plans_repeat_and_print(dynamics, form):
    spec = layer(dynamics=dynamics, duration=0.7)
    first, second = (TARGET.lower(spec, TARGET.config(number_format=form)).plan for _ in range(2))
    assert first.digest == second.digest
    text = str(first)
    for word in ("own_clock_step", "epsilon", "band", "neurons", "lava_steps", "residual"):
        assert word in text
    assert first.to_json()["layer"]["dynamics"] == dynamics


def test_pair_plan_counts_what_runs():
    spec = layer(mask="causal", padding=np.array([False, True, False]))
    lowered = TARGET.lower(spec).lowered
    plan = lowered.plan
    assert plan["cells"]["cells"] == 2 * 3  # rows 0 and 2, columns up to the diagonal, two heads
    assert plan["resources"]["neuron_updates"] == int(lowered.cells.steps.sum())
    assert plan["clock"]["lava_steps"] == int(lowered.cells.steps.max())


def test_network_plan_counts_what_runs():
    plan = TARGET.lower(layer(dynamics="network")).plan
    assert plan["network"]["oscillators"] == 12
    resources = plan["resources"]
    assert resources["synapses"] == 2 * 2 * 2 * 9  # Dense x heads x channels x pairs, zeros stored too
    assert resources["synapses_not_zero"] == 2 * 2 * 2 * 6
    assert resources["most_spikes_per_lava_step"] == 24
    assert resources["most_synaptic_operations_per_lava_step"] == 2 * 12 * 3


def test_default_promises():
    assert TARGET.lower(layer(dynamics="network")).plan["accuracy"]["epsilon"] == FIXED_POINT_EPSILON
    fixed, exact = (
        TARGET.lower(layer(), TARGET.config(number_format=form)).plan["accuracy"]
        for form in ("fixed_point", "floating_point")
    )
    assert fixed["epsilon"] < FIXED_POINT_EPSILON / 10
    assert exact["epsilon"] == FLOAT64_EPSILON
    assert EDGE_BAND == exact["band"] < fixed["band"] < 1e-3


def test_own_clocks_make_the_larger_parameter_exact():
    lowered = TARGET.lower(layer(order_parameter=FixedOrder(r=[0.9, 0.6]))).lowered
    cells, form = lowered.cells, lowered.number_format.arithmetic
    assert np.array_equal(np.maximum(cells.mismatch, cells.coupling), np.ones(len(cells.steps)))
    exact = form.rate(np.array([1.0]))[0]
    program = lowered.program
    assert (np.maximum(program.mismatch, program.coupling) == exact).all()
    assert (np.diff(program.steps) <= 0).all()


def test_negative_coupling_becomes_a_half_turn():
    spec = layer(coupling=ExplicitCoupling(matrix=np.full((2, 3, 3), -0.7)))
    cells = TARGET.lower(spec).lowered.cells
    assert cells.turned.all() and (cells.coupling > 0).all()
    assert np.allclose(cells.start, 2 * np.pi)  # the default start of a repulsive cell is pi


def timing(max_steps: int) -> Timing:
    config = Picked(max_steps=max_steps)
    return timing_of(config, number_format(config))


def test_steps_grow_towards_the_edge():
    ratio = np.array([0.0, 0.5, 0.9, 0.99, 0.999])
    assert (np.diff(cell_steps(ratio, np.zeros(5), timing(10**6))) > 0).all()
    assert (np.diff(cell_steps(1 / ratio[2:], np.zeros(3), timing(10**6))) > 0).all()
    assert cell_steps(np.array([1.0]), np.zeros(1), timing(10**6)).tolist() == [-1]


@pytest.mark.parametrize("max_steps", [500, 2000, 8000])
def test_fewer_steps_widen_the_band(max_steps):
    band = edge_band(timing(max_steps))
    assert edge_steps(band, timing(max_steps)) <= max_steps
    assert edge_steps(0.9 * band, timing(max_steps)) > max_steps or band <= 1e-4
    assert network_band(0.1, max_steps) > network_band(0.1, 2 * max_steps)


def test_far_too_few_steps_are_refused():
    with pytest.raises(LoweringError, match=r"max_steps: given 16, but .* needs (\d+) steps"):
        TARGET.lower(layer(), TARGET.config(max_steps=16))


def test_network_too_large_names_the_limit_and_what_fits():
    rng = np.random.default_rng(0)
    big = layer(
        omega=rng.standard_normal((2, 520, 2)),
        theta=rng.standard_normal((2, 520, 2)),
        dynamics="network",
    )
    with pytest.raises(LoweringError, match=r"2080 oscillators.*at most 2048.*D <= 1 .* H <= 1 .* N <= 512"):
        TARGET.lower(big)
