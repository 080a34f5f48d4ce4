"""Runs a lowered layer: the only file, with the kernels, that imports torch and triton."""

import sys
import time
from dataclasses import dataclass
from functools import cache
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from triton import knobs
from triton.errors import TritonError

from hw_targets.triton.attention_run import run_attention
from hw_targets.triton.config import TritonConfig
from hw_targets.triton.network_loop import run_heads
from hw_targets.triton.plan import Launch, Lowered
from hw_targets.triton.results import Outcome, clamped_outcome, network_outcome, pair_outcome, to_result
from oscsim.errors import TargetRunError, TargetUnavailable
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec


@cache
def load_kernels(interpret: bool) -> ModuleType:
    """The kernel package, decorated for the interpreter or for compilation.

    ``triton.jit`` looks at a switch (TRITON_INTERPRET) when it decorates. The switch is set around this
    import alone, so both kinds can live in one process, and it does not matter whether triton was imported
    before. Only a process that was started with TRITON_INTERPRET=1 cannot compile: triton's own functions
    are then interpreted ones.
    """
    if knobs.runtime.interpret and not interpret:
        raise TargetRunError(
            "target 'triton': TRITON_INTERPRET is set, expected it unset to run on a GPU; "
            "unset it and start again, or use device='cpu'"
        )
    folder = Path(__file__).with_name("kernels")
    name = f"hw_targets.triton.kernels_{'interpreted' if interpret else 'compiled'}"
    file = folder / "__init__.py"
    spec = util.spec_from_file_location(name, file, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise TargetRunError(f"the kernel package is missing: expected {file}")
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    with knobs.runtime.scope():
        knobs.runtime.interpret = interpret
        spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Device:
    """Where kernels run: ``interpreted`` on the CPU, or compiled for the GPU that torch sees."""

    interpreted: bool

    @classmethod
    def choose(cls, asked: str) -> "Device":
        """What ``TritonConfig.device`` means on this machine."""
        found = torch.cuda.is_available()
        if asked == "cuda" and not found:
            raise TargetUnavailable(
                "triton",
                "device 'cuda' was asked for and torch sees no GPU (use device='cpu' for the interpreter)",
                "pip install torch, in a build for your GPU",
            )
        return cls(interpreted=asked == "cpu" or not found)

    @property
    def name(self) -> str:
        """In words, for the provenance."""
        return "CPU, interpreted" if self.interpreted else f"{torch.cuda.get_device_name()}, compiled"

    def tensor(self, array: NDArray[Any]) -> torch.Tensor:
        """A copy of an array on the device."""
        return torch.tensor(array, device="cpu" if self.interpreted else "cuda")

    def empty(self, shape: tuple[int, ...], dtype: str = "float32") -> torch.Tensor:
        """Memory that a kernel fills; NaN where it is float, so that a cell nobody wrote cannot pass."""
        kind, place = getattr(torch, dtype), "cpu" if self.interpreted else "cuda"
        return torch.full(shape, float("nan") if kind.is_floating_point else 0, dtype=kind, device=place)

    def launch(self, launch: Launch, grid: tuple[int, ...], **arguments: Any) -> None:
        """Run one kernel; NaN made inside the interpreter is an error, overflow of exp(-x) is not."""
        kernel = getattr(load_kernels(self.interpreted), launch.kernel)
        with np.errstate(over="ignore", under="ignore", divide="raise", invalid="raise"):
            kernel[grid](**arguments, **launch.sizes, **launch.constants, num_warps=launch.warps)


def run_layer(spec: PhaseLayerSpec, config: TritonConfig, lowered: Lowered) -> SyncResult:
    """Launch the kernels of a lowered layer and collect what they wrote.

    Raises
    ------
    TargetUnavailable
        a GPU was asked for and there is none.
    TargetRunError
        torch or triton failed; the message holds the original text.
    """
    started = time.perf_counter()
    device = Device.choose(config.device)
    try:
        outcome = _run(spec, config, lowered, device)
    except (TritonError, RuntimeError) as error:
        raise TargetRunError(f"target 'triton' on {device.name}: {type(error).__name__}: {error}") from error
    return to_result(spec, config, lowered, outcome, device.name, time.perf_counter() - started)


def _run(spec: PhaseLayerSpec, config: TritonConfig, lowered: Lowered, device: Device) -> Outcome:
    if spec.dynamics == "network":
        return _run_network(spec, lowered, device)
    if lowered.launches:
        return _run_tiles(spec, lowered, device)
    written = run_attention(lowered, device, config.precision, spec.mask == "causal")
    return pair_outcome(spec, lowered, written)


def _run_tiles(spec: PhaseLayerSpec, lowered: Lowered, device: Device) -> Outcome:
    memory = _allocate(lowered, device)
    for launch in lowered.launches:
        device.launch(launch, launch.grid, **{name: memory[name] for name in launch.memory})
    written = {name: memory[name].cpu().numpy().astype(np.float64) for name in lowered.buffers}
    return (pair_outcome if spec.dynamics == "pair" else clamped_outcome)(spec, lowered, written)


def _run_network(spec: PhaseLayerSpec, lowered: Lowered, device: Device) -> Outcome:
    memory = _allocate(lowered, device)
    (launch,) = lowered.launches
    step = lowered.plan["numbers"]["step"]

    def advance(heads: NDArray[np.int32], steps: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        samples = device.empty((len(heads), steps, *memory["phase"].shape[1:]))
        grid = (len(heads), *launch.grid[1:])
        device.launch(
            launch, grid, **memory, heads=device.tensor(heads), samples=samples, steps=steps, step=step
        )
        return samples.cpu().numpy(), memory["velocity"].cpu().numpy()[heads]

    return network_outcome(spec, run_heads(spec, lowered, advance))


def _allocate(lowered: Lowered, device: Device) -> dict[str, torch.Tensor]:
    inputs = {name: device.tensor(array) for name, array in lowered.arrays.items()}
    return inputs | {name: device.empty(*buffer) for name, buffer in lowered.buffers.items()}
