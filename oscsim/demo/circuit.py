"""The circuit part of the demo: the beginning of the passage on an LC chip, perfect and imperfect."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from oscsim.circuits.fit import fitted
from oscsim.convergence.chain import Chain, error_chain
from oscsim.demo.layers import beginning
from oscsim.demo.pictures import INK, MUTED, line_colour
from oscsim.reference import solve
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget
from oscsim.trial import Trial, attempt

Array = NDArray[np.float64]
Step = Callable[[str], AbstractContextManager[None]]
TOKENS = 16  # a cell per pair of tokens, two oscillators per cell, hundreds of cycles: some seconds
DESIGN = {"family": "lc", "mu": 0.1, "cell_clock": "own", "phase_accuracy": 1e-3}
# 6-bit couplers, 11-bit frequency codes, frequencies matched to 20 ppm and couplers to 1 %
CHIP = {
    "coupling_bits": 6,
    "frequency_bits": 11,
    "frequency_mismatch": 2e-5,
    "coupling_mismatch": 0.01,
    "mismatch_seed": 1,
}


@dataclass(frozen=True)
class OnChip:
    """The beginning of one head as a circuit.

    Parameters
    ----------
    layer : that part of the layer, its time unit stretched until the family can represent it.
    head : of the whole layer. reference : its closed form.
    trial : a perfect chip against the closed form.
    chip : result of an imperfect chip; chain : where its error comes from.
    """

    layer: PhaseLayerSpec
    head: int
    reference: SyncResult
    trial: Trial
    chip: SyncResult
    chain: Chain

    def to_json(self) -> dict[str, Any]:
        """Physical scale, verdict and chain."""
        return {
            "head": self.head,
            "tokens": self.layer.n_oscillators,
            "carrier_hz": self.layer.carrier_hz,
            "time_unit_s": self.layer.time_unit_s,
            "design": DESIGN,
            "chip": CHIP,
            "perfect": self.trial.to_json(),
            "chip_status": str(self.chip.status),
            "chip_notes": list(self.chip.provenance.notes),
            "chain": self.chain.to_json(),
        }


STEPS = 2
SMALLEST_SHOWN, LARGEST_SHOWN = 1e-6, 0.1


def on_chip(layer: PhaseLayerSpec, head: int, target: AbstractTarget[Any], step: Step) -> OnChip:
    """Lower, run and explain; ``step(name)`` shows progress around each piece."""
    perfect, imperfect = target.config(**DESIGN), target.config(**DESIGN, **CHIP)
    part = fitted(beginning(layer, head, min(TOKENS, layer.n_oscillators), "pair"), perfect)
    reference = solve(part)
    with step("circuit: a perfect LC chip"):
        trial = attempt(target, perfect, part, reference)
    with step("circuit: an imperfect one, and its error explained"):
        chip = target.lower(part, imperfect).run()
        chain = error_chain(part, imperfect, chip)
    return OnChip(part, head, reference, trial, chip, chain)


def draw_errors(figure: Figure, chip: OnChip) -> None:
    """``|S - S_closed_form|`` of both chips, cell by cell, logarithmic."""
    results = {"LC circuit": chip.trial.result, "imperfect chip": chip.chip}
    shown = {name: result for name, result in results.items() if result is not None}
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    terms, image = chip.reference.conditioning, None
    assert terms is not None  # solve always sets it; narrows the type
    scale = LogNorm(SMALLEST_SHOWN, LARGEST_SHOWN)
    for axis, (name, result) in zip(axes, shown.items(), strict=True):
        error = np.maximum(np.abs(result.sync - chip.reference.sync)[0], SMALLEST_SHOWN)
        image = axis.imshow(np.where(terms.unmasked, error, np.nan), norm=scale, cmap="magma_r")
        axis.set(title=name, xlabel="source j", ylabel="driven token i")
        axis.spines[:].set_visible(False)
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(MaxNLocator(5, integer=True))
    figure.colorbar(image, ax=list(axes), label="error of S", extend="both")  # type: ignore[arg-type]


def draw_chain(figure: Figure, chain: Chain) -> None:
    """Root mean square of every link, and the total they explain."""
    axis = figure.subplots()
    names = [f"{link.name}" for link in chain.links]
    sizes = [link.rms for link in chain.links]
    place = np.arange(len(sizes) + 1)
    axis.barh(place[:-1], sizes, color=line_colour(0), height=0.6)
    axis.barh(place[-1], chain.total_rms, color=INK, height=0.6)
    axis.set_yticks(place, ["closed form → " + names[0], *(f"→ {name}" for name in names[1:]), "total"])
    axis.invert_yaxis()
    for y, size in zip(place, [*sizes, chain.total_rms], strict=True):
        axis.annotate(f" {size:.2g}", (size, y), va="center", color=MUTED, fontsize=8)
    axis.set_xlabel("root mean square change of S")
    axis.margins(x=0.15)
