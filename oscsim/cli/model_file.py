"""Models behind the command line: imported late, loaded from a file, put on a device."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oscsim.cli.arguments import SHIPPED
from oscsim.cli.files import check_distinct
from oscsim.errors import ConfigError, TargetUnavailable

MODELS_COMMAND = "pip install -e '.[models]'"
_NEEDED = ("torch", "tensorboard")


@contextmanager
def models_needed() -> Iterator[None]:
    """Around imports from the package ``models``: say what is missing, and what installs it.

    Raises
    ------
    TargetUnavailable
        torch or tensorboard is not installed.
    ConfigError
        another package of this name is found first.
    """
    try:
        yield
    except ImportError as error:
        missing, name = isinstance(error, ModuleNotFoundError), error.name or ""
        if missing and name in _NEEDED:
            raise TargetUnavailable("models", f"package {name} is not installed", MODELS_COMMAND) from None
        if name == "models" or (missing and name.startswith("models.")):
            raise ConfigError("another package named 'models' shadows this one; run oscsim doctor") from None
        raise


def load_model(checkpoint: str, written: dict[str, str | None]) -> tuple[Any, dict[str, Any]]:
    """A trained model and facts about its file; torch is imported here and nowhere before.

    Parameters
    ----------
    checkpoint : a file, or ``shipped`` for the one of this package.
    written : option -> file the command is going to write, none of which may be the shipped model.
    """
    from hashlib import sha256

    with models_needed():
        from models import load_checkpoint, shipped_checkpoint_path
    path = shipped_checkpoint_path() if checkpoint == SHIPPED else Path(checkpoint)
    check_distinct({"the shipped model": str(shipped_checkpoint_path())}, written)
    with models_needed():
        model = load_checkpoint(path)
    name = SHIPPED if checkpoint == SHIPPED else path.name
    return model, {"name": name, "sha256": sha256(path.read_bytes()).hexdigest(), "record": model.record}


def named(checkpoint: str) -> str | None:
    """The model file the user named; where the shipped one lies is known once models is imported."""
    return None if checkpoint == SHIPPED else checkpoint


def chosen_device(given: str | None, threads: int | None = None) -> str:
    """Where torch computes: as given, else the GPU where torch sees one; also sets the threads of the CPU.

    Raises
    ------
    ConfigError
        no such device, or less than one thread.
    """
    with models_needed():
        import torch
    if threads is not None:
        if threads < 1:
            raise ConfigError(f"--threads: given {threads}, expected at least 1")
        torch.set_num_threads(threads)
    if given is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if re.fullmatch(r"cpu|cuda(:\d+)?", given) is None:
        raise ConfigError(f"--device: given {given!r}, expected cpu, cuda or cuda:NUMBER")
    seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if given != "cpu" and int(given.partition(":")[2] or 0) >= seen:
        raise ConfigError(
            f"--device: given {given}, but torch sees {seen or 'no'} GPU{'s' if seen > 1 else ''}; use cpu"
        )
    return given


def checked_implementation(given: str | None, device: str) -> str | None:
    """Refuse an implementation of the attention that this device does not have, before any work."""
    if given is not None:
        with models_needed():
            import torch

            from hw_targets.triton.ops.implementations import choose
        choose(given, torch.device(device))
    return given


def best_precision(device: str) -> str:
    """The precision of a training where nobody asks for another one: bfloat16 where a GPU computes in it."""
    import torch

    has_it = device != "cpu" and torch.cuda.is_bf16_supported(including_emulation=False)
    return "bfloat16" if has_it else "float32"


def cpu_threads() -> int:
    """How many threads torch takes on the CPU."""
    import torch

    return torch.get_num_threads()
