"""Training of the language models: one reproducible, resumable run per folder.

>>> from models import training
>>> training.TrainingConfig(learning_rate=3e-3).steps
2000
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batches import Data
    from .clock import WallTimeWarning
    from .config import TrainingConfig
    from .failure import TrainingDiverged
    from .recorder import Report
    from .run import EnvironmentWarning, Outcome
    from .schedule import learning_rate_factor
    from .trainer import train

__all__ = [
    "Data",
    "EnvironmentWarning",
    "Outcome",
    "Report",
    "TrainingConfig",
    "TrainingDiverged",
    "WallTimeWarning",
    "learning_rate_factor",
    "train",
]

_HOMES = {
    "batches": ("Data",),
    "clock": ("WallTimeWarning",),
    "config": ("TrainingConfig",),
    "failure": ("TrainingDiverged",),
    "recorder": ("Report",),
    "run": ("EnvironmentWarning", "Outcome"),
    "schedule": ("learning_rate_factor",),
    "trainer": ("train",),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: importing the package alone does not import torch."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
