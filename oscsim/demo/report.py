"""The demo as one HTML file that needs nothing else: pictures, styles and text are inside."""

from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from numpy.typing import NDArray

from oscsim.demo.energy import constant_rows, energy_rows
from oscsim.demo.gallery import TITLES, flow_tokens, settling_arrays
from oscsim.demo.layers import LONGEST_NETWORK
from oscsim.demo.sections import Outcome
from oscsim.result import SyncResult
from oscsim.trial import Trial

Array = NDArray[np.float64]
STRONGEST = 8  # couplings listed per head
TEMPLATE = "report.html.j2"


def visible(character: str) -> str:
    """A character as something that can be seen.

    >>> visible(" "), visible("a")
    ('␣', 'a')
    """
    return {" ": "␣", "\n": "↵", "\t": "⇥"}.get(character, character)


def tokens(text: str) -> list[str]:
    """What stands for each byte of a text: its character, or a dot where one before it began the character.

    >>> tokens("né")
    ['n', 'é', '·']
    """
    return [shown for character in text for shown in (character, *("·" * (len(character.encode()) - 1)))]


def strongest_query(sync: Array) -> int:
    """The token of a head (S (N, N), masked cells 0) that other tokens drive most."""
    others = sync * ~np.eye(len(sync), dtype=bool)
    return int(np.argmax(others.sum(axis=1)))


def strongest_pairs(sync: Array, count: int = STRONGEST) -> list[tuple[int, int, float]]:
    """The off-diagonal couplings of a head with the largest S, as (target, source, S).

    >>> strongest_pairs(np.array([[1.0, 0.0], [0.5, 1.0]]))
    [(1, 0, 0.5)]
    """
    others = np.where(np.eye(len(sync), dtype=bool), 0.0, sync)
    order = np.argsort(-others, axis=None, kind="stable")[:count]
    cells = [(int(cell // len(sync)), int(cell % len(sync))) for cell in order]
    return [(i, j, float(others[i, j])) for i, j in cells if others[i, j] > 0]


def passage(text: Sequence[str], weights: Array, query: int) -> list[dict[str, Any]]:
    """The passage token by token with the share of attention ``query`` pays to each.

    ``strength`` is relative to the largest share another token has, so that the picture is readable even
    where a token mostly attends to itself.
    """
    row = weights[query]
    others = np.where(np.arange(len(row)) == query, 0.0, row)
    largest = max(float(others.max(initial=0.0)), 1e-12)
    return [
        {
            "shown": visible(character) if character != " " else " ",
            "breaks": character == "\n",
            "strength": round(min(float(others[j]) / largest, 1.0), 3),
            "query": j == query,
            "title": f"token {j}: weight {row[j]:.3f}",
        }
        for j, character in enumerate(text)
    ]


def heads(text: Sequence[str], reference: SyncResult) -> list[dict[str, Any]]:
    """What the text section shows per head."""
    shown = []
    for head, sync in enumerate(reference.sync):
        query = strongest_query(sync)
        pairs = [
            {"target": visible(text[i]), "i": i, "source": visible(text[j]), "j": j, "sync": f"{s:.3f}"}
            for i, j, s in strongest_pairs(sync)
        ]
        shown.append(
            {
                "number": head,
                "query": query,
                "character": visible(text[query]),
                "own": f"{reference.weights[head, query, query]:.2f}",
                "passage": passage(text, reference.weights[head], query),
                "pairs": pairs,
            }
        )
    return shown


def verdicts(outcome: Outcome) -> list[dict[str, str]]:
    """One row per section and target, numbers as text."""
    return [_verdict(name, trial) for name, trial in zip(outcome.labels, outcome.trials, strict=True)]


def _verdict(section: str, trial: Trial) -> dict[str, str]:
    entry = trial.to_json()
    if trial.status == "finding":  # nothing exact to be right or wrong about
        entry |= dict.fromkeys(("max_abs_error", "tolerance", "worst_ratio", "locked_agreement"))
    agreement = entry["locked_agreement"]
    return {
        "section": section,
        "target": trial.target,
        "status": trial.status.replace("_", " "),
        "mark": "open" if trial.conforms is None else "good" if trial.conforms else "bad",
        **{name: _number(entry[name]) for name in _COLUMNS},
        "locked_agreement": "–" if agreement is None else f"{agreement:.2%}",
        "problems": "; ".join(entry["problems"]),
    }


_COLUMNS = ("max_abs_error", "max_phase_error", "tolerance", "worst_ratio", "excluded_pairs", "wall_s")


def _number(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.2g}"


def render(outcome: Outcome, pictures: dict[str, str], facts: dict[str, Any]) -> str:
    """The page.

    Parameters
    ----------
    pictures : from :func:`oscsim.demo.gallery.gallery`; facts : name -> value, shown as "what was run".
    """
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = resources.files("oscsim.demo").joinpath("templates", TEMPLATE).read_text(encoding="utf-8")
    text, sections = tokens(outcome.subject.text), outcome.sections
    return environment.from_string(source).render(
        text=outcome.subject.text,
        facts=facts,
        conforms=outcome.conforms,
        failing=[f"{trial.target}: {trial.status}" for trial in outcome.trials if not trial.conforms],
        targets=[trial.target for trial in sections["pair"].trials],
        verdicts=verdicts(outcome),
        heads=heads(text, sections["pair"].reference),
        titles=TITLES,
        pictures=pictures,
        cells=[
            {"head": h, "target": visible(text[i]), "source": visible(text[j])}
            for h, i, j in outcome.cells.index.tolist()
        ],
        recorded=list(settling_arrays(outcome)[2]),
        duration=sections["clamped"].layer.duration,
        flow_tokens=flow_tokens(sections["clamped"].layer),
        approximation={name: f"{error:.2g}" for name, error in outcome.approximation_errors().items()},
        network=sections["network"].reference.conditioning,
        network_head=outcome.network_head,
        longest=LONGEST_NETWORK,
        chip=outcome.chip,
        ghz=f"{outcome.chip.layer.carrier_hz / 1e9:g}",
        time_unit_ns=f"{outcome.chip.layer.time_unit_s * 1e9:g}",
        energies=energy_rows(outcome.energy),
        energy=outcome.energy,
        constants=constant_rows(outcome.energy),
        excerpt=sections["network"].layer.n_oscillators,
    )
