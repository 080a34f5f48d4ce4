"""doctor."""

import json
import subprocess
import sys

from oscsim import doctor
from oscsim.errors import SchemaError


def test_everything_is_here(cli):
    result = cli("doctor", "--json", "-")
    content = result.json()
    assert result.code == 0, result.err
    assert set(content["targets"]) == {"triton", "brian2", "lava", "spice"}
    assert all(entry["ok"] for entry in content["targets"].values())
    assert content["checks"]["package models"]["ok"]
    assert len(content["checks"]["shipped checkpoint"]["detail"]) == 64
    assert content["packages"]["numpy"]


def test_missing_backend(cli, without_backends):
    result = cli("doctor")
    assert result.code == 3
    assert result.err.count("pip install nothing") == 3


def test_shadowed_models(monkeypatch, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "models", raising=False)
    finding = doctor.models_finding()
    assert not finding.ok
    assert str(tmp_path) in finding.detail


def test_cpu_kernels_that_cannot_be_compiled(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    entry = cli("doctor", "--json", "-").json()["checks"]["CPU kernels"]
    assert entry["ok"] and str(tmp_path) in entry["detail"]
    assert list(tmp_path.iterdir()) == []  # asking compiles nothing
    monkeypatch.setenv("CXX", "/nowhere/c++")
    result = cli("doctor", "--json", "-")
    entry = result.json()["checks"]["CPU kernels"]
    assert (result.code, entry["ok"]) == (1, False)
    assert "/nowhere/c++" in entry["detail"] and "install" in entry["fix"]


def test_a_cache_nobody_can_read():
    def closed():
        raise PermissionError(13, "Permission denied", "/closed")

    finding = doctor.cpu_kernels_finding(closed)
    assert not finding.ok and "/closed" in finding.detail and "TORCH_EXTENSIONS_DIR" in finding.fix


def test_without_torch():
    script = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from oscsim.cli.commands import app\n"
        "app(['doctor', '--json', '-'])\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    checks = json.loads(run.stdout)["checks"]
    for name in ("cuda", "CPU kernels"):
        assert checks[name]["ok"] and "torch is not installed" in checks[name]["detail"]
    assert "Traceback" not in run.stderr


def test_damaged_checkpoint():
    def damaged():
        raise SchemaError("x.safetensors: damaged")

    finding = doctor.checkpoint_finding(damaged)
    assert (finding.ok, finding.detail) == (False, "x.safetensors: damaged")
    assert finding.fix
