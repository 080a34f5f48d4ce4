"""What oscillator models are looked at by, block by block.

The two papers claim that local order is near 1, that global order falls with depth, and that frequencies
fall with depth. Each quantity is a mean over passages, tokens, heads and channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from oscsim.errors import SpecError

from .language_model import LanguageModel, evaluating
from .training.batches import spaced_passages


@dataclass(frozen=True)
class Quantity:
    """One thing that a block may have.

    Attributes
    ----------
    key : in what :meth:`LanguageModel.diagnose` returns.
    title, unit : for axes and tables; the unit is "" where the quantity is a share of one.
    equation : what is averaged, in the notation of docs/spec.md; A are attention weights whose rows sum to 1.
    """

    key: str
    title: str
    unit: str
    equation: str


QUANTITIES = (
    Quantity("local_order", "local order", "", "|sum_u A_tu e^{i theta_u}|, of what a token attends to [KA]"),
    Quantity("global_order", "global order", "", "|(1/N) sum_t e^{i theta_t}|, of a passage [KA] [SSA]"),
    Quantity(
        "locked_fraction",
        "locked fraction",
        "",
        "share of the visible pairs j != i with |omega_i - omega_j| <= K r_i J_ij, the condition of [ADLER]",
    ),
    Quantity("mean_abs_omega", "mean |ω|", "rad per time unit", "|omega|, of learned frequencies [KA] [SSA]"),
    Quantity("attention_entropy", "attention entropy", "bit", "-sum_u A_tu log2 A_tu (Shannon, 1948)"),
)
"""[KA] Nunley, arXiv 2606.11585 (2026); [SSA] synchronization attention, docs/spec.md; [ADLER] Adler, Proc.
IRE 34 (1946). The time unit of [KA]'s frequencies is a step from one token to the next; that of [SSA]'s is
the layer's own."""


@dataclass(frozen=True)
class Diagnosis:
    """Means over passages.

    Attributes
    ----------
    model : name of the model.
    blocks : one dictionary per block, from the input upwards; a quantity the model does not have is absent.
    passages, length : how many passages, of how many bytes.
    """

    model: str
    blocks: tuple[dict[str, float], ...]
    passages: int
    length: int

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Those that at least one block has."""
        return tuple(q for q in QUANTITIES if any(q.key in block for block in self.blocks))

    def to_json(self) -> dict[str, Any]:
        """Everything, with the equation and unit of every quantity."""
        return {
            "model": self.model,
            "passages": self.passages,
            "length": self.length,
            "quantities": {q.key: {"unit": q.unit, "equation": q.equation} for q in self.quantities},
            "blocks": [dict(block) for block in self.blocks],
        }


def diagnose(model: LanguageModel, passages: Tensor, batch: int = 8) -> Diagnosis:
    """Return what :meth:`LanguageModel.diagnose` finds, averaged over passages.

    Parameters
    ----------
    model : the model; dropout is off while measuring.
    passages : bytes, shape (B, N), at least one passage of at least two bytes, N <= context.
    batch : passages at a time; dense N by N matrices of every head are in memory.

    Raises
    ------
    SpecError
        another shape, or passages that are longer than the model was trained on.

    >>> import torch
    >>> from models.transformer import TransformerConfig, TransformerLanguageModel
    >>> model = TransformerLanguageModel(TransformerConfig(width=8, heads=2))
    >>> [q.title for q in diagnose(model, torch.zeros(2, 5)).quantities]
    ['attention entropy']
    """
    context = model.config.context
    if passages.dim() != 2 or not len(passages) or not 2 <= passages.shape[1] <= context:
        raise SpecError(
            f"passages: given shape {tuple(passages.shape)}; expected (B, N) with B >= 1 and N from 2 to the "
            f"model's context, {context}; use a longer text, or cut it into passages"
        )
    totals: list[dict[str, float]] = []
    with evaluating(model):
        for chunk in passages.long().split(batch):
            rows = model.diagnose(chunk.to(model.device))
            totals = totals or [dict.fromkeys(row, 0.0) for row in rows]
            for total, row in zip(totals, rows, strict=True):
                for key, value in row.items():
                    total[key] += value * len(chunk)
    count = len(passages)
    means = tuple({key: value / count for key, value in total.items()} for total in totals)
    return Diagnosis(model.name, means, count, passages.shape[1])


def cut(tokens: Tensor, context: int, most: int = 16) -> Tensor:
    """Return passages of a text, shape (B, N): the whole of a short one, else evenly spaced contexts.

    A text of several contexts gives as many passages as it holds side by side, at most ``most``.

    >>> import torch
    >>> cut(torch.arange(3), 4).tolist(), cut(torch.arange(8), 4).tolist()
    ([[0, 1, 2]], [[0, 1, 2, 3], [4, 5, 6, 7]])
    """
    if len(tokens) <= context:
        return tokens.unsqueeze(0)
    return spaced_passages(tokens, context, min(most, len(tokens) // context))
