"""Network layers against the exact oracles: two oscillators, and the fully locked state."""

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.network import network, network_program
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.errors import LoweringError
from oscsim.phase import circular_distance, order_parameter
from oscsim.target import ConvergenceWarning
from oscsim.tolerance import FIXED_POINT_EPSILON

TARGET = get_target("lava")
FORMS = ("fixed_point", "floating_point")


def two(ratio: float, offset: float = 0.0, **changes) -> PhaseLayerSpec:
    """Two oscillators on one channel with d/(K J) = ratio."""
    fields = {
        "omega": [[[offset], [offset + 1.5 * ratio]]],
        "theta": [[[0.2], [0.9]]],
        "values": [[[1.0], [-2.0]]],
        "coupling": FrequencyCoupling(alpha=[0.0]),
        "gain": [1.5],
        "dynamics": "network",
    }
    return PhaseLayerSpec(**(fields | changes))


def many(spread: float = 0.1, **changes) -> PhaseLayerSpec:
    rng = np.random.default_rng(6)
    fields = {
        "omega": spread * rng.standard_normal((2, 6, 2)),
        "theta": rng.uniform(-0.8, 0.8, (2, 6, 2)),
        "values": rng.standard_normal((2, 6, 3)),
        "coupling": FrequencyCoupling(alpha=[0.1, 0.4]),
        "gain": [0.7, 1.8],
        "dynamics": "network",
    }
    return PhaseLayerSpec(**(fields | changes))


LAYERS = {
    "two locked": two(0.4),
    "two nearly unlocked": two(0.97),
    "two just unlocked": two(1.05),
    "two unlocked": two(3.0),
    "two uncoupled": two(1.0, gain=[0.0]),
    "two with a common offset": two(0.8, offset=1e3),
    "two, negative coupling": two(0.5, coupling=ExplicitCoupling(matrix=[[[1.0, -1.0], [-1.0, 1.0]]])),
    "two, one of three padded": two(
        0.6,
        omega=[[[0.0], [9.0], [0.9]]],
        theta=[[[0.2], [0.5], [0.9]]],
        values=None,
        padding=np.array([False, True, False]),
    ),
    "many locked": many(),
    "many locked, causal": many(0.04, mask="causal"),
    "many locked, padded": many(padding=np.array([False, True, False, False, True, False])),
    "many, mixed signs": many(
        0.02, coupling=ExplicitCoupling(matrix=np.random.default_rng(2).uniform(-0.2, 1.4, (2, 6, 6)))
    ),
    "identical": many(0.0),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LAYERS)
def test_agrees_with_the_oracle(name, form):
    spec = LAYERS[name]
    reference = solve(spec)
    assert reference.status is SyncStatus.SETTLED  # an exact oracle, not the approximation
    result = TARGET.lower(spec, TARGET.config(number_format=form)).run()
    comparison = compare(result, reference)
    assert comparison.conforms, comparison
    unlocked = "unlocked" in name.replace("nearly unlocked", "") or name == "two uncoupled"
    assert (result.status is SyncStatus.DRIFTING) == unlocked
    if form == "fixed_point":
        assert comparison.tolerance == FIXED_POINT_EPSILON
    else:
        assert comparison.tolerance <= 1e-6


def test_starts_at_the_initial_state():
    """What is recorded first is theta; without drift and pull it stays there."""
    still = many(0.0, gain=[0.0, 0.0])
    result = TARGET.lower(still).run()
    assert circular_distance(result.phase, still.theta).max() < 2e-7
    moving = TARGET.lower(many()).run()
    assert circular_distance(moving.trajectory[0], many().theta).max() < 2e-7
    assert circular_distance(moving.trajectory[-1], many().theta).max() > 0.3


def test_order_parameter_is_that_of_the_final_phases():
    spec = many(mask="causal")
    result = TARGET.lower(spec).run()
    assert np.allclose(result.order_parameter, order_parameter(result.phase, spec.valid, True))


