"""Models that train: OSN and Kuramoto attention, which become phase layers, and a transformer beside them.

>>> import models
>>> spec = models.load_checkpoint().to_spec("Alice was beginning to get very tired")
>>> spec.mask, spec.dynamics
('causal', 'pair')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checkpoint import load_checkpoint, save_checkpoint, shipped_checkpoint_path
    from .data import load_data
    from .diagnostics import diagnose
    from .evaluate import bits_per_byte
    from .kuramoto import KuramotoAttention, KuramotoBlock, KuramotoConfig, KuramotoLanguageModel
    from .language_model import LanguageModel
    from .osn import (
        LockedFractionWarning,
        OSNBlock,
        OSNConfig,
        OSNLanguageModel,
        SynchronizationAttention,
        initialise_layer,
        initialise_model,
    )
    from .presets import preset
    from .training import TrainingConfig, train
    from .transformer import TransformerConfig, TransformerLanguageModel

__all__ = [
    "KuramotoAttention",
    "KuramotoBlock",
    "KuramotoConfig",
    "KuramotoLanguageModel",
    "LanguageModel",
    "LockedFractionWarning",
    "OSNBlock",
    "OSNConfig",
    "OSNLanguageModel",
    "SynchronizationAttention",
    "TrainingConfig",
    "TransformerConfig",
    "TransformerLanguageModel",
    "bits_per_byte",
    "diagnose",
    "initialise_layer",
    "initialise_model",
    "load_checkpoint",
    "load_data",
    "preset",
    "save_checkpoint",
    "shipped_checkpoint_path",
    "train",
]

_HOMES = {
    "checkpoint": (
        "load_checkpoint",
        "save_checkpoint",
        "shipped_checkpoint_path",
    ),
    "data": ("load_data",),
    "diagnostics": ("diagnose",),
    "evaluate": ("bits_per_byte",),
    "kuramoto": (
        "KuramotoAttention",
        "KuramotoBlock",
        "KuramotoConfig",
        "KuramotoLanguageModel",
    ),
    "language_model": ("LanguageModel",),
    "osn": (
        "LockedFractionWarning",
        "OSNBlock",
        "OSNConfig",
        "OSNLanguageModel",
        "SynchronizationAttention",
        "initialise_layer",
        "initialise_model",
    ),
    "presets": ("preset",),
    "training": (
        "TrainingConfig",
        "train",
    ),
    "transformer": (
        "TransformerConfig",
        "TransformerLanguageModel",
    ),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: importing the package alone does not import torch."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
