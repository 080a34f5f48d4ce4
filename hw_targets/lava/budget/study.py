"""The budget held against measurements: random layers in many formats, predicted and measured errors of each.

Pair layers run on the target as any layer does. Networks run in the golden integer model to rest, whose
bits are those of the target: also formats that lowering refuses, because their promise could reject
nothing, have an error. The exact answers come from a solver that the caller supplies; no target knows one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.layers import budget
from hw_targets.lava.budget.sources import Budget, root_mean_square
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import number_format
from hw_targets.lava.golden import Golden
from hw_targets.lava.network import network, network_program
from hw_targets.lava.picks import Picked
from hw_targets.lava.plan import LoweredNetwork, lower
from hw_targets.lava.program import STAGES
from hw_targets.lava.run import run
from oscsim.coupling import ExplicitCoupling, FixedOrder
from oscsim.errors import ConfigError
from oscsim.pair_terms import coupling, unmasked
from oscsim.phase import order_parameter
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan
from oscsim.tolerance import Accuracy

Array = NDArray[np.float64]
Solver = Callable[[PhaseLayerSpec], SyncResult]

PAIR_PHASE_BITS = (12, 14, 16, 18, 20, 22, 24)
SINE_BITS = (6, 8, 10, 12)
WEIGHT_BITS = (3, 4, 5, 6, 7, 8)
NETWORK_PHASE_BITS = (12, 14, 16, 18, 20, 24)
# Own-clock time after which a network of the ensemble, whose slowest rate is above 0.2, rests in any format.
RESTED = 100.0
# Wrong decisions that an ensemble near the edge is made to contain, as a share of its cells.
WANTED_SHARE = 0.05


@dataclass(frozen=True)
class Measured:
    """One number of one format, predicted and measured.

    Parameters
    ----------
    quantity : "S locked", "S turning", "wrong locks" (how much of the axis d/|a| is decided wrongly),
        "S network" or "order parameter".
    phase_bits, sine_bits, weight_bits : of the format; weight_bits is None for pair layers.
    """

    quantity: str
    phase_bits: int
    sine_bits: int
    weight_bits: int | None
    predicted: float
    measured: float

    @property
    def ratio(self) -> float:
        """predicted / measured."""
        return self.predicted / self.measured if self.measured > 0 else float("inf")


def pair_rows(config: LavaConfig, seed: int, solve: Solver, tokens: int = 36) -> list[Measured]:
    """A pair layer of any ratios, and one near the edge."""
    rng = np.random.default_rng([seed, config.phase_bits, config.sine_bits])
    wide = _spread_layer(rng, tokens)
    prediction, run, exact = _run(wide, config, solve)
    error = run.sync - exact.sync
    rows = []
    for name, cells in (
        ("S locked", prediction.where & exact.locked),
        ("S turning", prediction.where & ~exact.locked),
    ):
        expected = root_mean_square(prediction.expected[cells])
        rows.append(_row(name, config, expected, root_mean_square(error[cells])))
    edge, width = _edge_layer(rng, tokens, config)
    prediction, run, exact = _run(edge, config, solve)
    pairs = np.broadcast_to(~np.eye(tokens, dtype=bool), run.locked.shape)
    # ratios are uniform in 1 - width .. 1 + width: a share of the cells is a length on the axis d/|a|
    length = 2.0 * width / int(pairs.sum())
    wrong = int((run.locked != exact.locked)[pairs].sum())
    return [*rows, _row("wrong locks", config, length * (prediction.wrong_locks or 0), length * wrong)]


def _row(quantity: str, config: LavaConfig, predicted: float, measured: float) -> Measured:
    return Measured(quantity, config.phase_bits, config.sine_bits, None, predicted, measured)


def _run(spec: PhaseLayerSpec, config: LavaConfig, solve: Solver) -> tuple[Budget, SyncResult, SyncResult]:
    lowered = lower(spec, config)
    return budget(lowered), run(lowered), solve(spec)


def _spread_layer(rng: np.random.Generator, tokens: int) -> PhaseLayerSpec:
    """Two heads whose ratios d/a reach from 0 to far above 1."""
    omega = rng.normal(size=(2, tokens, 1))
    return _layer(omega, rng.uniform(0.2, 1.0, (2, tokens, tokens)), 2.0)


def _edge_layer(rng: np.random.Generator, tokens: int, config: LavaConfig) -> tuple[PhaseLayerSpec, float]:
    """Ratios within a width of 1 in which the format is predicted to decide a share of the cells wrongly."""
    omega = rng.uniform(0.0, 1.0, (1, tokens, 1))
    mismatch = np.abs(omega - omega.transpose(0, 2, 1))
    at = rng.uniform(-1.0, 1.0, mismatch.shape)
    width = 2.0**-4
    while True:
        strength = np.where(mismatch > 0, mismatch / (1.0 + width * at), 1.0)
        layer = _layer(omega, strength, 1.0)
        wrong = budget(lower(layer, config)).wrong_locks or 0
        if wrong >= WANTED_SHARE * at.size or width < 1e-7:
            return layer, width
        width /= 2.0


def _layer(omega: Array, matrix: Array, gain: float, **other: object) -> PhaseLayerSpec:
    heads = len(omega)
    fields = {"theta": np.zeros_like(omega), **other}
    return PhaseLayerSpec(
        omega=omega,
        coupling=ExplicitCoupling(matrix=matrix),
        gain=np.full(heads, gain),
        order_parameter=FixedOrder(r=np.ones(heads)),
        **fields,
    )


def network_row(
    config: Picked, seed: int, solve: Solver, heads: int = 20, tokens: int = 12
) -> list[Measured]:
    """Random networks that lock, in the golden model at rest."""
    rng = np.random.default_rng([seed, config.phase_bits, config.sine_bits, config.weight_bits])
    omega = rng.normal(size=(heads, tokens, 1)) * 0.12
    spec = _layer(
        omega,
        rng.uniform(0.2, 1.0, (heads, tokens, tokens)),
        1.3,
        theta=rng.uniform(-1.0, 1.0, omega.shape),
        dynamics="network",
    )
    exact = solve(spec)
    if exact.phase is None:
        raise ConfigError(
            f"seed: given {seed}, with which a network of the ensemble does not lock; use another"
        )
    lowered = _unrefused(spec, config)
    prediction = budget(lowered, exact.phase)
    phase = _rested(lowered)
    apart = phase[:, :, None, 0] - phase[:, None, :, 0]
    error = np.where(unmasked(spec), coupling(spec) * np.cos(apart), 0.0) - exact.sync
    order = order_parameter(phase, spec.valid, False) - exact.order_parameter
    bits = (config.phase_bits, config.sine_bits, config.weight_bits)
    return [
        Measured("S network", *bits, prediction.rms, root_mean_square(error[prediction.where])),
        Measured("order parameter", *bits, prediction.order_rms or 0.0, root_mean_square(order)),
    ]


def _unrefused(spec: PhaseLayerSpec, config: Picked) -> LoweredNetwork:
    """A network lowered without the questions whether its promise means anything and a chip could hold it."""
    form, net = number_format(config), network(spec)
    program = network_program(net, config, form, chunk=1)
    plan = Plan("lava", spec.digest, ())
    return LoweredNetwork(spec, config, plan, Accuracy(1.0), form, net, program, 1, 0.0)


def _rested(lowered: LoweredNetwork) -> Array:
    """(H, N, D) final phases in the golden model, rad."""
    form, program, spec = lowered.number_format.arithmetic, lowered.program, lowered.spec
    if not isinstance(form, FixedPoint):
        raise TypeError(f"given {type(form).__name__}, expected a fixed-point format")
    golden = Golden(
        form.phase_bits,
        form.sine_bits,
        form.payload_bits,
        form.parameter_bits,
        form.steps_per_turn,
        form.rounding,
        form.interpolation,
    )
    motion = golden.network(
        program.theta, program.drift, program.gain, program.gain_shift, program.weights,
        program.integrator, program.delay_steps > 0,
    )  # fmt: skip
    steps = int(RESTED / lowered.number_format.step)
    for _ in range(STAGES[program.integrator] * steps):
        next(motion)
    theta = next(motion)["theta"].astype(np.float64)
    shape = (spec.n_heads, spec.n_channels, spec.n_oscillators)
    return form.to_radians(theta).reshape(shape).transpose(0, 2, 1)


def whole_table(seed: int, solve: Solver, told: Callable[[str], object]) -> Iterable[Measured]:
    """Every format of the documented table; ``told`` hears which one comes next."""
    for phase_bits in PAIR_PHASE_BITS:
        for sine_bits in SINE_BITS:
            if sine_bits < phase_bits:
                told(f"pair, phase {phase_bits}, sine {sine_bits}")
                yield from pair_rows(pair_config(phase_bits, sine_bits), seed, solve)
    formats = [(phase_bits, 10) for phase_bits in NETWORK_PHASE_BITS]
    formats += [(24, sine_bits) for sine_bits in SINE_BITS if sine_bits != 10]
    for phase_bits, sine_bits in formats:
        for weight_bits in WEIGHT_BITS:
            told(f"network, phase {phase_bits}, sine {sine_bits}, weights {weight_bits}")
            config = network_config(phase_bits, sine_bits, weight_bits)
            yield from network_row(config, seed, solve)


def pair_config(phase_bits: int, sine_bits: int) -> LavaConfig:
    """The default format with other bits."""
    return LavaConfig.model_validate({"phase_bits": phase_bits, "sine_bits": sine_bits})


def network_config(phase_bits: int, sine_bits: int, weight_bits: int) -> Picked:
    """The format of a network of the table; few phase bits go with few steps per turn, as lowering picks
    them.
    """
    given = {
        "phase_bits": phase_bits,
        "sine_bits": sine_bits,
        "weight_bits": weight_bits,
        "steps_per_turn": 16 if phase_bits < 16 else 64,
        "chip": "none",
    }
    return Picked.model_validate(given)