def test_trajectory_follows_the_equation():
    """Finite differences of the kept phases are the right-hand side, offset and head clocks included."""
    spec = many(0.3, omega=5.0 + many(0.3).omega)
    config = TARGET.config(number_format="floating_point", trajectory_samples=2001)
    result = TARGET.lower(spec, config).run()
    assert result.trajectory.shape == (2001, 2, 6, 2) and result.times.shape == (2001,)
    assert result.times[0] == 0.0 and (np.diff(result.times) > 0).all()
    for head in range(2):
        distance = spec.omega[head, :, None, :] - spec.omega[head, None, :, :]
        pull = spec.gain[head] / 6 * np.exp(-spec.coupling.alpha[head] * (distance**2).sum(-1))
        at = 40
        theta = result.trajectory[at, head]
        rate = spec.omega[head] + np.einsum("ij,ijc->ic", pull, np.sin(theta[None, :, :] - theta[:, None, :]))
        step = result.times[at + 1] - result.times[at - 1]
        measured = (result.trajectory[at + 1, head] - result.trajectory[at - 1, head]) / step
        assert np.abs(measured - rate).max() < 0.02 * np.abs(rate - 5.0).max()


def test_no_samples_no_trajectory():
    result = TARGET.lower(two(0.4), TARGET.config(trajectory_samples=0)).run()
    assert result.trajectory is None and result.times is None


def test_weights_are_what_dense_keeps():
    """Dense clips and truncates; the integers of the plan survive it unchanged, signed or not."""
    from hw_targets.lava.compat import prepare_lava

    prepare_lava()
    from lava.utils.weightutils import clip_weights, determine_sign_mode, truncate_weights

    for name in ("many locked", "many, mixed signs", "two, negative coupling"):
        for bits in (3, 5, 8):
            config = TARGET.config(weight_bits=bits)
            form = TARGET.lower(LAYERS[name]).lowered.number_format
            weights = network_program(network(LAYERS[name]), config, form, chunk=1).weights
            mode = determine_sign_mode(weights)
            kept = truncate_weights(clip_weights(weights, mode, num_bits=8), mode, 8)
            assert np.array_equal(kept, weights)
            assert 2 ** (bits - 1) <= np.abs(weights).max() < 2**bits


def test_fewer_weight_bits_change_the_answer():
    spec = LAYERS["many, mixed signs"]
    fine = TARGET.lower(spec).run()
    coarse = TARGET.lower(spec, TARGET.config(weight_bits=6)).run()
    assert 1e-5 < np.abs(fine.sync - coarse.sync).max() < coarse.accuracy.epsilon


def test_too_few_steps_are_told():
    with pytest.warns(ConvergenceWarning, match="not converged after max_steps=128"):
        result = TARGET.lower(two(1.001), TARGET.config(max_steps=128)).run()
    assert result.status is SyncStatus.NOT_CONVERGED


@pytest.mark.parametrize("options", [{}, {"integrator": "euler", "delay_steps": 1}], ids=["plain", "delayed"])
def test_sparse_synapses_are_the_same_numbers_with_fewer_operations(options):
    """Causal: n - i of n tokens hear token i; a dense process multiplies the zeros as well."""
    spec = LAYERS["many locked, causal"]
    dense, sparse = (
        TARGET.lower(spec, TARGET.config(synapses=way, **options)).run() for way in ("dense", "sparse")
    )
    assert np.array_equal(dense.phase, sparse.phase) and np.array_equal(dense.sync, sparse.sync)
    one, other = dense.provenance.counters, sparse.provenance.counters
    for name in ("neuron_updates", "sine_lookups", "lava_steps"):
        assert one[name] == other[name] > 0
    # the last token reaches nobody and sends no spike; of 6 x 6 synapses 15 are not zero
    assert other["spikes"] == pytest.approx(one["spikes"] * 5 / 6, rel=1e-3)
    assert other["synaptic_operations"] == pytest.approx(one["synaptic_operations"] * 15 / 36, rel=1e-3)
    for counters, result in ((one, dense), (other, sparse)):
        assert counters["payload_bits"] == counters["spikes"] * result.provenance.settings["payload_bits"]


@pytest.mark.parametrize(
    ("options", "stages", "first"),
    [({}, 4, 1), ({"integrator": "euler"}, 1, 1), ({"integrator": "euler", "delay_steps": 1}, 1, 0)],
)
def test_counters_by_hand(options, stages, first):
    """Two still oscillators, one at 0 (its sine is no spike), for the 128 steps of one look."""
    spec = two(0.0, theta=[[[0.0], [0.5]]], gain=[0.0])
    result = TARGET.lower(spec, TARGET.config(steps_per_turn=128, **options)).run()
    steps = first + stages * 128
    counters = result.provenance.counters
    assert counters == {
        "neuron_updates": 2 * steps,
        "sine_lookups": 4 * steps,
        "spikes": 3 * steps,
        "synaptic_operations": 3 * 2 * steps,
        "payload_bits": 3 * steps * result.provenance.settings["payload_bits"],
        "lava_steps": steps,
    }


