"""What the trained models look like block by block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from ..checkpoint import load_checkpoint
from ..diagnostics import QUANTITIES, Diagnosis, cut, diagnose
from ..training.folder import MODEL

PASSAGES = 64
BEGIN, END = "<!-- depth: begin -->", "<!-- depth: end -->"


def diagnosed(folders: Sequence[Path], validation: Tensor) -> list[Diagnosis]:
    """Diagnose the models of finished runs on the same evenly spaced passages of validation bytes."""
    found = []
    for folder in folders:
        model = load_checkpoint(folder / MODEL)
        found.append(diagnose(model, cut(validation, model.config.context, PASSAGES)))
    return found


def mean(diagnoses: Sequence[Diagnosis]) -> Diagnosis:
    """Return the mean over several trainings of the same model, block by block."""
    first = diagnoses[0]
    blocks = tuple(
        {key: sum(d.blocks[depth][key] for d in diagnoses) / len(diagnoses) for key in block}
        for depth, block in enumerate(first.blocks)
    )
    return Diagnosis(first.model, blocks, first.passages, first.length)


def lines(runs: Sequence[str], diagnoses: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    """Return the table of every run and block; a quantity that the model does not have is empty."""
    keys = [quantity.key for quantity in QUANTITIES]
    return [
        {"run": run, "block": depth, **{key: block.get(key, "") for key in keys}}
        for run, diagnosis in zip(runs, diagnoses, strict=True)
        for depth, block in enumerate(diagnosis.blocks)
    ]


def markdown(means: dict[str, Diagnosis]) -> str:
    """Return a table of the means: one line per model and quantity, one column per block."""
    depth = max(len(diagnosis.blocks) for diagnosis in means.values())
    head = " | ".join(f"block {number}" for number in range(depth))
    rows = [f"| model | quantity | {head} |", "|---|---|" + "---|" * depth]
    for name, diagnosis in means.items():
        for quantity in diagnosis.quantities:
            cells = " | ".join(f"{block[quantity.key]:.3g}" for block in diagnosis.blocks)
            title = f"{quantity.title}, {quantity.unit}" if quantity.unit else quantity.title
            escaped = title.replace("|", "\\|")
            rows.append(f"| {name} | {escaped} | {cells} |")
    some = next(iter(means.values()))
    rows += ["", f"Means over seeds and {some.passages} validation passages of {some.length} bytes."]
    return "\n".join(rows) + "\n"
