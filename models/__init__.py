"""Trained oscillator-attention models: torch layers that become phase layers through ``to_spec``.

>>> import models
>>> spec = models.load_checkpoint().to_spec("Alice was beginning to get very tired")
>>> spec.mask, spec.dynamics
('causal', 'pair')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checkpoint import load_checkpoint, save_checkpoint, shipped_checkpoint_path
    from .evaluate import bits_per_character, locked_fractions
    from .fit import TrainingConfig, train
    from .osn import (
        LockedFractionWarning,
        OSNBlock,
        OSNConfig,
        OSNLanguageModel,
        SynchronizationAttention,
        initialise_layer,
        initialise_model,
    )
    from .text import Vocabulary, load_text

__all__ = [
    "LockedFractionWarning",
    "OSNBlock",
    "OSNConfig",
    "OSNLanguageModel",
    "SynchronizationAttention",
    "TrainingConfig",
    "Vocabulary",
    "bits_per_character",
    "initialise_layer",
    "initialise_model",
    "load_checkpoint",
    "load_text",
    "locked_fractions",
    "save_checkpoint",
    "shipped_checkpoint_path",
    "train",
]

_HOMES = {
    "checkpoint": ("load_checkpoint", "save_checkpoint", "shipped_checkpoint_path"),
    "evaluate": ("bits_per_character", "locked_fractions"),
    "fit": ("TrainingConfig", "train"),
    "osn": (
        "LockedFractionWarning",
        "OSNBlock",
        "OSNConfig",
        "OSNLanguageModel",
        "SynchronizationAttention",
        "initialise_layer",
        "initialise_model",
    ),
    "text": ("Vocabulary", "load_text"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: importing the package alone does not import torch."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