def test_euler_rests_where_runge_kutta_does_and_averages_with_its_bias():
    for name in ("many locked", "two unlocked"):
        spec = LAYERS[name]
        result = TARGET.lower(spec, TARGET.config(integrator="euler")).run()
        comparison = compare(result, solve(spec))
        assert comparison.conforms, comparison
        reference = TARGET.lower(spec).run()
        distance = np.abs(result.sync - reference.sync).max()
        assert distance < 1e-4 if name == "many locked" else 1e-3 < distance < 0.03
        assert result.provenance.counters["lava_steps"] % 128 == 1


def test_gain_shift_is_the_exponent_of_the_gains():
    """The pick is the finest that fits; one less halves mantissas; overflow and nothing are refused."""
    spec = LAYERS["many, mixed signs"]
    picked = TARGET.lower(spec).lowered.program
    same, coarser = (
        TARGET.lower(spec, TARGET.config(gain_shift=picked.gain_shift - less)).lowered.program
        for less in (0, 1)
    )
    assert np.array_equal(same.gain, picked.gain)
    assert np.abs(coarser.gain - picked.gain / 2).max() <= 0.5 and 2**15 <= picked.gain.max() <= 2**16
    finest = picked.gain_shift
    with pytest.raises(LoweringError, match=f"more than parameter_bits .* {finest - 15} to {finest}"):
        TARGET.lower(spec, TARGET.config(gain_shift=finest + 1))
    with pytest.raises(LoweringError, match="all lost to rounding"):
        TARGET.lower(spec, TARGET.config(gain_shift=finest - 16))


def test_more_channels_than_fit_are_refused_by_name():
    shape = (1, 128, 20)
    spec = many(
        omega=np.zeros(shape),
        theta=np.zeros(shape),
        values=None,
        gain=[1.0],
        coupling=FrequencyCoupling(alpha=[0.1]),
    )
    with pytest.raises(
        LoweringError, match=r"D = 20 channels .* 2 D N\^2 = 655360 synapses per head.* D <= 16"
    ):
        TARGET.lower(spec)
    plan = TARGET.lower(many()).plan["resources"]
    assert plan["synapses_per_head"] == 2 * 2 * 6**2 and plan["synapses"] == 2 * plan["synapses_per_head"]


def dominated(count: int) -> PhaseLayerSpec:
    """Rows of one weight of 255 units and many of 0.48 units, which round to zero."""
    matrix = np.full((1, count, count), 0.0019)
    matrix[0, np.arange(count), np.arange(1, count + 1) % count] = 1.0
    return PhaseLayerSpec(
        omega=0.002 * np.cos(np.arange(count)).reshape(1, count, 1),
        theta=np.zeros((1, count, 1)),
        coupling=ExplicitCoupling(matrix=matrix),
        gain=[1.0],
        dynamics="network",
    )


def test_a_row_whose_small_weights_round_away_promises_less():
    lowered = TARGET.lower(dominated(24))
    lost = 22 * 0.0019 / (1.0 + 22 * 0.0019)
    assert lost < lowered.plan["accuracy"]["epsilon"] < lost + 1e-3
    assert compare(lowered.run(), solve(dominated(24))).conforms
    with pytest.raises(LoweringError, match=r"loses 0\.067.* its largest weight dwarfs the others"):
        TARGET.lower(dominated(40))


def test_a_weak_row_that_cannot_lock_is_no_reason_to_refuse():
    """The second head's coupling is 1e-6 of the first's: they turn past each other, whatever it is."""
    given = PhaseLayerSpec(
        omega=[[[0.0], [0.9]], [[0.0], [6.0]]],
        theta=[[[0.1], [0.5]], [[0.2], [0.7]]],
        coupling=FrequencyCoupling(alpha=[0.3, 0.4]),
        gain=[1.4, 1.4],
        dynamics="network",
    )
    lowered = TARGET.lower(given)
    assert lowered.plan["accuracy"]["epsilon"] == FIXED_POINT_EPSILON
    assert compare(lowered.run(), solve(given)).conforms
