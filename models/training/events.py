"""Event files of a run for TensorBoard."""

from __future__ import annotations

from importlib import util
from pathlib import Path

from oscsim.errors import TargetUnavailable


def require_tensorboard() -> None:
    """Refuse to train without the package that writes event files, before anything is done.

    Raises
    ------
    TargetUnavailable
        it is not installed.
    """
    if util.find_spec("tensorboard") is None:
        raise TargetUnavailable(
            "tensorboard", "package tensorboard, which writes a run's event files, is not installed",
            "pip install -e '.[models]'",
        )  # fmt: skip


class Events:
    """Event files in a folder.

    Parameters
    ----------
    folder : of the event files.
    done : steps of the checkpoint that the run goes on from: later points of a killed process no
        longer show. With 0 nothing of an earlier process shows.
    """

    def __init__(self, folder: Path, done: int) -> None:
        from torch.utils.tensorboard import SummaryWriter  # takes a second to import

        self._writer = SummaryWriter(str(folder), purge_step=done + 1)

    def add(self, step: int, values: dict[str, float | None]) -> None:
        """Add a point to each curve that has one at this step."""
        for name, value in values.items():
            if value is not None:
                self._writer.add_scalar(name, value, step)

    def flush(self) -> None:
        """Hand all points to the operating system, before a checkpoint says that they are there."""
        self._writer.flush()

    def close(self) -> None:
        """Close the files."""
        self._writer.close()
