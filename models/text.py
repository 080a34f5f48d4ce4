"""The training text shipped with the package, and the character vocabulary made from it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources

import torch
from torch import Tensor

from oscsim.errors import SpecError

TEXT_NAME = "alice.txt"
"""Lewis Carroll, Alice's Adventures in Wonderland (1865), public domain."""


def load_text() -> str:
    """Return the shipped public-domain text, about 144,000 characters.

    >>> load_text()[:32]
    "ALICE'S ADVENTURES IN WONDERLAND"
    """
    source = resources.files(__package__ or __name__).joinpath("data", TEXT_NAME)
    return source.read_bytes().decode("utf-8")


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal.

    >>> text_digest("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


@dataclass(frozen=True)
class Vocabulary:
    """The characters a model knows; a token is an index into ``characters``.

    >>> letters = Vocabulary.of("banana")
    >>> letters.characters, letters.encode("nab").tolist()
    ('abn', [2, 0, 1])
    >>> letters.decode(letters.encode("nab"))
    'nab'
    """

    characters: str

    @classmethod
    def of(cls, text: str) -> Vocabulary:
        """Return the vocabulary of the distinct characters of ``text``, in code-point order."""
        return cls("".join(sorted(set(text))))

    def __len__(self) -> int:
        return len(self.characters)

    def encode(self, text: str) -> Tensor:
        """Return the tokens of ``text``, shape (N,), int64.

        Raises
        ------
        SpecError
            a character is not in the vocabulary.
        """
        index = {character: token for token, character in enumerate(self.characters)}
        unknown = sorted(set(text) - set(index))
        if unknown:
            raise SpecError(
                f"given text with {len(unknown)} unknown character(s) {unknown[:5]!r}; expected "
                f"only the {len(self)} characters of the vocabulary {self.characters!r}; "
                "replace or remove the others before encoding"
            )
        return torch.tensor([index[character] for character in text], dtype=torch.long)

    def decode(self, tokens: Tensor) -> str:
        """Return the text of tokens of shape (N,).

        Raises
        ------
        SpecError
            a token lies outside 0 .. len - 1, or the shape is not (N,).
        """
        self.check(tokens)
        return "".join(self.characters[token] for token in tokens.tolist())

    def check(self, tokens: Tensor) -> None:
        """Refuse tokens that are not a one-dimensional integer passage of this vocabulary."""
        if tokens.dim() != 1 or tokens.is_floating_point() or tokens.is_complex():
            raise SpecError(
                f"given tokens of shape {tuple(tokens.shape)} and type {tokens.dtype}; expected "
                "integers of shape (N,); pass one passage, or text"
            )
        if not tokens.numel():
            return
        low, high = int(tokens.min()), int(tokens.max())
        if low < 0 or high >= len(self):
            raise SpecError(
                f"given tokens between {low} and {high}; expected "
                f"0 to {len(self) - 1}; encode the text with this model's own vocabulary"
            )
