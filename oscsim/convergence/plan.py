"""Which layers a study runs, and the running of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.circuits.timing import predicted_cycles
from oscsim.circuits.validity import safe_strength
from oscsim.convergence.layers import network_layer, pair_layer
from oscsim.convergence.row import Row, compare_network, compare_pairs
from oscsim.convergence.study import Study
from oscsim.errors import ConfigError, LoweringError
from oscsim.phase_reduction import reduce
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec

# Networks: fully locked as a rule, and partly locked as a rule.
SPREADS = (0.35, 0.9)


@dataclass(frozen=True)
class Work:
    """One layer of a study and what it is."""

    kind: str
    epsilon: float
    spread: float
    seed: int
    layer: PhaseLayerSpec


@dataclass(frozen=True)
class Plan:
    """Everything a study is going to run, pairs first; ``cycles`` is what its slowest circuit should need.

    >>> plan = Plan.of(CircuitDesign(mu=0.1), (), (0.8,), (8,), seeds=1)
    >>> [round(epsilon, 5) for epsilon in plan.epsilon], len(plan.work)
    ([0.03504, 0.01051, 0.0035], 9)
    """

    design: CircuitDesign
    epsilon: tuple[float, ...]
    ratios: tuple[float, ...]
    work: tuple[Work, ...]
    cycles: float

    @classmethod
    def of(
        cls, design: CircuitDesign, epsilon: Sequence[float], ratios: Sequence[float], counts: Sequence[int],
        seeds: int,
    ) -> "Plan":  # fmt: skip
        """Check what was asked for; epsilon defaults to the safe limit of the family, 0.3 and 0.1 of it.

        Raises
        ------
        ConfigError
            a value that no layer has.
        """
        _positive("--epsilon", epsilon)
        _positive("--ratio", ratios)
        if 1.0 in ratios:
            raise ConfigError(
                "--ratio: given 1, the locking edge itself, where nothing settles; leave it out"
            )
        for count in counts:
            if count < 3:
                raise ConfigError(f"--network: given {count}, expected at least 3 oscillators")
        if counts and seeds < 1:
            raise ConfigError(f"--seeds: given {seeds}, expected at least 1")
        safe = safe_strength(reduce(design.oscillator()))
        chosen = tuple(dict.fromkeys(epsilon)) or tuple(safe * part for part in (1.0, 0.3, 0.1))
        chosen = tuple(sorted(chosen, reverse=True))
        work = [Work("pair", value, 0.0, 0, pair_layer(tuple(ratios), value)) for value in chosen]
        work += [
            Work("network", value, spread, seed, network_layer(count, spread, value, seed))
            for value in chosen
            for count in counts
            for spread in SPREADS
            for seed in range(seeds)
        ]
        return cls(design, chosen, tuple(ratios), tuple(work), max(_cycles(design, piece) for piece in work))


def _cycles(design: CircuitDesign, work: Work) -> float:
    """Carrier cycles of the slowest circuit of a layer, by its own relaxation rates.

    Raises
    ------
    ConfigError
        the family cannot represent a coupling as strong as this.
    """
    try:
        return float(predicted_cycles(lower_circuit(work.layer, design)).max())
    except LoweringError as error:
        raise ConfigError(f"--epsilon: given {work.epsilon:g}, expected less: {error}") from None


def _positive(option: str, values: Sequence[float]) -> None:
    for value in values:
        if not 0.0 < value < float("inf"):
            raise ConfigError(f"{option}: given {value:g}, expected a finite number > 0")


def studied(
    plan: Plan, simulate: Callable[[PhaseLayerSpec], SyncResult], progress: Callable[[int, str], None]
) -> Study:
    """Run and compare every layer of a plan; ``progress(done, text)`` after each."""
    rows: list[Row] = []
    for done, work in enumerate(plan.work, 1):
        result = simulate(work.layer)
        if work.kind == "pair":
            rows += compare_pairs(plan.design, plan.ratios, work.epsilon, work.layer, result)
        else:
            rows.append(
                compare_network(plan.design, work.epsilon, work.spread, work.seed, work.layer, result)
            )
        progress(done, f"{work.kind} of {work.layer.n_oscillators}, ε = {work.epsilon:.3g}: {result.status}")
    return Study(plan.design, tuple(rows))
