"""An exported folder: complete, independent of this project, and the same run to the last bit."""

import ast
import shutil
import subprocess
import sys

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.export import sources
from hw_targets.lava.export.folder import export
from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import ConfigError

TARGET = get_target("lava")

# -I: no environment, no folder of this project; and whoever imports it in spite of that fails
ALONE = """
import sys
sys.modules.update(oscsim=None, hw_targets=None, pydantic=None, safetensors=None)
import runpy
sys.argv = ["run.py"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def layer(dynamics: str, **fields) -> PhaseLayerSpec:
    """Two heads of three tokens, both signs of coupling in the clamped layer, one pair unlocked."""
    rng = np.random.default_rng(5)
    fields.setdefault("gain", [1.5, 2.0])
    if dynamics == "clamped":
        fields |= {"duration": 1.5, "rate": rng.uniform(-1, 1, (2, 3, 2))}
    return PhaseLayerSpec(
        omega=[[[0.0, 0.1], [0.4, 0.2], [0.9, 0.5]], [[0.1, 0.0], [0.2, 0.1], [0.0, 0.3]]],
        theta=rng.uniform(-1, 1, (2, 3, 2)),
        coupling=FrequencyCoupling(alpha=[0.2, 0.4]),
        dynamics=dynamics,
        mask="causal",
        **fields,
    )


def run_alone(folder, code: str = ALONE) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("dynamics", "fields", "options"),
    [
        ("pair", {}, {}),
        ("pair", {}, {"number_format": "floating_point"}),
        ("pair", {"order_parameter": FixedOrder(r=[0.1, 0.3])}, {"integrator": "euler", "rounding": "floor"}),
        ("clamped", {}, {}),
        ("clamped", {}, {"held_sources": "synapses"}),
        ("network", {}, {}),
        ("network", {}, {"integrator": "euler", "delay_steps": 1, "synapses": "sparse"}),
    ],
)
def test_the_folder_repeats_the_run(dynamics, fields, options, tmp_path):
    result = export(TARGET.lower(layer(dynamics, **fields), TARGET.config(**options)), tmp_path / "out")
    shutil.move(tmp_path / "out", tmp_path / "elsewhere")  # no path may be baked in
    done = run_alone(tmp_path / "elsewhere")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "identical, bit by bit" in done.stdout
    assert f"neuron_updates {result.provenance.counters['neuron_updates']}, " in done.stdout
    sync = np.load(tmp_path / "elsewhere" / "sync.npy")
    np.testing.assert_allclose(sync, result.sync, rtol=0, atol=1e-12)


def test_an_average_over_whole_beats_is_repeated_too(tmp_path, small_layer):
    drifting = small_layer("network").replace(gain=[0.3])
    result = export(TARGET.lower(drifting), tmp_path / "out")
    assert result.status == "drifting"
    done = run_alone(tmp_path / "out")
    assert done.returncode == 0 and "identical, bit by bit" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    export(TARGET.lower(layer("pair")), tmp_path / "out")
    return tmp_path / "out"


def test_a_changed_number_is_noticed(folder):
    """One least significant bit of one mismatch: the states differ, and the script says so and fails."""
    with np.load(folder / "arrays.npz") as file:
        arrays = dict(file)
    arrays["program.mismatch"][0] += 1
    np.savez(folder / "arrays.npz", **arrays)
    done = run_alone(folder)
    assert done.returncode == 1 and "states: " in done.stdout and "DIFFERENT" in done.stdout


def test_a_file_of_arrays_that_is_not_the_exported_one_is_named(folder):
    """One line and exit code 2, before anything is run."""
    path = folder / "arrays.npz"
    whole = path.read_bytes()
    with np.load(path) as file:
        arrays = dict(file)

    def refused(words: str) -> None:
        done = run_alone(folder)
        assert done.returncode == 2 and done.stdout == "", done.stderr
        assert done.stderr.startswith(f"error: {path}: ") and done.stderr.count("\n") == 1
        assert words in done.stderr

    path.write_bytes(whole[: len(whole) // 2])
    refused("damaged or not arrays (BadZipFile")
    path.write_bytes(whole[:200] + bytes(byte ^ 255 for byte in whole[200:400]) + whole[400:])
    refused("copy it again")
    np.savez(path, **(arrays | {"sync": arrays["sync"][:, :2]}))
    refused("array sync: given ((2, 2, 3), '<f8'), expected ((2, 3, 3), '<f8')")
    np.savez(path, **{name: array for name, array in arrays.items() if name != "program.phase"})
    refused("array program.phase: given nothing, expected ")
    path.unlink()
    refused("no such file; copy the whole exported folder")


def test_a_changed_rounding_is_noticed(folder):
    text = (folder / "run.py").read_text()
    (folder / "run.py").write_text(text.replace("rounding='nearest'", "rounding='floor'"))
    done = run_alone(folder)
    assert done.returncode == 1 and "DIFFERENT" in done.stdout


def test_an_error_in_an_exported_model_ends_the_script(folder):
    path = folder / "oscillators" / "processes" / "pair_cells.py"
    path.write_text(
        path.read_text().replace("def run_spk(self) -> None:", "def run_spk(self) -> None:\n        1 / 0")
    )
    done = run_alone(folder)
    assert done.returncode == 1 and "a Lava model raised ZeroDivisionError" in done.stderr


def test_files_are_ours_with_other_imports():
    files = sources.standalone()
    assert {"oscillators/program.py", "oscillators/processes/pair_cells.py", "oscillators/session.py"} <= {
        *files
    }
    for name, text in files.items():
        top = {one.split(".")[0] for one in sources._imports(ast.parse(text))}
        assert top <= {"oscillators", "lava", "numpy", *sys.stdlib_module_names}, name
        assert "hw_targets" not in text
    # Lava executes every file beside a process: there are only processes and their steps
    beside = [name for name in files if name.startswith("oscillators/processes/")]
    assert all("lava" in files[name] or "proc_params" in files[name] for name in beside)


def test_a_file_that_needs_more_is_refused(monkeypatch):
    monkeypatch.setattr(sources, "ELSEWHERE", ("lava",))
    with pytest.raises(ImportError, match="imports numpy, which an exported layer does not have"):
        sources.standalone()


def test_an_existing_folder_is_refused(tmp_path):
    executable = TARGET.lower(layer("pair"))
    (tmp_path / "out").mkdir()
    with pytest.raises(ConfigError, match="exists already"):
        export(executable, tmp_path / "out")
    with pytest.raises(ConfigError, match="does not exist; create it first"):
        export(executable, tmp_path / "nowhere" / "out")


def test_a_failed_export_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(ConfigError, match="No space left"):
        export(TARGET.lower(layer("pair")), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_phases_far_from_zero_are_checked_to_what_float64_keeps(tmp_path):
    spec = layer("clamped")
    export(TARGET.lower(spec.replace(theta=spec.theta + 1e7)), tmp_path / "far")
    done = run_alone(tmp_path / "far")
    assert done.returncode == 0 and "identical, bit by bit" in done.stdout, done.stdout + done.stderr
