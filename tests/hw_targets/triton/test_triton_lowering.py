"""Lowering is pure and visible; limits are named; a missing backend says how to install it."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.triton.frequency_grid import frequency_grid
from hw_targets.triton.ops.tile_shape import tile_shape
from hw_targets.triton.run import Device
from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, SyncStatus, solve
from oscsim.errors import ConfigError, LoweringError, TargetRunError, TargetUnavailable
from oscsim.target import ConvergenceWarning

BLOCKED = textwrap.dedent(
    """
    import sys

    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in ("torch", "triton"):
                raise ImportError(f"{name} is blocked")

    sys.meta_path.insert(0, Blocker())
    from hw_targets import get_target
    from oscsim import FrequencyCoupling, PhaseLayerSpec
    from oscsim.errors import OscsimError

    for dynamics in ("pair", "clamped", "network"):
        spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [1.0]]], dynamics=dynamics,
                              coupling=FrequencyCoupling(alpha=[0.1]), gain=[1.0])
        executable = get_target("triton").lower(spec)
        print(executable.plan.digest)
    assert not {"torch", "triton"} & set(sys.modules)
    import importlib.metadata as metadata
    known = metadata.version
    def version(name):
        if name in ("torch", "triton"):
            raise metadata.PackageNotFoundError(name)
        return known(name)
    metadata.version = version
    try:
        executable.run()
    except OscsimError as error:
        print(type(error).__name__, error)
    """
)


def test_lowering_needs_no_backend_and_a_run_without_one_says_how_to_get_it():
    command = [sys.executable, "-c", BLOCKED]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(set(lines[:3])) == 3
    assert lines == subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[3].startswith("TargetUnavailable target 'triton' is not available: package torch, triton is")
    assert "pip install -e '.[triton]'" in lines[3]


def test_a_gpu_that_is_not_there_is_refused_and_auto_says_what_it_took(layer, monkeypatch):
    target, spec = get_target("triton"), layer(1, 3, 1)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(TargetUnavailable, match="device 'cuda' was asked for and torch sees no GPU"):
        target.lower(spec, target.config(device="cuda")).run()
    result = target.lower(spec).run()
    assert "device: CPU, interpreted" in result.provenance.notes
    assert result.provenance.settings["device"] == "auto"


def test_auto_takes_the_gpu_when_there_is_one(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert not Device.choose("auto").interpreted
    assert not Device.choose("cuda").interpreted
    assert Device.choose("cpu").interpreted


def test_the_plan_shows_every_derived_number(explicit):
    target, spec = get_target("triton"), explicit(2, 70, 3, mask="causal")
    plan = target.lower(spec, target.config(block_m=32, block_n=16)).plan
    assert plan["launch"]["explicit_pair"]["grid"] == [3, 2]
    assert plan["launch"]["explicit_pair"]["VALUES"] == 16
    # rows 0..31 need 2 column tiles, 32..63 need 4, 64..69 need 5
    assert plan["work"]["tile_cells"] == 2 * (2 + 4 + 5) * 32 * 16
    assert plan["accuracy"]["epsilon"] == 1e-5
    assert plan["numbers"]["frequency_parts"] == 3
    assert plan.digest == target.lower(spec, target.config(block_n=16)).plan.digest
    assert str(plan).startswith("triton plan ")


@pytest.mark.parametrize(("precision", "products", "epsilon"), [("accurate", 3, 1e-5), ("fast", 1, 2.0**-6)])
def test_the_plan_of_the_fused_op_shows_every_derived_number(layer, precision, products, epsilon):
    target, spec = get_target("triton"), layer(2, 70, 3, mask="causal")
    plan = target.lower(spec, target.config(precision=precision)).plan
    rows, columns = plan["op"]["tile"]
    assert (rows, columns) == tile_shape("triton", 3, 5, precision)
    starts = range(0, 70, rows)
    # causal: a row tile sees the columns up to its last row; the read-out of S visits every tile
    seen = sum(-(-min(70, first + rows) // columns) for first in starts)
    cells, every = 2 * seen * rows * columns, 2 * len(starts) * -(-70 // columns) * rows * columns
    assert plan["work"]["multiply_adds"] == cells * (3 * products + 5) + every * 3 * products
    assert plan["work"]["tile_cells"] == cells + every
    assert plan["accuracy"]["epsilon"] == epsilon
    assert plan["numbers"]["precision"] == precision
    # K r of the first token is 1 and 2: frequencies are in units of the next power of two
    assert plan["numbers"]["frequency_unit_rad_per_time_unit"] == [2.0, 4.0]


def test_every_option_shows_in_the_plan(layer, explicit):
    target, spec = get_target("triton"), explicit(1, 40, 1)
    changes = ({}, {"block_m": 64}, {"block_n": 64}, {"device": "cpu"})
    digests = {target.lower(spec, target.config(**change)).plan.digest for change in changes}
    assert len(digests) == len(changes)
    spec = layer(1, 40, 1)
    changes = ({}, {"precision": "fast"}, {"precision": "fp32"}, {"device": "cpu"})
    digests = {target.lower(spec, target.config(**change)).plan.digest for change in changes}
    assert len(digests) == len(changes)
    for bad in (
        {"block_m": 48},
        {"precision": "half"},
        {"block_n": 8},
        {"step": 0.5},
        {"step": 0.0},
        {"max_steps": 1},
        {"dt": 1},
    ):
        with pytest.raises(ConfigError, match=next(iter(bad))):
            target.config(**bad)


def test_frequencies_survive_the_split_exactly():
    rng = np.random.default_rng(0)

    class Layer:
        valid = np.array([True, True, True, True, False])
        omega = np.concatenate([rng.standard_normal((2, 4, 3)) + 1e6, np.full((2, 1, 3), 1e99)], axis=1)

    grid = frequency_grid(Layer)
    total = grid.parts.astype(np.float64).sum(axis=2).transpose(0, 2, 1) * grid.unit[:, None, None]
    assert np.array_equal(total[:, :4], Layer.omega[:, :4])
    assert np.abs(grid.parts).max() < 2.0**32
    Layer.omega = np.round(Layer.omega[:, :, :1])
    assert frequency_grid(Layer).n_parts == 1


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"omega": np.zeros((1, 2, 129)), "theta": np.zeros((1, 2, 129))}, "at most 128"),
        ({"values": np.zeros((1, 3, 129))}, "value width: given 129"),
        ({"omega": np.zeros((1, 129, 1)), "theta": np.zeros((1, 129, 1)), "dynamics": "network"},
         "oscillators of a network: given 129"),
        ({"gain": [1e19], "coupling": FrequencyCoupling(alpha=[10.0])}, "expects at most 1e36"),
        ({"omega": [[[1e20], [0.0], [1e-10]]], "order_parameter": FixedOrder(r=[1.0])}, "resolves 2\\^-52"),
        ({"omega": [[[1e20], [0.0], [1e-10]]], "dynamics": "clamped"}, "resolves 2\\^-52"),
        ({"omega": [[[1e20], [0.0], [1e-10]]], "dynamics": "clamped",
          "coupling": FrequencyCoupling(alpha=[1e40])},
         "resolves 2\\^-52"),
        ({"coupling": ExplicitCoupling(matrix=[[[1e30, 1.0, 1.0]] * 3])}, "at least 2\\^-60 of the largest"),
    ],
)  # fmt: skip
def test_what_float32_cannot_hold_is_refused_with_the_limit(layer, fields, problem):
    size = np.shape(fields.get("omega", np.zeros((1, 3, 1))))
    with pytest.raises(LoweringError, match=problem):
        get_target("triton").lower(layer(*size, **fields))


def test_outputs_are_overwritten_completely(layer, monkeypatch):
    """Fresh memory is poisoned: a cell that no kernel writes would show."""
    empty = Device.empty

    def poisoned(self, shape, dtype="float32"):
        return empty(self, shape, dtype).fill_(77 if dtype == "int8" else float("nan"))

    monkeypatch.setattr(Device, "empty", poisoned)
    target = get_target("triton")
    for fields in (
        {},
        {"mask": "causal"},
        {"dynamics": "clamped"},
        {"dynamics": "clamped", "mask": "causal"},
    ):
        spec = layer(1, 70, 2, padding=np.arange(70) % 9 == 8, **fields)
        for block in (16, 64):
            executable = target.lower(spec, target.config(device="cpu", block_m=block, block_n=32))
            result = executable.run()
            assert np.isfinite(result.sync).all()
            assert np.isfinite(result.output).all()
            assert not result.locked[:, 8].any()
            assert result.status == SyncStatus.SETTLED


def test_a_kernel_that_fails_or_writes_nonsense_is_reported(explicit, monkeypatch):
    target, spec = get_target("triton"), explicit(1, 3, 1)
    executable = target.lower(spec, target.config(device="cpu"))
    monkeypatch.setattr(Device, "launch", lambda self, launch, grid, **memory: memory["sync"].fill_(np.nan))
    with pytest.warns(ConvergenceWarning, match="failed"):
        assert executable.run().status == SyncStatus.FAILED

    def broken(*_, **__):
        raise RuntimeError("out of memory somewhere")

    monkeypatch.setattr(Device, "launch", broken)
    with pytest.raises(TargetRunError, match="RuntimeError: out of memory somewhere"):
        executable.run()


def test_runs_do_not_use_the_reference(layer, monkeypatch):
    spec = layer(1, 9, 2)
    expected = solve(spec).sync

    def forbidden(*_, **__):
        raise AssertionError("a target called the reference")

    for name in ("synchronization", "clamped_flow", "lock_radius"):
        monkeypatch.setattr(f"oscsim.closed_form.{name}", forbidden)
    monkeypatch.setattr("oscsim.reference.solve", forbidden)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dynamics in ("pair", "clamped", "network"):
            result = get_target("triton").lower(spec.replace(dynamics=dynamics, omega=0.1 * spec.omega)).run()
            assert result.status == SyncStatus.SETTLED
        assert np.abs(get_target("triton").lower(spec).run().sync - expected).max() < 1e-3
