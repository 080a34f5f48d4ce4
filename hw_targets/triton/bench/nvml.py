"""The energy counter of an NVIDIA GPU, through nvidia-ml-py, which is optional.

NVML counts the energy of the whole board, in millijoules [NVML].
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from oscsim.errors import TargetRunError, TargetUnavailable
from oscsim.target import for_this_python

PACKAGE = "nvidia-ml-py"


class NvmlCounter:
    """The counter of one GPU, by its number.

    Raises
    ------
    TargetUnavailable
        no nvidia-ml-py, no NVIDIA driver, no such GPU, a GPU older than Volta, or one that is split (MIG):
        its counter is that of all parts.
    """

    def __init__(self, index: int = 0) -> None:
        self._nvml = _nvml()
        try:
            self._nvml.nvmlInit()
            self._handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
            self.device = _text(self._nvml.nvmlDeviceGetName(self._handle))
            self.driver = _text(self._nvml.nvmlSystemGetDriverVersion())
            self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle)
        except self._nvml.NVMLError as error:
            raise _unavailable(f"NVML finds no energy counter of GPU {index} ({error})") from error
        if self._split():
            raise _unavailable(f"GPU {index} is split (MIG) and its counter is that of all parts")

    def millijoules(self) -> int:
        """Energy since the driver was loaded, mJ."""
        try:
            return int(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle))
        except self._nvml.NVMLError as error:
            raise TargetRunError(f"target 'triton' on {self.device}: the energy counter: {error}") from error

    def _split(self) -> bool:
        try:
            return self._nvml.nvmlDeviceGetMigMode(self._handle)[0] == 1
        except self._nvml.NVMLError:  # a GPU that cannot be split says so by this error
            return False


def _nvml() -> Any:
    try:
        return import_module("pynvml")
    except ModuleNotFoundError:
        raise _unavailable("it needs the package nvidia-ml-py") from None


def _unavailable(reason: str) -> TargetUnavailable:
    return TargetUnavailable(
        "triton", f"energy cannot be measured here: {reason}", for_this_python(f"pip install {PACKAGE}")
    )


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
