"""Which arrays of the demo go into which picture."""

from collections.abc import Callable
from typing import cast

import numpy as np
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from oscsim.closed_form import clamped_flow, lock_ratio, pair_trajectory
from oscsim.demo import drawings as draw
from oscsim.demo.circuit import draw_chain, draw_errors
from oscsim.demo.layers import most_selective_head
from oscsim.demo.pictures import to_png, to_svg
from oscsim.demo.sections import Outcome, Section
from oscsim.energy.figure import bars, details, height
from oscsim.pair_terms import (
    coupling,
    free_rate,
    held_phasor,
    initial_phase,
    locking_strength,
    mismatch,
)
from oscsim.phase import circular_distance
from oscsim.regime.figure import panels
from oscsim.regime.row import packaged_map
from oscsim.result import Conditioning, SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import NEGLIGIBLE_COUPLING

Array = NDArray[np.float64]
Curves = tuple[Array, Array]  # times (T,), phases (T, C)
Fill = Callable[[Figure], None]
HORIZON = 16.0  # own-clock time shown of a settling cell
SNAPSHOTS = 24  # markers per cell and target
FLOWS = 6  # oscillators shown in the clamped section
WIDTH, ROW = 10.0, 2.25  # inches: of every picture, and of one row of matrices
TITLES = {
    "pair_matrices": "Synchronization matrices, pair cells",
    "cells_settling": "Phase differences settling on the closed form",
    "order_parameter": "Order parameter along the passage",
    "pair_errors": "Error of every pair against its distance to the locking edge",
    "clamped_matrices": "Synchronization matrices, clamped",
    "clamped_flows": "Phases pulled by held sources",
    "clamped_errors": "Error of every phase against its condition number",
    "network_matrices": "The same oscillators as one network",
    "circuit_matrices": "The beginning of one head, down to an LC circuit",
    "circuit_errors": "Errors of the two chips",
    "circuit_chain": "Where the error of an imperfect chip comes from",
    "energy_bars": "Energy of one evaluation of the layer",
    "energy_details": "What decides the first of them, and what accuracy costs",
    "regime": "Where the pair closed form may be trusted for a whole network",
}


def gallery(outcome: Outcome) -> dict[str, str]:
    """All pictures of the report: name -> ``<svg>`` element; the names are those of TITLES."""
    pair, clamped = outcome.sections["pair"], outcome.sections["clamped"]
    exact, network = outcome.mean_field, outcome.sections["network"]
    drawn = {
        "pair_matrices": _matrices("closed form", pair.reference, pair),
        "cells_settling": _settling(outcome),
        "order_parameter": _order(pair.reference.order_parameter),
        "pair_errors": _pair_errors(pair),
        "clamped_matrices": _matrices("closed form", clamped.reference, clamped),
        "clamped_flows": _flows(clamped),
        "clamped_errors": _phase_errors(clamped),
        "network_matrices": _matrices("pair closed form", exact, network, outcome.network_head),
        "circuit_matrices": _circuit(outcome),
        "circuit_errors": (lambda figure: draw_errors(figure, outcome.chip), 2.9),
        "circuit_chain": (lambda figure: draw_chain(figure, outcome.chip.chain), 2.6),
        "energy_bars": (lambda figure: bars(figure.subplots(), outcome.energy.rows), height(outcome.energy)),
        "energy_details": (lambda figure: details(figure, outcome.energy), 3.2),
        "regime": (lambda figure: panels(figure, packaged_map()), 3.6),
    }
    return {name: to_svg(fill, (WIDTH, height), TITLES[name]) for name, (fill, height) in drawn.items()}


def readme_picture(outcome: Outcome) -> bytes:
    """Sync matrices of the most selective head and settling cells in one PNG."""
    pair = outcome.sections["pair"]
    head = most_selective_head(pair.reference.sync)
    one = slice(head, head + 1)
    columns = {"closed form": pair.reference.sync[one], **{n: r.sync[one] for n, r in pair.results.items()}}

    def fill(figure: Figure) -> None:
        parts = cast(list[SubFigure], figure.subfigures(2, 1, height_ratios=[1.0, 1.1]))
        draw.sync_matrices(parts[0], columns, _terms(pair.reference).unmasked, head)
        draw.settling(parts[1].subplots(), *settling_arrays(outcome))

    return to_png(fill, (WIDTH, 6.2))


