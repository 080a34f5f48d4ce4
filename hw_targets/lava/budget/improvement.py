"""The smallest change of options that a budget predicts to help: tried by lowering, never just named.

What a source needs may be at its limit: eight bits are the widest synapse, synaptic sums leave no room for a
wider spike, a state of the chip has 24 bits. So every candidate is lowered like any configuration, refusals
are skipped, and the prediction with it is held against the present one over the same cells.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from hw_targets.lava.budget.layers import budget
from hw_targets.lava.budget.sources import Budget, root_mean_square
from hw_targets.lava.config import FIXED_POINT_OPTIONS, LavaConfig
from hw_targets.lava.plan import Lowered, lower
from oscsim.errors import LoweringError
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]
Change = dict[str, Any]

# A change is enough when it takes a quarter of the error away, and worth naming when it takes more than a
# twentieth.
ENOUGH, WORTH = 0.75, 0.94
# Bits tried on top of those there are.
WIDER = (1, 2, 4)


@dataclass(frozen=True)
class Improvement:
    """Options to set, and the predicted error of S without and with them, over the cells predicted in both.

    Parameters
    ----------
    source : the source whose error it takes away. change : options and their values.
    """

    source: str
    change: Change
    rms_now: float
    rms_then: float

    @property
    def settings(self) -> str:
        """As options of the command line.

        >>> Improvement("payload", {"weight_bits": 7, "chip": "none"}, 2e-4, 1e-4).settings
        '--set weight_bits=7 --set chip=none'
        """
        return " ".join(f"--set {name}={value}" for name, value in self.change.items())

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def improvement(
    lowered: Lowered, given: LavaConfig, now: Budget, rest: Array | None = None
) -> Improvement | None:
    """A change with which a layer is predicted to err less; None where no single change does.

    The largest source first: its own options, those of the others, the same off the chip, and at last
    floating point.

    Parameters
    ----------
    given : the configuration that was lowered, with its open options open. now : its budget. rest : as there.
    """
    order = [source.name for source in sorted(now.sources, key=lambda source: -source.rms)]
    for away in ({}, {"chip": "none"}):
        if away and (given.number_format, given.chip) == ("floating_point", "none"):
            continue
        for name in order:
            changes = [change | away for change in candidates(name, lowered.config)]
            found = _best(name, changes, lowered.spec, given, now, rest)
            if found is not None:
                return found
    if given.number_format == "floating_point" or not order:
        return None
    return _best(order[0], [{"number_format": "floating_point"}], lowered.spec, given, now, rest)


def candidates(name: str, config: LavaConfig) -> list[Change]:
    """What may make a source smaller, the smallest change first; ``config`` has no open option."""
    steps, payload = config.steps_per_turn or 16, config.payload_bits or 16
    wider = {option: [{option: getattr(config, option) + more} for more in WIDER] for option in _WIDTHS}
    # the sum of a row of weights one bit narrower leaves one bit for the spikes
    traded = [
        {"weight_bits": config.weight_bits - 1},
        {"weight_bits": config.weight_bits - 1, "payload_bits": payload + 1},
    ]
    finer = {"steps_per_turn": 2 * steps}
    return {
        "phase": [*wider["phase_bits"], {"steps_per_turn": steps // 2}],
        "table": [*wider["sine_bits"], {"interpolation": "linear"}],
        "payload": [*wider["payload_bits"], *traded],
        "parameters": wider["parameter_bits"],
        "weights": [
            *wider["weight_bits"],
            {"weight_bits": config.weight_bits + 1, "payload_bits": payload - 1},
        ],
        "step": [{"integrator": "runge_kutta", "delay_steps": 0}, finer],
        "settling": [*wider["payload_bits"], *wider["phase_bits"], {"max_steps": 4 * config.max_steps}],
        "delay": [{"delay_steps": 0}, finer],
    }[name]


_WIDTHS = ("phase_bits", "sine_bits", "payload_bits", "parameter_bits", "weight_bits")


def _best(
    name: str, changes: list[Change], spec: PhaseLayerSpec, given: LavaConfig, now: Budget, rest: Array | None
) -> Improvement | None:
    """The first change that is enough, else the one that helps most."""
    best = None
    for change, then in _predicted(changes, spec, given, rest):
        both = now.where & then.where
        here = root_mean_square(now.expected[both])
        found = Improvement(name, change, here, root_mean_square(then.expected[both]))
        if found.rms_then <= ENOUGH * here:
            return found
        if found.rms_then <= WORTH * here and (best is None or found.rms_then < best.rms_then):
            best = found
    return best


def _predicted(
    changes: list[Change], spec: PhaseLayerSpec, given: LavaConfig, rest: Array | None
) -> Iterator[tuple[Change, Budget]]:
    """Budgets with each change that a configuration and lowering accept."""
    options = given.model_dump(exclude_unset=True)
    for change in changes:
        kept = options
        if change.get("number_format") == "floating_point":
            kept = {option: value for option, value in options.items() if option not in FIXED_POINT_OPTIONS}
        new = {option: value for option, value in change.items() if getattr(given, option) != value}
        if not new:
            continue
        try:
            lowered = lower(spec, LavaConfig(**{**kept, **new}))
        except (ValidationError, LoweringError):
            continue
        yield new, budget(lowered, rest, locks=False)
