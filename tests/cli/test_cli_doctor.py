"""doctor."""

from oscsim import doctor
from oscsim.errors import SchemaError


def test_everything_is_here(cli):
    result = cli("doctor", "--json", "-")
    content = result.json()
    assert result.code == 0, result.err
    assert set(content["targets"]) == {"triton", "brian2", "lava"}
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


def test_damaged_checkpoint():
    def damaged():
        raise SchemaError("x.safetensors: damaged")

    finding = doctor.checkpoint_finding(damaged)
    assert (finding.ok, finding.detail) == (False, "x.safetensors: damaged")
    assert finding.fix
