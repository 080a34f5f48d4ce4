"""Do the runs of an experiment, several at a time, each in its own folder and resumable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from typing import Any

import torch

from ..data import load_data
from ..training import train
from .plan import Run

Progress = Callable[[str, int, float], None]
"""Called with a run's name, its steps done and its loss in bits per byte."""


def work(
    runs: Sequence[Run], data: str, folder: Path, jobs: int, progress: Progress, device: str = "cpu"
) -> list[dict[str, Any]]:
    """Do what is not done yet, and return the results of all runs, in order.

    Parameters
    ----------
    runs : what to train; finished ones are read, interrupted ones resumed.
    data : source, see :func:`models.data.load_data`.
    folder : one folder per run is made in it.
    jobs : processes at a time, of one thread each, so that no result depends on how many there are.
    progress : see ``Progress``.
    device : "cpu" or "cuda".
    """
    context = get_context("spawn")
    with (
        context.Manager() as manager,
        ProcessPoolExecutor(jobs, context, torch.set_num_threads, (1,)) as pool,
    ):
        news = manager.Queue()
        futures = [pool.submit(_train, run, data, folder / run.name, news, device) for run in runs]
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=1.0, return_when=FIRST_EXCEPTION)
            while not news.empty():
                progress(*news.get())
            if any(future.exception() for future in done):
                pool.shutdown(wait=False, cancel_futures=True)
                break
        return [future.result() for future in futures]


def _train(
    run: Run, data: str, folder: Path, news: Queue[tuple[str, int, float]], device: str
) -> dict[str, Any]:
    def report(step: int, bits: float, *_: object) -> None:
        news.put((run.name, step, bits))

    source = load_data(data, run.config.context)
    outcome = train(run.model, run.config, run.training, source, folder, report, resume=True, device=device)
    news.put((run.name, run.training.steps, outcome.results["validation_bits_per_byte"]))
    return {"variant": run.variant, "run": run.name, **outcome.results}
