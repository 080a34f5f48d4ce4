"""The processes that train one model together, and the state of torch they train in."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from oscsim.errors import ConfigError, OscsimError

Result = TypeVar("Result")

# All processes wait in a broadcast while process 0 measures the held-out bytes. Torch's own 10 or 30 minutes
# may be shorter, and then every resume fails at the end. A process that dies is noticed by torchrun.
_LONGEST_WAIT = timedelta(hours=12)


@dataclass(frozen=True)
class Processes:
    """This process among those that train together; process 0 alone writes files and reports.

    Attributes
    ----------
    rank, size : number of this process, and of processes.
    device : where this process computes.
    """

    rank: int
    size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this is process 0."""
        return self.rank == 0

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean of a tensor over all processes, the same bits in each."""
        if self.size == 1:
            return value
        total = value.clone()
        distributed.all_reduce(total)
        return total / self.size

    def average_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace the gradients, where there are any, by their mean over all processes."""
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        if self.size == 1:
            return
        # One message after the backward pass: hooks that send during it would compete, in an order that
        # may differ between processes, with what a model's own loss sends.
        mean = self.mean(torch.cat([gradient.flatten() for gradient in gradients]))
        for gradient, part in zip(gradients, mean.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def share(self, model: nn.Module) -> None:
        """Give all processes the parameters of process 0."""
        if self.size > 1:
            for tensor in model.state_dict().values():
                distributed.broadcast(tensor, 0)

    def gather(self, value: Any) -> list[Any]:
        """Return the value of each process, in order."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def once(self, function: Callable[[], Result]) -> Result:
        """Let process 0 call a function, and return its result, or raise its error, in all."""
        if self.size == 1:
            return function()
        error: Exception | None = None
        answer: list[Any] = [None, None]
        if self.first:
            try:
                answer[0] = function()
            except Exception as caught:  # passed on below; the others would wait for ever
                error, answer[1] = caught, str(caught)
        distributed.broadcast_object_list(answer)
        if error is not None:
            raise error
        if answer[1] is not None:
            raise OscsimError(f"process 0 stopped: {answer[1]}")
        return answer[0]


@contextmanager
def processes(device: str | torch.device | None) -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started, or be the only one.

    Parameters
    ----------
    device : None is this process's GPU where there is one, else the CPU.
    """
    chosen = _device(device, int(os.environ.get("LOCAL_RANK", "0")))
    joined = int(os.environ.get("WORLD_SIZE", "1")) > 1 and not distributed.is_initialized()
    if joined:
        _join("nccl" if chosen.type == "cuda" else "gloo")
    try:
        if distributed.is_initialized():
            yield Processes(distributed.get_rank(), distributed.get_world_size(), chosen)
        else:
            yield Processes(0, 1, chosen)
    finally:
        if joined:
            distributed.destroy_process_group()


_groups = itertools.count()


def _join(backend: str) -> None:
    """Make the process group of one run, which leaves nothing behind when it is destroyed."""
    # Functions of this module keep the group that exists when it is imported, as a default argument. If
    # that were ours, its threads would go on, and one that is busy when Python ends aborts the process.
    import_module("torch.distributed.nn.functional")
    store, rank, size = next(iter(rendezvous("env://")))
    # A later run of the same processes must not find the addresses of an earlier one in the store.
    store = PrefixStore(f"oscsim{next(_groups)}", store)
    distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_LONGEST_WAIT)


def _device(device: str | torch.device | None, local_rank: int) -> torch.device:
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    chosen = torch.device(device)
    if chosen.type == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError(f"device: given {str(device)!r}, but torch sees no GPU; use 'cpu'")
        chosen = torch.device("cuda", local_rank if chosen.index is None else chosen.index)
        torch.cuda.set_device(chosen)
    return chosen


@contextmanager
def reproducible(device: torch.device) -> Iterator[None]:
    """Train with deterministic kernels; leave global state, the random one included, as it was."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else cuBLAS refuses to be deterministic
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        # Of the CUDA kernels that torch has no deterministic version of, models need the cumsum of floats
        # (https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html): an error
        # would end the run. So torch only warns there.
        torch.use_deterministic_algorithms(True, warn_only=device.type == "cuda")
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
