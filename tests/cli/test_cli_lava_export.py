"""export --format lava."""

import subprocess
import sys

import pytest
from layers import layer

from oscsim import PhaseLayerSpec


@pytest.fixture
def pair(tmp_path):
    path = tmp_path / "pair.phase"
    layer().save(path)
    return path


def test_export_of_a_layer_runs(cli, pair, tmp_path):
    target = tmp_path / "two words"
    result = cli("export", pair, "--format", "lava", "-o", target, "--set", "phase_bits=20", "--json", "-")
    assert result.code == 0, result.err
    content = result.json()
    assert (content["format"], content["status"]) == ("lava", "settled")
    assert (
        content["settings"]["phase_bits"] == 20 and content["spec_digest"] == PhaseLayerSpec.load(pair).digest
    )
    said = subprocess.run([sys.executable, target / "run.py"], capture_output=True, text=True, check=True)
    assert "identical, bit by bit" in said.stdout


def test_export_says_what_is_in_the_folder(cli, pair, tmp_path):
    target = tmp_path / "two words"
    result = cli("export", pair, "--format", "lava", "-o", target)
    assert result.code == 0, result.err
    assert f"python '{target}'/run.py" in result.out.replace("\n", "") and "lava-nc 0.10.0" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pair.phase", "-o", "."), "exists already"),
        (("pair.phase", "-o", "pair.phase"), "exists already"),
        (("pair.phase", "-o", "-"), "stdout"),
        (("pair.phase", "-o", "no/where"), "does not exist"),
        (("pair.phase", "-o", "out", "--set", "phase_bitz=20"), "unknown option"),
        (("pair.phase", "-o", "out", "--time-unit", "1e-7"), "--time-unit"),
        (("pair.phase", "-o", "out", "--text", "Al"), "--text"),
    ],
)
def test_refusals(cli, pair, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = cli("export", *arguments, "--format", "lava")
    assert result.code == 2 and words in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pair.phase"]
