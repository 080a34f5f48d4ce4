"""One chip held against the ideal layer."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.design import CircuitDesign
from oscsim.errors import ConfigError
from oscsim.monte_carlo.levels import read_chips
from oscsim.monte_carlo.reading import Reading
from oscsim.reference import solve
from oscsim.spec import PhaseLayerSpec

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Score:
    """What is kept of a chip: counts over its cells, and moments of its errors of S.

    Parameters
    ----------
    cells : pairs compared, no diagonal; agree : whose lock decision is right; locked : that lock on the chip.
    square, fourth : mean of error^2 and of error^4, errors of S with the layer's own weight J.
    built_square, built_fourth : the same with the weight the couplers have as built; None for networks.
    settled : whether its read-out had converged.
    """

    cells: int
    agree: int
    locked: int
    square: float
    fourth: float
    built_square: float | None
    built_fourth: float | None
    settled: bool


def ideal_layer(spec: PhaseLayerSpec) -> tuple[Reading, Mask]:
    """What chips are compared with, and which cells (H, N, N): unmasked and off the diagonal.

    The closed form; for a network, which has none, a perfect chip of ideal phase oscillators. An oscillator
    always locks to itself, so the diagonal would flatter every share and every mean (``oscsim info`` and the
    comparison leave it out as well).

    Raises
    ------
    ConfigError
        a layer without pairs.
    """
    tokens = spec.n_oscillators
    pairs = pair_terms.unmasked(spec) & ~np.eye(tokens, dtype=bool)
    if not pairs.any():
        raise ConfigError(
            f"layer: given {tokens} oscillators and no pair of them under its mask and padding, expected at "
            "least one pair i, j: what chips are judged by"
        )
    where = np.broadcast_to(pairs, (spec.n_heads, tokens, tokens))
    if spec.dynamics == "network":
        (reading,) = read_chips(spec, [perfect_design()], "ideal")
        return reading, where
    result = solve(spec)
    return Reading(result.sync, result.locked, None, True), where


def perfect_design() -> CircuitDesign:
    """Ideal oscillators with couplers of one direction, which any layer can have."""
    return CircuitDesign(family="stuart_landau", coupler="transconductance")


def score(reading: Reading, ideal: Reading, where: Mask) -> Score:
    """Compare one chip with the ideal layer on some cells (H, N, N)."""
    wrong = (reading.sync - ideal.sync)[where]
    built: dict[str, Any] = {"built_square": None, "built_fourth": None}
    if reading.weight is not None:
        error = (reading.sync * np.abs(reading.weight) - ideal.sync)[where]
        built = {"built_square": float((error**2).mean()), "built_fourth": float((error**4).mean())}
    return Score(
        cells=int(where.sum()),
        agree=int((reading.locked == ideal.locked)[where].sum()),
        locked=int(reading.locked[where].sum()),
        square=float((wrong**2).mean()),
        fourth=float((wrong**4).mean()),
        **built,
        settled=reading.settled,
    )