def settling_arrays(outcome: Outcome) -> tuple[list[float], Curves, dict[str, Curves]]:
    """d/a of the cells, their exact flow, and what targets recorded, as :func:`demo_pictures.settling` takes.

    The exact flow is that of ``psi' = d - a sin psi`` on each cell's own clock, from psi = 0.
    """
    cells = outcome.cells
    d, a = cells.mismatch / cells.clock, np.abs(cells.strength) / cells.clock
    times = np.linspace(0.0, HORIZON, 400)
    exact = cast(Array, np.unwrap(pair_trajectory(d, a, np.zeros(len(d)), times[:, None]), axis=0))
    recorded: dict[str, Curves] = {}
    for name, result in outcome.sections["cells"].results.items():
        if result.trajectory is not None and result.times is not None:
            psi = cast(
                Array, np.unwrap(result.trajectory[:, :, 0, 0] - result.trajectory[:, :, 1, 0], axis=0)
            )
            shown = np.searchsorted(result.times, np.linspace(0.0, HORIZON, SNAPSHOTS))
            shown = np.unique(shown[shown < len(result.times)])
            recorded[name] = (result.times[shown], psi[shown])
    return cells.ratio.tolist(), (times, exact), recorded


def flow_tokens(layer: PhaseLayerSpec) -> list[int]:
    """The tokens whose clamped phases are drawn, spread over the passage."""
    return [int(token) for token in np.linspace(1, layer.n_oscillators - 1, FLOWS)]


def _terms(reference: SyncResult) -> Conditioning:
    assert reference.conditioning is not None  # solve always sets it; narrows the type
    return reference.conditioning


def _matrices(title: str, exact: SyncResult, section: Section, first_head: int = 0) -> tuple[Fill, float]:
    columns = {title: exact.sync, **{name: result.sync for name, result in section.results.items()}}
    unmasked = _terms(exact).unmasked
    height = 0.7 + ROW * len(exact.sync)
    return lambda figure: draw.sync_matrices(figure, columns, unmasked, first_head), height


def _circuit(outcome: Outcome) -> tuple[Fill, float]:
    """The first tokens of a head from every target (later ones change nothing) and from the circuits."""
    chip, pair = outcome.chip, outcome.sections["pair"]
    part = (slice(chip.head, chip.head + 1), *[slice(0, chip.layer.n_oscillators)] * 2)
    columns = {"closed form": chip.reference.sync}
    columns |= {name: result.sync[part] for name, result in pair.results.items()}
    if chip.trial.result is not None:
        columns["LC circuit"] = chip.trial.result.sync
    columns["imperfect chip"] = chip.chip.sync
    unmasked = _terms(chip.reference).unmasked
    return lambda figure: draw.sync_matrices(figure, columns, unmasked, chip.head), 0.7 + 2.0


def _settling(outcome: Outcome) -> tuple[Fill, float]:
    arrays = settling_arrays(outcome)
    return lambda figure: draw.settling(figure.subplots(), *arrays), 4.2


def _order(r: Array) -> tuple[Fill, float]:
    return lambda figure: draw.order_parameter(figure, r), 2.8


def _pair_errors(section: Section) -> tuple[Fill, float]:
    layer = section.layer
    d = mismatch(layer)
    pairs = _terms(section.reference).unmasked & ~np.eye(layer.n_oscillators, dtype=bool)
    j = coupling(layer, d)
    ratio = lock_ratio(d, locking_strength(layer, j))[:, pairs].ravel()
    scale = np.maximum(np.abs(j), NEGLIGIBLE_COUPLING)  # what the comparison allows is relative to |J|
    errors = {
        name: ((np.abs(result.sync - section.reference.sync) / scale)[:, pairs].ravel(), result.accuracy)
        for name, result in section.results.items()
    }
    return lambda figure: draw.pair_errors(figure, errors, ratio), 3.4


def _flows(section: Section) -> tuple[Fill, float]:
    layer = section.layer
    drive = held_phasor(layer, coupling(layer))
    start, rate = initial_phase(layer), free_rate(layer)
    which = (np.zeros(FLOWS, int), np.array(flow_tokens(layer)), np.zeros(FLOWS, int))
    times = np.linspace(0.0, layer.duration, 200)
    phases = np.stack([clamped_flow(start, drive, rate, t)[which] for t in times])
    goals = clamped_flow(start, drive, rate, np.inf)[which]
    ends = {n: r.phase[which] for n, r in section.results.items() if r.phase is not None}
    return lambda figure: draw.flows(figure, (times, phases), goals, ends), 3.2


def _phase_errors(section: Section) -> tuple[Fill, float]:
    terms, phase, valid = _terms(section.reference), section.reference.phase, section.layer.valid
    assert phase is not None and terms.phase_condition is not None  # a clamped reference has both
    condition = terms.phase_condition[:, valid].ravel()
    errors = {
        name: (circular_distance(result.phase, phase)[:, valid].ravel(), result.accuracy)
        for name, result in section.results.items()
        if result.phase is not None
    }
    return lambda figure: draw.phase_errors(figure, errors, condition), 3.2
