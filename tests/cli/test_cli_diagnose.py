"""diagnose: a table, a picture and JSON of what is inside, by depth."""

import json

import pytest

from models.checkpoint import load_checkpoint
from models.data import load_data
from models.diagnostics import cut, diagnose


@pytest.mark.parametrize("model", ["transformer", "kuramoto", "osn"])
def test_everything_is_written(cli, byte_models, tmp_path, model):
    options = ("--plot", tmp_path / "x.png", "--json", tmp_path / "x.json", "--passages", 4)
    result = cli("diagnose", byte_models[model], *options)
    assert (result.code, result.err) == (0, ""), result.err
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    content = json.loads((tmp_path / "x.json").read_text())
    assert (content["model"], content["passages"], content["length"]) == (model, 4, 32)
    assert content["data"] == "alice (validation)"
    expected = diagnose(load_checkpoint(byte_models[model]), cut(load_data("alice").validation, 32, 4))
    assert content["blocks"] == [pytest.approx(block, rel=1e-5) for block in expected.blocks]
    assert set(content["quantities"]) == set(content["blocks"][0])
    assert "attention entropy" in result.out
    assert ("locked fraction" in result.out) == (model == "osn")
    assert "4 passages of 32 bytes" in result.out


def test_of_a_text(cli, byte_models, tmp_path):
    (tmp_path / "t.txt").write_text("x" * 100)
    content = cli("diagnose", byte_models["osn"], "--text", f"@{tmp_path}/t.txt", "--json", "-").json()
    assert (content["data"], content["passages"], content["length"]) == ("the text", 3, 32)
    content = cli("diagnose", byte_models["osn"], "--text", "short", "--json", "-").json()
    assert (content["passages"], content["length"]) == (1, 5)


def test_of_other_data(cli, byte_models, tmp_path):
    (tmp_path / "t.txt").write_text("abc" * 1000)
    content = cli("diagnose", byte_models["osn"], "--data", tmp_path / "t.txt", "--json", "-").json()
    assert (content["data"], content["passages"]) == ("t.txt (validation)", 150 // 32)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--data", "alice", "--text", "Alice"), ("--text", "--data")),
        (("--text", "x"), ("(1, 1)", "2 to the model's context, 32")),
        (("--text", ""), ("(1, 0)",)),
        (("--passages", 0), ("--passages", "at least 1")),
        (("--plot", "x.pdf"), (".png",)),
        (("--plot", "nowhere/x.png"), ("--plot",)),
        (("--plot", "x.png", "--json", "x.png"), ("the same file",)),
        (("--data", "nowhere.txt"), ("nowhere.txt",)),
    ],
)
def test_bad_input(cli, byte_models, options, words):
    result = cli("diagnose", byte_models["osn"], *options)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    for word in words:
        assert word in result.err
