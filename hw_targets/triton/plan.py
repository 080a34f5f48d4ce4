"""What lowering produces, and the parts of a plan that all dynamics share."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.coupling import ExplicitCoupling
from oscsim.errors import LoweringError
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan
from oscsim.tolerance import Accuracy

Array = NDArray[np.float64]

# Wider layers exist only for accumulators that no longer fit the registers of one program.
LARGEST_WIDTH = 128
# tl.dot multiplies blocks of at least 16 by 16 by 16.
SMALLEST_DOT = 16


@dataclass(frozen=True, eq=False)
class Launch:
    """One kernel launch: which memory it gets by name, and its compile-time constants."""

    kernel: str
    grid: tuple[int, ...]
    memory: tuple[str, ...]
    constants: dict[str, Any]
    sizes: dict[str, int] = field(default_factory=dict)
    warps: int = 8


@dataclass(frozen=True, eq=False)
class Lowered:
    """A layer ready to launch: plain numpy, no backend object.

    Parameters
    ----------
    plan : the lowering made visible.
    arrays : kernel inputs by name, float32 or small integers.
    buffers : shape and type of what the kernels write, by name.
    launches : in order; a network repeats its only one.
    accuracy : what the run promises.
    scales : float64 factors that turn kernel output back into the layer's units.
    """

    plan: Plan
    arrays: dict[str, NDArray[Any]]
    buffers: dict[str, tuple[tuple[int, ...], str]]
    launches: tuple[Launch, ...]
    accuracy: Accuracy
    scales: dict[str, Array]


def require_at_most(
    what: str, given: int, limit: int, advice: str = "split the layer into more heads"
) -> None:
    """LoweringError naming the limit when ``given`` exceeds it."""
    if given > limit:
        raise LoweringError(f"{what}: given {given}, the triton target expects at most {limit}; {advice}")


def launch_entry(launches: tuple[Launch, ...]) -> dict[str, Any]:
    """Grid, warps and constants of every launch."""
    return {
        launch.kernel: {"grid": list(launch.grid), "warps": launch.warps, **launch.sizes, **launch.constants}
        for launch in launches
    }


def layer_entry(spec: PhaseLayerSpec) -> dict[str, Any]:
    """The sizes that decide the launch."""
    explicit = isinstance(spec.coupling, ExplicitCoupling)
    return {
        "dynamics": spec.dynamics,
        "heads": spec.n_heads,
        "oscillators": spec.n_oscillators,
        "padded_oscillators": int((~spec.valid).sum()),
        "channels": spec.n_channels,
        "value_width": 0 if spec.values is None else spec.values.shape[2],
        "mask": spec.mask,
        "coupling": "explicit" if explicit else "frequency",
    }


def accuracy_entry(accuracy: Accuracy) -> dict[str, Any]:
    """The promise, spelled out."""
    return {
        "epsilon": accuracy.epsilon,
        "band": accuracy.band,
        "averaging_error": accuracy.averaging_error,
        "excluded_share": accuracy.excluded_share,
    }


def power_of_two(number: int, smallest: int = SMALLEST_DOT) -> int:
    """The smallest power of two that is at least ``number`` and ``smallest``.

    >>> power_of_two(33), power_of_two(3)
    (64, 16)
    """
    return max(smallest, 1 << (number - 1).bit_length())


def widened(array: NDArray[Any], width: int) -> NDArray[np.float32]:
    """(H, N, columns) as float32 with zero columns up to ``width``."""
    wide = np.zeros((*array.shape[:-1], width), np.float32)
    wide[..., : array.shape[-1]] = array
    return wide
