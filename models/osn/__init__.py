"""Selective synchronization attention [SSA]: layer, pre-norm block, and a language model on bytes."""

from .attention import SynchronizationAttention
from .block import OSNBlock
from .config import OSNConfig
from .initialise import initialise_layer, initialise_model
from .language_model import OSNLanguageModel
from .locked_range import LockedFractionWarning, warn_if_outside
from .public import load_public_state_dict, public_compatible_layer

__all__ = [
    "LockedFractionWarning",
    "OSNBlock",
    "OSNConfig",
    "OSNLanguageModel",
    "SynchronizationAttention",
    "initialise_layer",
    "initialise_model",
    "load_public_state_dict",
    "public_compatible_layer",
    "warn_if_outside",
]
