"""The error budget: predictions against measurements on seeds no formula has seen, and its parts alone."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from hw_targets.lava.budget.driven import driven_errors
from hw_targets.lava.budget.improvement import improvement
from hw_targets.lava.budget.layers import budget
from hw_targets.lava.budget.resting import along_chords, missing_rate, resting_errors
from hw_targets.lava.budget.roundings import Roundings
from hw_targets.lava.budget.study import Measured, network_config, network_row, pair_config, pair_rows
from hw_targets.lava.budget.table import _panel
from hw_targets.lava.budget.turning import Beat, turning_errors
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.formats import number_format
from hw_targets.lava.picks import Picked
from hw_targets.lava.plan import LoweredCells, lower
from hw_targets.lava.run import run
from oscsim import solve
from oscsim.closed_form import pair_trajectory
from oscsim.coupling import ExplicitCoupling, FixedOrder
from oscsim.errors import ConfigError
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import euler_bias

SEED = 88301


def layer(omega, matrix, **fields) -> PhaseLayerSpec:
    fields = {"theta": np.zeros_like(omega), **fields}
    heads = len(omega)
    return PhaseLayerSpec(
        omega=omega,
        coupling=ExplicitCoupling(matrix=matrix),
        gain=np.ones(heads),
        order_parameter=FixedOrder(r=np.ones(heads)),
        **fields,
    )


def roundings(**options) -> Roundings:
    config = Picked.model_validate(options)
    return Roundings.of(number_format(config), config.integrator)


@pytest.mark.parametrize(("phase_bits", "sine_bits"), [(12, 6), (16, 10), (24, 10)])
def test_pair_predictions_are_within_a_factor_of_two(phase_bits: int, sine_bits: int) -> None:
    for row in pair_rows(pair_config(phase_bits, sine_bits), SEED, solve, tokens=18):
        assert 0.5 <= row.ratio <= 2.0, row


@pytest.mark.parametrize("bits", [(12, 10, 8), (24, 6, 6), (16, 10, 3)])
def test_network_predictions_are_within_a_factor_of_two(bits: tuple[int, int, int]) -> None:
    for row in network_row(network_config(*bits), SEED, solve, heads=10, tokens=9):
        assert 0.5 <= row.ratio <= 2.0, row


@pytest.mark.parametrize("options", [{}, {"rounding": "floor"}, {"interpolation": "nearest"}])
def test_driven_oscillators_are_predicted_within_a_factor_of_two(options) -> None:
    rng = np.random.default_rng(SEED)
    shape = (2, 20, 3)
    spec = layer(
        np.zeros(shape),
        rng.uniform(0.0, 0.3, (2, 20, 20)),
        theta=rng.uniform(-np.pi, np.pi, shape),
        phase_0=rng.uniform(-np.pi, np.pi, shape),
        dynamics="clamped",
        duration=3.0,
    )
    lowered = lower(spec, LavaConfig.model_validate(options))
    predicted = budget(lowered)
    error = (run(lowered).sync - solve(spec).sync)[predicted.where]
    assert 0.5 <= predicted.rms / np.sqrt(np.mean(error**2)) <= 2.0


def test_decisions_outside_the_band_all_agree_with_the_closed_form() -> None:
    """More than 10,000 pairs, dense at the edge of the band of the default format."""
    rng = np.random.default_rng(SEED)
    omega = rng.uniform(0.0, 1.0, (1, 102, 1))
    mismatch = np.abs(omega - omega.transpose(0, 2, 1))
    band = lower(layer(omega, np.ones_like(mismatch)), LavaConfig.model_validate({})).accuracy.band
    distance = band * np.exp(rng.uniform(0.0, np.log(0.3 / band), mismatch.shape)) * 1.0001
    ratio = 1.0 + np.where(rng.random(mismatch.shape) < 0.5, -distance, distance)
    spec = layer(omega, np.where(mismatch > 0, mismatch / ratio, 1.0))
    lowered = lower(spec, LavaConfig.model_validate({}))
    assert isinstance(lowered, LoweredCells)
    pairs = ~np.eye(102, dtype=bool)[None]
    outside = np.zeros(mismatch.shape, dtype=bool)
    outside[lowered.cells.where] = np.abs(lowered.cells.ratio - 1.0) > lowered.accuracy.band
    assert (outside & pairs).sum() >= 10_000
    assert np.array_equal(run(lowered).locked[outside & pairs], solve(spec).locked[outside & pairs])


def test_the_euler_bias_is_that_of_the_specification() -> None:
    ratios = np.array([1.05, 1.3, 2.0, 5.0])
    r = roundings(integrator="euler")
    beat = Beat.of(1.0 / ratios, np.zeros(4), np.full(4, 100.0))
    bias = turning_errors(beat, r)["step"].mean
    np.testing.assert_allclose(-bias, [euler_bias(rho, r.step) for rho in ratios], rtol=1e-3)


def test_missing_rates_are_those_of_the_exact_flow() -> None:
    ratio, start, time = np.array([0.2, 0.7, 0.97]), np.array([0.0, -0.5, 0.3]), np.full(3, 25.0)
    left = ratio - np.sin(pair_trajectory(ratio, np.ones(3), start, time))
    np.testing.assert_allclose(missing_rate(ratio, start, time), left, rtol=1e-2)
    np.testing.assert_allclose(along_chords(ratio, start, time, 1e-4), left, rtol=2e-2)


def test_the_dead_band_is_half_a_bit_to_nearest_and_a_whole_one_downwards() -> None:
    ratio, zero, long = np.array([0.5]), np.zeros(1), np.full(1, 200.0)
    nearest = resting_errors(ratio, zero, long, roundings(phase_bits=14, steps_per_turn=64))["phase"]
    down = resting_errors(ratio, zero, long, roundings(phase_bits=14, steps_per_turn=64, rounding="floor"))
    bit = 64 / 2**14
    grid = 2 * np.pi / 2**14 * np.sqrt(0.75) / 2
    np.testing.assert_allclose(nearest.mean, -(bit / 2 - grid))
    np.testing.assert_allclose(down["phase"].mean, -(bit - grid))


def test_an_oscillator_that_does_not_move_has_no_error() -> None:
    errors = driven_errors(np.ones(1), np.zeros(1), np.zeros(1), np.zeros(1), roundings())
    assert all(error.mean[0] == 0 for error in errors.values())


def test_wider_formats_err_less_and_the_bottleneck_is_named() -> None:
    rng = np.random.default_rng(SEED)
    omega = rng.normal(size=(1, 9, 1))
    spec = layer(omega, 2.0 * np.ones((1, 9, 9)))
    found = [budget(lower(spec, LavaConfig.model_validate({"phase_bits": bits}))) for bits in (14, 24)]
    assert found[0].rms > 5 * found[1].rms
    assert found[0].bottleneck is not None and found[0].bottleneck.name == "phase"
    assert "phase_bits" in found[0].bottleneck.options


def test_a_total_is_over_the_cells_of_its_sources() -> None:
    """Only the table of a network, and only the step of cells that turn, have a mean: squares add up."""
    rng = np.random.default_rng(SEED)
    padding = np.arange(9) >= 7
    omega = 0.1 * rng.normal(size=(2, 9, 1))
    spec = layer(omega, rng.uniform(0.5, 1.0, (2, 9, 9)), dynamics="network", padding=padding)
    found = [budget(lower(spec, LavaConfig.model_validate({"sine_bits": 6})), solve(spec).phase)]
    omega = np.arange(9.0)[None, :, None]
    ratio = 1.0 + np.where(rng.random((1, 9, 9)) < 0.5, 1e-7, 0.3)
    spec = layer(omega, np.abs(omega - omega.transpose(0, 2, 1)) / ratio + np.eye(9))
    found.append(budget(lower(spec, LavaConfig.model_validate({"integrator": "euler"}))))
    assert 0 < found[1].where.sum() < 72, "some are inside the band"
    for one in found:
        assert one.rms == pytest.approx(np.sqrt(sum(source.rms**2 for source in one.sources)))


def test_biases_of_opposite_sign_cancel() -> None:
    """A dead band stops a cell early, a chord late: together they are less than either."""
    ratio, zero, long = np.full(1, 0.6), np.zeros(1), np.full(1, 200.0)
    found = resting_errors(ratio, zero, long, roundings(phase_bits=14, sine_bits=6, steps_per_turn=16))
    assert found["phase"].mean[0] < 0 < found["table"].mean[0]


def network_layer() -> PhaseLayerSpec:
    rng = np.random.default_rng(SEED)
    omega = 0.05 * rng.normal(size=(1, 7, 1))
    return layer(omega, rng.uniform(0.2, 1.0, (1, 7, 7)), dynamics="network")


@pytest.mark.parametrize(
    "options",
    [
        {},  # weights at their eight bits, spikes as wide as their sums allow
        {"phase_bits": 14},
        {"sine_bits": 5},
        {"payload_bits": 9},
        {"weight_bits": 6},
        {"interpolation": "nearest"},
        {"integrator": "euler", "delay_steps": 1, "phase_bits": 18},
    ],
)
def test_advice_lowers_and_is_predicted_to_help(options) -> None:
    spec, given = network_layer(), LavaConfig.model_validate(options)
    rest = solve(spec).phase
    lowered = lower(spec, given)
    now = budget(lowered, rest)
    found = improvement(lowered, given, now, rest)
    assert found is not None
    changed = {**given.model_dump(exclude_unset=True), **found.change}
    then = budget(lower(spec, LavaConfig(**changed)), rest)
    assert then.rms == found.rms_then < 0.95 * found.rms_now
    assert found.rms_now == now.rms


def test_where_sums_are_full_a_narrower_weight_makes_room_for_wider_spikes() -> None:
    """Equal weights have no rounding of their own, so that spikes are what is left."""
    rng = np.random.default_rng(SEED)
    spec = layer(0.05 * rng.normal(size=(1, 33, 1)), np.ones((1, 33, 33)), dynamics="network")
    rest, given = solve(spec).phase, LavaConfig.model_validate({})
    lowered = lower(spec, given)
    now = budget(lowered, rest)
    assert now.bottleneck is not None and now.bottleneck.name == "payload"
    found = improvement(lowered, given, now, rest)
    assert found is not None and found.change == {"weight_bits": 7}
    wider = lower(spec, LavaConfig.model_validate(found.change)).config
    assert wider.payload_bits == lowered.config.payload_bits + 1


def test_no_advice_where_nothing_helps() -> None:
    given = LavaConfig.model_validate({"number_format": "floating_point"})
    spec = network_layer()
    lowered = lower(spec, given)
    rest = solve(spec).phase
    assert improvement(lowered, given, budget(lowered, rest), rest) is None


def test_parts_that_nothing_couples_have_no_budget() -> None:
    matrix = np.kron(np.eye(2), np.ones((2, 2)))[None]
    spec = layer(np.zeros((1, 4, 1)), matrix, dynamics="network")
    with pytest.raises(ConfigError, match="do not hold each other"):
        budget(lower(spec, LavaConfig.model_validate({})), spec.theta)


def test_the_picture_has_a_line_for_every_width() -> None:
    rows = [Measured("S network", 16, 10, bits, 1e-3, 1e-3) for bits in range(3, 9)]
    axis = Figure().subplots()
    _panel(axis, "S network", rows)
    assert len({line.get_color() for line in axis.lines}) == 6
    assert len(axis.lines) == 12


def test_a_network_needs_phases_at_which_it_rests() -> None:
    rng = np.random.default_rng(SEED)
    omega = 0.1 * rng.normal(size=(1, 5, 1))
    spec = layer(omega, np.ones((1, 5, 5)), dynamics="network")
    lowered = lower(spec, LavaConfig.model_validate({}))
    with pytest.raises(ConfigError, match="expected those at which it rests"):
        budget(lowered)
    with pytest.raises(ConfigError, match="does not rest"):
        budget(lowered, spec.theta)
    exact = solve(spec)
    assert budget(lowered, exact.phase).order_rms is not None
