"""The shape of a Kuramoto-attention model, its ablations and its hardware-native variant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oscsim.errors import SpecError

from ..language_model import check_shape


@dataclass(frozen=True)
class KuramotoConfig:
    """Everything that is needed to build the model.

    Attributes
    ----------
    width, blocks, heads : coordinates k (angles per token); number of blocks; heads, which share k.
    hidden : width of the gated layer of each feed-forward; without effect where there is none.
    context : bytes seen at a time.
    values : "circular_mean" [KA], or "projection": the ablation with a learned value projection.
    feed_forward : False is the ablation without feed-forward.
    gates : False is the ablation without metric gates, g = 1.
    step : "euler", theta + bound(v a); or "flow", the exact flow of held sources for a learned time,
        which is what clamped oscillators do.
    tied : prototypes are the embedding's phases instead of phases of their own.
    temperature : tau sqrt(k / heads) at the start, the score of a token with itself.
    phase_spread : phases start uniform within +- this, rad.
    bound : rho at the start, largest rms of an update, rad; a flow step has no bound.
    drift_rate : learning rate of omega, relative to the rest.
    dropout : on what each block adds.

    >>> KuramotoConfig(gates=False).values
    'circular_mean'
    """

    width: int = 64
    blocks: int = 4
    heads: int = 4
    hidden: int = 160
    context: int = 128
    values: Literal["circular_mean", "projection"] = "circular_mean"
    feed_forward: bool = True
    gates: bool = True
    step: Literal["euler", "flow"] = "euler"
    tied: bool = False
    temperature: float = 4.0
    phase_spread: float = 0.5
    bound: float = 3.0
    drift_rate: float = 0.1
    dropout: float = 0.0

    def __post_init__(self) -> None:
        check_shape(self)
        for name in ("temperature", "bound"):  # the model keeps their logarithms
            if not getattr(self, name) > 0.0:
                raise SpecError(f"{name}: given {getattr(self, name)}; expected more than 0; change it")
        if self.values == "projection" and self.step == "flow":
            raise SpecError(
                "given values='projection' with step='flow'; expected step='euler': a projection is no pull "
                "on phases that could be followed; change one of them"
            )
