"""Which runs an experiment consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..presets import preset
from ..training.config import TrainingConfig

DATA = "enwiki-sample"
LAST_SEED = 3
SEEDS = range(1, LAST_SEED + 1)
TUNING_SEED = 99
"""No result uses it, so that the learning rates are not chosen on the results' own seeds."""
TUNING_STEPS = 800

LEARNING_RATES = {
    "transformer": (3e-3, 6e-3, 1.2e-2, 2.4e-2),
    "kuramoto": (8e-3, 1.6e-2, 3.2e-2, 6.4e-2),
    "osn": (8e-3, 1.6e-2, 3.2e-2, 6.4e-2),
}
"""Four values per model, equal budget."""

# name -> (what is changed, with every seed or with the first one only): the ablations of [KA]
ABLATIONS: dict[str, tuple[dict[str, Any], bool]] = {
    "kuramoto, no gates": ({"gates": False}, True),
    "kuramoto, value projection": ({"values": "projection"}, False),
    "kuramoto, no feed-forward": ({"feed_forward": False}, False),
}

REFERENCES = {"kuramoto": "transformer", "osn": "transformer", **dict.fromkeys(ABLATIONS, "kuramoto")}
"""What each variant's result is compared with."""


@dataclass(frozen=True)
class Run:
    """One training.

    Attributes
    ----------
    variant : what is trained, as in tables: a model, or a model and its ablation.
    model : name of the model.
    config, training : everything about it.
    """

    variant: str
    model: str
    config: Any
    training: TrainingConfig

    @property
    def name(self) -> str:
        """Name of the run's folder.

        >>> planned("tiny")[0].name
        'transformer-s1'
        """
        return f"{self.variant.replace(', ', '-').replace(' ', '-')}-s{self.training.seed}"


def planned(size: str, seeds: Sequence[int] = SEEDS) -> list[Run]:
    """Return the runs whose results count: every model with every seed, then the ablations.

    Parameters
    ----------
    size : name of a preset.
    seeds : of the models and of the first ablation; the others have the first of them.

    >>> [run.name for run in planned("tiny")][-2:]
    ['kuramoto-value-projection-s1', 'kuramoto-no-feed-forward-s1']
    """
    variants = {**{model: ({}, True) for model in LEARNING_RATES}, **ABLATIONS}
    runs = []
    for name, (changes, every) in variants.items():
        model = name.split(",")[0]
        config, training = preset(model, size)
        for seed in seeds if every else seeds[:1]:
            runs.append(Run(name, model, replace(config, **changes), replace(training, seed=seed)))
    return runs


def tuning(size: str) -> list[Run]:
    """Return the runs that choose the learning rates, all with one seed and one number of steps.

    >>> len(tuning("tiny")), tuning("tiny")[0].name
    (12, 'transformer-lr0.003-s99')
    """
    runs = []
    for model, rates in LEARNING_RATES.items():
        config, training = preset(model, size)
        for rate in rates:
            changed = replace(training, learning_rate=rate, steps=TUNING_STEPS, seed=TUNING_SEED)
            runs.append(Run(f"{model}, lr{rate:g}", model, config, changed))
    return runs
