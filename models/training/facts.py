"""What a run is, and what it runs on."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from importlib import metadata
from typing import Any, cast

import numpy
import torch

from ..language_model import LanguageModel, ModelConfig
from .batches import Data
from .config import TrainingConfig
from .processes import Processes


def identity(
    kind: type[LanguageModel], model_config: ModelConfig, config: TrainingConfig, data: Data
) -> dict[str, Any]:
    """Return what makes a run this one and no other, plain JSON; a run is only resumed with the same."""
    parts = {f"{part}_bytes": getattr(data, part).numel() for part in ("train", "validation", "test")}
    found = {
        "model": kind.name,
        "config": asdict(cast(Any, model_config)),
        "training": asdict(config),
        "data": {"sha256": data.digest, **parts},
    }
    return json.loads(json.dumps(found))  # tuples become lists, as in the files it is compared with


def environment(group: Processes) -> dict[str, Any]:
    """Return what may change the last digits of a result: versions, device, threads, processes."""
    device = "cpu" if group.device.type == "cpu" else torch.cuda.get_device_name(group.device)
    return {
        "oscsim": metadata.version("oscsim-codesign"),
        "torch": str(torch.__version__),
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "device": device,
        "threads": torch.get_num_threads(),
        "processes": group.size,
    }
