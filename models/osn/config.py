"""The shape of a model and how its locking is trained."""

from __future__ import annotations

from dataclasses import dataclass

from hw_targets.triton.ops import EDGE_SMOOTHING
from hw_targets.triton.ops.arguments import SMALLEST_EPS
from oscsim.errors import SpecError

from ..language_model import check_shape


@dataclass(frozen=True)
class OSNConfig:
    """Everything a checkpoint needs to rebuild a model, and what its own part of training depends on.

    Attributes
    ----------
    width, blocks, heads, channels, hidden : width of the residual stream, number of blocks, heads per
        block, frequency channels per head (at least 2: position and content), width of the feed-forward.
    context : bytes that the model is trained and evaluated on at a time.
    dropout : share of the residual updates dropped in training.
    smoothing : eps of the smooth edge in the backward pass, see ``hw_targets.triton.ops.ssa_attention``.
    causal : tokens attend to earlier ones only; False builds an encoder.
    wanted_locked : locked fraction of the pairs of every head at the start.
    frequency_rate : learning rate of what sets locking, relative to the rest.
    locked_target, locked_weight : range that soft locked fractions are held in, and how strongly.

    Raises
    ------
    SpecError
        a value that no model can have.

    >>> OSNConfig(width=32).heads
    4
    """

    width: int = 64
    blocks: int = 2
    heads: int = 4
    channels: int = 4
    hidden: int = 192
    context: int = 64
    dropout: float = 0.1
    smoothing: float = EDGE_SMOOTHING
    causal: bool = True
    wanted_locked: float = 0.5
    frequency_rate: float = 0.25
    locked_target: tuple[float, float] = (0.25, 0.75)
    locked_weight: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "locked_target", tuple(self.locked_target))  # JSON knows lists only
        check_shape(self)
        _require(self.width % self.heads == 0, "width", self.width, f"a multiple of the {self.heads} heads")
        _require(self.channels >= 2, "channels", self.channels, "at least 2, one for position")
        _require(0.0 < self.wanted_locked < 1.0, "wanted_locked", self.wanted_locked, "between 0 and 1")
        _require(SMALLEST_EPS <= self.smoothing < 1.0, "smoothing", self.smoothing, "1e-9 to below 1")
        target = self.locked_target
        inside = len(target) == 2 and 0.0 <= target[0] <= target[1] <= 1.0
        _require(inside, "locked_target", target, "two fractions in ascending order")


def _require(fine: bool, name: str, given: object, expected: str) -> None:
    if not fine:
        raise SpecError(f"{name}: given {given}, expected {expected}; change the model's configuration")
