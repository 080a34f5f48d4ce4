"""What every language model of this package offers: bytes in, scores of the next byte out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, cast, get_args, get_origin, get_type_hints

import torch
from torch import Tensor, nn
from torch.nn import functional

from hw_targets.triton.ops import Implementation
from oscsim import PhaseLayerSpec
from oscsim.errors import SpecError

BYTES = 256
"""A token is a byte, 0 to 255; there is no other vocabulary."""


class ModelConfig(Protocol):
    """What the configurations of all models have in common; each is a frozen dataclass.

    context : bytes that the model is trained and evaluated on at a time.
    """

    @property
    def context(self) -> int: ...


class Losses(NamedTuple):
    """What training minimises: the sum of both."""

    cross_entropy: Tensor  # scalar, nats per byte
    penalty: Tensor  # scalar, a model's own regulariser; zero where it has none


class LanguageModel(nn.Module):
    """Base of the models: a stack of blocks between an embedding of bytes and a read-out of the next one.

    Subclasses implement ``forward`` and ``diagnose``; the rest has a default.

    Attributes
    ----------
    name : the model's name on the command line and in files.
    config : its shape; with ``name`` everything that is needed to build it again.
    record : how a loaded checkpoint was trained (empty for a new model).
    """

    name: ClassVar[str]

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.record: dict[str, Any] = {}

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, N, 256) of the byte after each of ``tokens`` (B, N), int64.

        In a causal model row i depends on tokens 0 .. i only.
        """
        raise NotImplementedError

    def losses(self, tokens: Tensor, targets: Tensor) -> Losses:
        """Return the mean cross-entropy of ``targets`` (B, N) after ``tokens`` (B, N), and the penalty."""
        logits = self(tokens)
        cross_entropy = functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
        return Losses(cross_entropy, cross_entropy.new_zeros(()))

    def prepare(self, passages: Tensor) -> None:
        """Initialise what depends on data, from real passages (B, N), before the first step."""

    def watch(self, passages: Tensor, step: int) -> None:
        """Warn of what goes wrong inside, on real passages (B, N), ``step`` steps into a training."""

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> list[dict[str, Any]]:
        """Return optimiser groups: matrices decay, vectors (biases, norms, scales) do not."""
        matrices = [p for p in self.parameters() if p.dim() > 1]
        vectors = [p for p in self.parameters() if p.dim() <= 1]
        return [
            {"params": matrices, "lr": learning_rate, "weight_decay": weight_decay},
            {"params": vectors, "lr": learning_rate, "weight_decay": 0.0},
        ]

    def use(self, implementation: Implementation | None) -> None:
        """Choose who computes the attention: "triton", "native", "eager", or None for the device's own."""
        raise NotImplementedError

    def diagnose(self, tokens: Tensor) -> list[dict[str, float]]:
        """Return what can be measured of each block on passages (B, N), from the input upwards.

        Keys, each present only where the model has the quantity (see ``models.diagnostics``):
        ``local_order``, ``global_order``, ``locked_fraction``, ``mean_abs_omega``, ``attention_entropy``.
        """
        raise NotImplementedError

    def to_spec(
        self, passage: str | bytes | Tensor, block: int = 0, dynamics: str | None = None, **fields: Any
    ) -> PhaseLayerSpec:
        """Return the phase layer that a block makes of a real passage.

        Parameters
        ----------
        passage : text (in UTF-8), bytes, or tokens of shape (N,).
        block : which block, counted from the input.
        dynamics : 'pair', 'network' or 'clamped'; None is the model's own.
        **fields : further fields of the spec, such as ``time_unit_s`` or ``duration``.

        Raises
        ------
        SpecError
            tokens that are no bytes, an empty passage, no such block, a field that the spec refuses, or a
            model that is not made of oscillators.
        """
        raise SpecError(
            f"given a {self.name} model, which has no phase layers; expected an osn or a kuramoto model"
        )

    def check_passage(self, passage: str | bytes | Tensor, block: int) -> Tensor:
        """Return the tokens (1, N) of a passage on the model's device; SpecError as :meth:`to_spec`."""
        tokens = passage if isinstance(passage, Tensor) else self.encode(passage)
        check_tokens(tokens)
        if not tokens.numel():
            raise SpecError("given an empty passage; expected at least one byte; pass some text")
        blocks = len(cast("nn.ModuleList", self.blocks))
        if not 0 <= block < blocks:
            raise SpecError(
                f"given block {block}; expected 0 to {blocks - 1}; count blocks from the input, starting at 0"
            )
        return tokens.to(self.device).unsqueeze(0)

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def parameter_count(self) -> int:
        """Return the number of trained numbers; a tensor that is used twice counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    @staticmethod
    def encode(text: str | bytes) -> Tensor:
        """Return the tokens of a text (in UTF-8) or of bytes, shape (N,), int64.

        >>> LanguageModel.encode("né").tolist()
        [110, 195, 169]
        """
        data = text.encode("utf-8") if isinstance(text, str) else text
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).long() if data else torch.zeros(0).long()

    @staticmethod
    def decode(tokens: Tensor) -> bytes:
        """Return the bytes of tokens of shape (N,).

        >>> LanguageModel.decode(torch.tensor([111, 115, 99]))
        b'osc'

        Raises
        ------
        SpecError
            not one passage of integers from 0 to 255.
        """
        check_tokens(tokens)
        return bytes(tokens.tolist())


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Turn dropout and gradients off for the length of a with statement.

    >>> layer = nn.Dropout(0.5)
    >>> with evaluating(layer):
    ...     layer(torch.ones(2)).tolist()
    [1.0, 1.0]
    >>> layer.training
    True
    """
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


def check_shape(config: Any) -> None:
    """Refuse a model configuration with impossible values, field by field.

    Whole numbers have to be at least 1, ``dropout`` in [0, 1), other numbers finite and not negative, and a
    field that is one of several words has to be one of them.

    Raises
    ------
    SpecError
        names the field, what was given and what was expected.
    """
    hints = get_type_hints(type(config))
    for field in fields(config):
        value, kind = getattr(config, field.name), hints[field.name]
        if expected := _problem(field.name, value, kind):
            raise SpecError(f"{field.name}: given {value!r}; expected {expected}; change it")


def _problem(name: str, value: Any, kind: Any) -> str | None:
    """What was expected of a field, or None when its value is fine."""
    if get_origin(kind) is Literal:
        return None if value in get_args(kind) else f"one of {', '.join(map(repr, get_args(kind)))}"
    if kind is bool:
        return None if isinstance(value, bool) else "True or False"
    if kind is int:
        return None if type(value) is int and value >= 1 else "a whole number, at least 1"
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        fine = number and 0.0 <= value < (1.0 if name == "dropout" else math.inf)
        return None if fine else "a number from 0 to below " + ("1" if name == "dropout" else "infinity")
    return None


def check_tokens(tokens: Tensor) -> None:
    """Refuse what is not one passage of bytes, shape (N,), integers from 0 to 255."""
    if tokens.dim() != 1 or tokens.is_floating_point() or tokens.is_complex():
        raise SpecError(
            f"given tokens of shape {tuple(tokens.shape)} and type {tokens.dtype}; expected "
            "integers of shape (N,); pass one passage, or text"
        )
    if tokens.numel() and not (int(tokens.min()) >= 0 and int(tokens.max()) < BYTES):
        raise SpecError(
            f"given tokens between {int(tokens.min())} and {int(tokens.max())}; expected bytes, 0 to 255; "
            "encode the text with this model's encode"
        )
