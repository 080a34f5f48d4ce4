"""How the triton target runs a layer."""

from typing import Literal

from pydantic import Field

from oscsim.target import TargetConfig
from oscsim.tolerance import FLOAT32_EPSILON, LARGEST_EPSILON

Block = Literal[16, 32, 64, 128]


class TritonConfig(TargetConfig):
    """Options of the triton target.

    Parameters
    ----------
    device : "auto" takes the GPU that torch sees and the interpreter otherwise (the result's provenance
        says which); "cpu" always interprets; "cuda" always compiles, or raises TargetUnavailable.
    precision : of the fused attention op, which runs pair layers with frequency coupling: "accurate" and
        "fp32" promise float32 accuracy, "fast" that of 16-bit operands (see ops.ssa_attention).
    block_m, block_n : rows (driven oscillators) and columns (sources) of one tile. Clamped layers and
        explicit couplings; the fused op has its own tiles.
    step : network time step as a fraction of 1 / (fastest rate of the head), dimensionless. Up to 1/4
        the mean of an unlocked pair is right to the target's epsilon (docs/targets/triton.md).
    max_steps : most network steps of one head before the run ends ``not_converged``.
    average_tolerance : change of a network's time average between two windows at which a head stops
        running, a fraction of |J|; promised as ``accuracy.averaging_error`` (or the change itself, when
        max_steps end a run above it).

    >>> TritonConfig().block_m, TritonConfig(device="cpu").device
    (32, 'cpu')
    """

    device: Literal["auto", "cpu", "cuda"] = "auto"
    precision: Literal["accurate", "fast", "fp32"] = "accurate"
    block_m: Block = 32
    block_n: Block = 32
    step: float = Field(0.25, gt=0.0, le=0.25)
    max_steps: int = Field(16384, ge=256, le=2**24)
    average_tolerance: float = Field(FLOAT32_EPSILON, ge=FLOAT32_EPSILON, le=LARGEST_EPSILON)
