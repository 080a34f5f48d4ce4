"""Joules of a call from a counter that jumps: a fake GPU whose true power and true clock are known."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from relative import relative

from hw_targets.triton.bench.energy import Clock, EnergyOptions, measure
from hw_targets.triton.bench.layer_energy import kernels, layer_energy
from hw_targets.triton.bench.nvml import NvmlCounter
from hw_targets.triton.run import Device
from hw_targets.triton.target import TritonTarget
from oscsim.coupling import ExplicitCoupling, FrequencyCoupling
from oscsim.energy import EnergyError
from oscsim.errors import ConfigError, TargetRunError, TargetUnavailable
from oscsim.spec import PhaseLayerSpec

IDLE_W, BUSY_W, RUN_S = 80.0, 480.0, 0.0007


class FakeGpu:
    """Draws IDLE_W or BUSY_W; its counter shows the energy of the last whole step, in whole millijoules."""

    device, driver = "fake GPU", "1.0"

    def __init__(self, step_s: float = 0.1, broken_at: float | None = None, idle_w: float = IDLE_W) -> None:
        self.now, self.true_j, self.shown_j, self.pending = 0.0, 0.0, 0.0, 0
        self.step_s, self.broken_at, self.idle_w = step_s, broken_at, idle_w
        self.next_step = step_s
        self.runs = 0

    def spend(self, seconds: float, watts: float) -> None:
        while self.now + seconds >= self.next_step:
            part = self.next_step - self.now
            self.true_j += part * watts
            self.now, seconds = self.next_step, seconds - part
            self.shown_j = self.true_j
            self.next_step += self.step_s
        self.true_j += seconds * watts
        self.now += seconds

    def call(self) -> None:
        self.pending += 1

    def synchronize(self) -> None:
        self.spend(self.pending * RUN_S, BUSY_W)
        self.runs, self.pending = self.runs + self.pending, 0

    def millijoules(self) -> int:
        self.spend(1e-6, self.idle_w)
        if self.broken_at is not None and self.now > self.broken_at:
            self.broken_at = None
            self.true_j = self.shown_j = 0.0
        return int(self.shown_j * 1e3)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, lambda seconds: self.spend(seconds, self.idle_w))


def measured(gpu: FakeGpu, **options):
    settings = EnergyOptions(**{"sample_s": 2.0, "repeats": 3, **options})
    return measure(gpu.call, gpu.synchronize, "call", gpu, settings, gpu.clock)


@pytest.mark.parametrize("step_s", [0.02, 0.1])
def test_the_true_energy_in_spite_of_the_steps(step_s: float) -> None:
    result = measured(FakeGpu(step_s))
    assert result.joules == relative(RUN_S * BUSY_W, rel=5e-3)
    assert abs(result.joules - RUN_S * BUSY_W) <= result.resolution_j < 0.01 * result.joules
    assert result.idle_power_w == relative(IDLE_W, rel=5e-3)
    assert len(result.samples_j) == 3 and result.runs_per_sample > 2.0 / RUN_S * 0.9
    assert result.boundary.startswith("board") and not result.idle_subtracted


def test_without_the_idle_power() -> None:
    result = measured(FakeGpu(), subtract_idle=True)
    assert result.joules == relative(RUN_S * (BUSY_W - IDLE_W), rel=0.01)
    assert result.idle_subtracted


def test_a_counter_that_starts_again_costs_one_sample() -> None:
    result = measured(FakeGpu(broken_at=6.0))
    assert result.discarded == 1 and len(result.samples_j) == 3
    assert result.joules == relative(RUN_S * BUSY_W, rel=5e-3)


def test_a_counter_that_keeps_going_back_is_an_error() -> None:
    gpu = FakeGpu()
    forward = gpu.millijoules
    gpu.millijoules = lambda: forward() if gpu.now < 4.0 else 10**9 - forward()
    with pytest.raises(TargetRunError, match="went backwards"):
        measured(gpu)


def test_a_counter_that_stands_still_is_an_error() -> None:
    with pytest.raises(TargetRunError, match="stood still"):
        measured(FakeGpu(step_s=1e9))


def test_a_device_that_was_not_idle_is_an_error_when_it_matters() -> None:
    gpu = FakeGpu(idle_w=2 * BUSY_W)
    with pytest.raises(EnergyError, match="stop what else runs"):
        measured(gpu, subtract_idle=True)


@pytest.mark.parametrize(
    ("option", "number"), [("sample_s", 0.5), ("sample_s", float("nan")), ("repeats", 1)]
)
def test_too_short_or_too_few(option: str, number: float) -> None:
    with pytest.raises(ConfigError, match=option):
        EnergyOptions(**{option: number})


class FakeNvmlError(Exception):
    """As pynvml.NVMLError."""


def fake_nvml(**changed):
    def energy(handle):
        return 12345

    library = {
        "NVMLError": FakeNvmlError,
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: b"NVIDIA H200",
        "nvmlSystemGetDriverVersion": lambda: "570.1",
        "nvmlDeviceGetTotalEnergyConsumption": energy,
        "nvmlDeviceGetMigMode": lambda handle: (0, 0),
    }
    return SimpleNamespace(**{**library, **changed})


def raises(*_):
    raise FakeNvmlError("Not Supported")


def test_the_counter_of_nvml(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(nvmlDeviceGetMigMode=raises))
    counter = NvmlCounter()
    assert (counter.millijoules(), counter.device, counter.driver) == (12345, "NVIDIA H200", "570.1")


def test_without_the_package_the_message_installs_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(TargetUnavailable, match="pip install nvidia-ml-py"):
        NvmlCounter()


@pytest.mark.parametrize(
    "broken", ["nvmlInit", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetTotalEnergyConsumption"]
)
def test_without_a_gpu_that_counts(monkeypatch, broken: str) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(**{broken: raises}))
    with pytest.raises(TargetUnavailable, match="Not Supported"):
        NvmlCounter()


def test_a_gpu_that_is_split(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(nvmlDeviceGetMigMode=lambda handle: (1, 1)))
    with pytest.raises(TargetUnavailable, match="MIG"):
        NvmlCounter()


def test_a_counter_that_breaks_later(monkeypatch) -> None:
    library = fake_nvml()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    counter = NvmlCounter()
    library.nvmlDeviceGetTotalEnergyConsumption = raises
    with pytest.raises(TargetRunError, match="Not Supported"):
        counter.millijoules()


FREQUENCY = FrequencyCoupling(np.array([0.5]))
EXPLICIT = ExplicitCoupling(np.ones((1, 3, 3)))


def layer(dynamics: str, coupling) -> PhaseLayerSpec:
    omega = np.linspace(-0.2, 0.2, 6).reshape(1, 3, 2)
    return PhaseLayerSpec(omega=omega, theta=omega, coupling=coupling, gain=[1.0], dynamics=dynamics)


class Recorder(Device):
    """The interpreter; notes what is launched and whether its matrix is there afterwards."""

    launched: list[tuple[str, bool]] = []  # noqa: RUF012

    def launch(self, launch, grid, **arguments) -> None:
        super().launch(launch, grid, **arguments)
        written = [arguments[name] for name in ("sync", "matrix") if name in arguments]
        self.launched.append((launch.kernel, all(bool(x.isfinite().all()) for x in written)))


@pytest.mark.parametrize(("dynamics", "coupling"), [("pair", EXPLICIT), ("clamped", FREQUENCY)])
def test_every_kernel_of_the_plan_runs_in_every_call(dynamics: str, coupling) -> None:
    executable = TritonTarget().lower(layer(dynamics, coupling))
    Recorder.launched.clear()
    call = kernels(executable, Recorder(interpreted=True))
    call()
    call()
    assert Recorder.launched == 2 * [(launch.kernel, True) for launch in executable.lowered.launches]


def test_a_pair_layer_runs_both_ops_that_its_plan_counts(monkeypatch) -> None:
    from hw_targets.triton.bench import layer_energy as module

    ran = []
    for name in ("ssa_attention", "synchronization_matrix"):
        op = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, op=op, n=name, **k: ran.append((n, op(*a, **k).isfinite().all()))
        )
    kernels(TritonTarget().lower(layer("pair", FREQUENCY)), Device(interpreted=True))()
    assert sorted((name, bool(fine)) for name, fine in ran) == [
        ("ssa_attention", True),
        ("synchronization_matrix", True),
    ]


def test_a_network_is_not_one_call() -> None:
    with pytest.raises(ConfigError, match="batch by batch"):
        kernels(TritonTarget().lower(layer("network", EXPLICIT)), Device(interpreted=True))


def test_without_a_gpu_nothing_is_measured(monkeypatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(TargetUnavailable, match="no GPU"):
        layer_energy(layer("pair", FREQUENCY))
