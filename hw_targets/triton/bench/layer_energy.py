"""Measured energy of one evaluation of a layer by the kernels of the triton target."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch

from hw_targets.triton.bench.energy import Counter, EnergyOptions, measure
from hw_targets.triton.bench.nvml import NvmlCounter
from hw_targets.triton.bench.session import require_device
from hw_targets.triton.ops import ssa_attention, synchronization_matrix
from hw_targets.triton.run import Device
from hw_targets.triton.target import TritonExecutable, TritonTarget
from oscsim.energy.measured import MeasuredEnergy
from oscsim.errors import ConfigError
from oscsim.spec import PhaseLayerSpec


def layer_energy(
    spec: PhaseLayerSpec, options: EnergyOptions | None = None, counter: Counter | None = None, **config: str
) -> MeasuredEnergy:
    """Joules per evaluation on the first GPU: inputs are there already, results stay there.

    What runs is what the plan counts: S and the output of a pair layer, the kernels of a clamped one.

    Parameters
    ----------
    config : options of the target, as ``precision="fast"``.

    Raises
    ------
    TargetUnavailable
        no GPU, or none with an energy counter.
    ConfigError
        a network, whose steps the host starts one batch after another.
    """
    require_device("cuda")
    counter = counter or NvmlCounter(torch.cuda.current_device())
    target = TritonTarget()
    executable = cast(TritonExecutable, target.lower(spec, target.config(device="cuda", **config)))
    call = kernels(executable, Device.choose("cuda"))
    what = f"{spec.dynamics} layer, H = {spec.n_heads}, N = {spec.n_oscillators}, D = {spec.n_channels}"
    return measure(call, torch.cuda.synchronize, f"{what}, kernels of target triton", counter, options)


def kernels(executable: TritonExecutable, device: Device) -> Callable[[], None]:
    """What starts the kernels of a lowered layer once; its memory is allocated here."""
    lowered, spec = executable.lowered, executable.spec
    if spec.dynamics == "network":
        raise ConfigError(
            "layer_energy: given a network layer, whose steps the host starts batch by batch; expected pair "
            "or clamped: measure a whole run() with hw_targets.triton.bench.energy.measure"
        )
    memory = {name: device.tensor(array) for name, array in lowered.arrays.items()}
    memory |= {name: device.empty(*buffer) for name, buffer in lowered.buffers.items()}
    if lowered.launches:

        def tiles() -> None:
            for launch in lowered.launches:
                device.launch(launch, launch.grid, **{name: memory[name] for name in launch.memory})

        return tiles
    omega, values, valid = (memory.pop(name) for name in ("omega", "values", "valid"))
    options = {
        **memory, "causal": spec.mask == "causal", "precision": executable.config.precision, "padding": ~valid
    }  # fmt: skip

    def fused() -> None:
        synchronization_matrix(omega, impl="triton", **options)
        ssa_attention(omega, values, impl="triton", **options)

    return fused
