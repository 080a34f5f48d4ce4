"""A model of a few hundred parameters and its runs; as a script, runs that are killed on the way.

``python tiny_run.py PARENT MOMENT ...``: runs in PARENT/MOMENT, killed by SIGKILL then, see ``MOMENTS``.
``torchrun --nproc_per_node=2 tiny_run.py PARENT``: two processes train together.
"""

import hashlib
import os
import signal
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import torch
from torch import nn

from models.language_model import LanguageModel
from models.training import TrainingConfig, train
from oscsim.errors import OscsimError


@dataclass(frozen=True)
class TinyConfig:
    context: int = 8
    width: int = 4
    dropout: float = 0.2


class TinyLanguageModel(LanguageModel):
    """Predicts a byte from the one before; ``prepare`` takes the bias from the data's frequencies."""

    name = "tiny"

    def __init__(self, config):
        super().__init__(config)
        self.embedding = nn.Embedding(256, config.width)
        self.drop = nn.Dropout(config.dropout)
        self.scale = nn.Parameter(torch.ones(()))
        self.head = nn.Linear(config.width, 256)
        self.implementation = "not chosen"

    def forward(self, tokens):
        return self.head(self.scale * self.drop(self.embedding(tokens).tanh()))

    def prepare(self, passages):
        counts = torch.bincount(passages.flatten(), minlength=256) + 1.0
        with torch.no_grad():
            self.head.bias.copy_(counts.log() - counts.log().mean())

    def use(self, implementation):
        self.implementation = implementation


@dataclass(frozen=True)
class TinyData:
    train: torch.Tensor
    validation: torch.Tensor
    test: torch.Tensor
    digest: str
    name: str = "letters"


def data(length=600, seed=0):
    """Letters that mostly follow each other in the alphabet."""
    generator = torch.Generator().manual_seed(seed)
    steps = torch.randint(1, 4, (length,), generator=generator)
    letters = (97 + steps.cumsum(0) % 26).to(torch.uint8)
    train_part, validation, test = letters.split([length - 200, 100, 100])
    return TinyData(train_part, validation, test, hashlib.sha256(bytes(letters.tolist())).hexdigest())


def config(**changes):
    """Twelve steps; checkpoints after 0, 5, 10 and 12."""
    defaults = {
        "learning_rate": 0.03, "steps": 12, "batch": 4, "warm_up": 3, "log_every": 2, "validate_every": 6,
        "validation_windows": 4, "checkpoint_every": 5,
    }  # fmt: skip
    return TrainingConfig(**{**defaults, **changes})


def run(folder, report=None, *, shape=None, source=None, resume=True, kind=TinyLanguageModel, **changes):
    return train(
        kind, shape or TinyConfig(), config(**changes), source or data(), folder, report, resume=resume
    )


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def between_checkpoints():
    """After the row of step 8, three steps after a checkpoint."""
    return lambda step, *_: kill() if step == 8 else None


def _at_write(wanted, count, action):
    """Do something else than the ``count``-th write of a file."""
    from oscsim import io

    whole, seen = io._write_beside, []

    def write(path, contents):
        seen.append(path.name)
        if path.name == wanted and seen.count(wanted) == count:
            action(path, contents)
        return whole(path, contents)

    io._write_beside = write


def _half(path, contents):
    (path.parent / f".{path.name}.abcdefgh").write_bytes(contents[: len(contents) // 2])
    kill()


def in_the_first_checkpoint():
    """Half of the checkpoint of step 0 is in its temporary file."""
    _at_write("checkpoint.safetensors", 1, _half)


def in_a_checkpoint():
    """Half of the checkpoint of step 10 is in its temporary file."""
    _at_write("checkpoint.safetensors", 3, _half)


def before_a_rename():
    """The checkpoint of step 5 is complete, under its temporary name."""
    from oscsim import io

    replace = os.replace
    io.os = type(sys)("os")  # the module of one file only
    io.os.__dict__.update(os.__dict__)

    def rename(source, target):
        if Path(target).name == "checkpoint.safetensors" and Path(target).exists():
            kill()
        replace(source, target)

    io.os.replace = rename


def in_a_row():
    """Half of the row of step 8 is in the log."""
    from models.training import log

    whole = log.Log.append

    def append(self, row):
        if row.step == 8:
            self._stream.write(row.line().encode()[:9])
            self._stream.flush()
            kill()
        whole(self, row)

    log.Log.append = append


def before_the_results():
    """All steps are done and the model is written."""
    _at_write("results.json", 1, lambda *_: kill())


def from_outside():
    """Slowly, until somebody else kills this process."""
    return lambda *_: time.sleep(0.2)


MOMENTS = {
    moment.__name__: moment
    for moment in (
        between_checkpoints, in_the_first_checkpoint, in_a_checkpoint, before_a_rename, in_a_row,
        before_the_results, from_outside,
    )
}  # fmt: skip


def main(folder, *moments):
    """Kill one process per moment; forking is safe as long as torch has not computed anything."""
    for slow in ("torch.utils.tensorboard", "torch._dynamo"):  # once, and not in each child
        import_module(slow)
    for moment in moments:
        child = os.fork()
        if child == 0:
            run(Path(folder) / moment, MOMENTS[moment]())
            os._exit(0)
        (Path(folder) / f"{moment}.pid").write_text(str(child))
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            raise SystemExit(f"{moment}: status {status}, expected to be killed")


class Spoiled(nn.Module):
    """Passes its input on, and from the third pass on NaN; in process 1 only, where there are two."""

    def __init__(self):
        super().__init__()
        self.passes = 0

    def forward(self, inputs):
        self.passes += self.training
        if self.passes < 3 or os.environ.get("RANK", "1") != "1":
            return inputs
        return inputs * float("nan")


class SpoiledLanguageModel(TinyLanguageModel):
    name = "spoiled"

    def __init__(self, config):
        super().__init__(config)
        self.drop = nn.Sequential(nn.Dropout(config.dropout), Spoiled())


def in_two_processes(folder):
    """A run, one that goes wrong in process 1, and one that is refused; for ``torchrun``."""
    rank, messages = os.environ["RANK"], []
    quiet = TinyConfig(dropout=0.0)
    run(folder / "shared", shape=quiet)
    for attempt in (
        lambda: run(folder / "spoiled", kind=SpoiledLanguageModel),
        lambda: run(folder / "shared", shape=quiet, resume=False),
        lambda: run(folder / "shared", shape=quiet),
    ):
        try:
            messages.append(f"already complete: {attempt().already_complete}")
        except OscsimError as error:
            messages.append(f"{type(error).__name__}: {error}")
    (folder / f"messages{rank}").write_text("\n".join(messages))
    threads = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
    (folder / f"threads{rank}").write_text("".join(threads))


if __name__ == "__main__":
    if "RANK" in os.environ:
        in_two_processes(Path(sys.argv[1]))
    else:
        main(*sys.argv[1:])
