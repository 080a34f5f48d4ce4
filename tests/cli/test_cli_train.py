"""train: a few steps of very small models."""

import csv
import json
import subprocess
import sys

import pytest

from models.checkpoint import load_checkpoint
from models.data import load_data

STEPS = 4
SMALL = ("--steps", STEPS, "--batch", 2, "--device", "cpu", *(
    part
    for setting in (
        "width=8", "heads=2", "blocks=1", "hidden=8", "context=16",
        "training.log_every=1", "training.validation_windows=4",
    )
    for part in ("--set", setting)
))  # fmt: skip


def trained(cli, *options, model="kuramoto", data="alice"):
    return cli("train", "--model", model, "--data", data, *SMALL, *options)


@pytest.mark.parametrize("model", ["transformer", "kuramoto", "osn"])
def test_a_run_of_each_model(cli, tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    result = trained(cli, "--seed", 7, "--json", "x.json", model=model)
    assert result.code == 0, result.err
    folder = tmp_path / "runs" / f"{model}-alice-tiny-s7"
    content = json.loads((tmp_path / "x.json").read_text())
    assert content["folder"] == f"runs/{model}-alice-tiny-s7"
    assert (content["steps_before"], content["steps_done"]) == (0, STEPS)
    assert content["data"]["sha256"] == load_data("alice").digest
    assert content["config"]["context"] == 16
    assert (content["training"]["seed"], content["training"]["precision"]) == (7, "float32")
    # an untrained model of 256 bytes needs about 8 bits
    assert 5.0 < content["validation_bits_per_byte"] < 9.0
    assert f"{content['test_bits_per_byte']:.4f}" in result.out
    assert "precision" in result.out and "float32" in result.out
    assert f"[{STEPS}/{STEPS}]" in result.err and "tokens/s, validation" in result.err
    rows = list(csv.DictReader((folder / "log.csv").open()))
    assert [int(row["step"]) for row in rows] == [1, 2, 3, 4]
    model_file = load_checkpoint(folder / "model.safetensors")
    assert model_file.parameter_count() == content["parameters"]


def test_json_on_stdout_is_alone(cli, tmp_path):
    result = trained(cli, "-o", tmp_path / "run", "--json", "-")
    assert result.json()["steps_done"] == STEPS
    assert "bits per byte" in result.err


def test_a_seed_repeats_and_another_differs(cli, tmp_path):
    logs = []
    for index, seed in enumerate((1, 1, 2)):
        assert trained(cli, "-o", tmp_path / str(index), "--seed", seed).code == 0
        logs.append((tmp_path / str(index) / "log.csv").read_bytes())
    assert logs[0] == logs[1] != logs[2]


def test_a_finished_run_is_not_trained_again(cli, tmp_path):
    first = trained(cli, "-o", tmp_path / "run", "--json", "-").json()
    second = trained(cli, "-o", tmp_path / "run", "--resume", "--json", "-")
    again = second.json()
    assert "0; the run was complete already" in second.err
    assert (again["steps_before"], again["steps_done"]) == (STEPS, 0)
    assert again["test_bits_per_byte"] == first["test_bits_per_byte"]
    for options, word in (((), "resume"), (("--resume", "--seed", 5), "training.seed 5 (the run has 0)")):
        result = trained(cli, "-o", tmp_path / "run", *options)
        assert (result.code, word in result.err) == (2, True), result.err


def test_every_option_arrives(cli, tmp_path):
    options = (
        "--learning-rate", 0.5, "--precision", "bfloat16", "--impl", "eager", "--threads", 1,
        "--set", "gates=false", "--set", "tied=true", "--set", "training.warm_up=1",
        "--set", "training.betas=[0.8, 0.9]",
    )  # fmt: skip
    result = trained(cli, "-o", tmp_path / "run", *options, "--json", "-")
    content = result.json()
    training = content["training"]
    assert (training["learning_rate"], training["batch"], training["steps"]) == (0.5, 2, STEPS)
    assert (training["precision"], training["implementation"]) == ("bfloat16", "eager")
    assert (training["betas"], training["warm_up"]) == ([0.8, 0.9], 1)
    assert (content["config"]["gates"], content["config"]["tied"]) == (False, True)
    assert content["environment"]["threads"] == 1
    assert "bfloat16" in result.err


def test_a_loss_that_is_no_number_is_exit_1(cli, tmp_path):
    result = trained(cli, "-o", tmp_path / "run", "--learning-rate", "1e38", "--set", "training.warm_up=0")
    assert result.code == 1, result.err
    last = result.err.splitlines()[-1]
    assert last.startswith("error: step 2: NaN or infinity") and "last good checkpoint" in last
    assert not (tmp_path / "run" / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "rnn"), ("'rnn'", "transformer, kuramoto, osn")),
        (("--preset", "huge"), ("'huge'", "tiny, 1m, 5m")),
        (("--set", "gate=false"), ("'gate'", "width, blocks", "gates")),
        (("--set", "gates=no"), ("gates=no", "true or false")),
        (("--set", "gates"), ("'gates'", "option=value")),
        (("--set", "width=9"), ("9", "heads")),
        (("--set", "training.speed=1"), ("'speed'", "warm_up", "clip")),
        (("--set", "training.seed=1"), ("'seed'", "warm_up")),
        (("--steps", 0), ("steps", "at least 1")),
        (("--batch", -1), ("batch", "at least 1")),
        (("--learning-rate", -1), ("learning_rate", "-1")),
        (("--learning-rate", "nan"), ("learning_rate", "nan")),
        (("--precision", "float16"), ("float16", "float32")),
        (("--impl", "numpy"), ("numpy", "eager")),
        (("--device", "tpu"), ("'tpu'", "cuda")),
        (("--threads", 0), ("--threads", "at least 1")),
        (("--seed", -1), ("seed", "-1")),
        (("--data", "nowhere.txt"), ("nowhere.txt", "enwiki-sample")),
        (("--data", "enwik8"), ("enwik8=FILE", "mattmahoney.net")),
        (("--set", "context=20000"), ("alice", "20,001", "shorter context")),
    ],
)
def test_bad_input(cli, tmp_path, options, words):
    base = ("--model", "kuramoto", "--data", "alice", "--steps", 1, "-o", tmp_path / "run")
    result = cli("train", *base, *options)
    assert (result.code, result.err.count("\n")) == (2, 1), result.err
    assert result.err.startswith("error: ")
    for word in words:
        assert word in result.err
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_an_encoder_is_no_language_model(cli, tmp_path):
    result = trained(cli, "-o", tmp_path / "run", "--set", "causal=false", model="osn")
    assert (result.code, "causal=false" in result.err) == (2, True), result.err


def test_output_and_json_are_places_of_their_own(cli, tmp_path):
    (tmp_path / "run").mkdir()
    result = trained(cli, "-o", tmp_path / "run", "--json", tmp_path / "run" / "log.csv")
    assert (result.code, "the same file as --output log.csv" in result.err) == (2, True), result.err
    (tmp_path / "file").write_text("x")
    assert trained(cli, "-o", tmp_path / "file").code == 2


def test_without_torch():
    """The options are known without torch, and a run names the command that installs it."""
    script = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from oscsim.cli.commands import app\n"
        "app(['train', *sys.argv[1:]])\n"
    )
    run = ("--model", "osn", "--data", "alice")
    for options, code, word in ((["--help"], 0, "--preset"), (run, 3, "pip install -e '.[models]'")):
        end = subprocess.run(
            [sys.executable, "-c", script, *options], capture_output=True, text=True, check=False
        )
        assert end.returncode == code, end.stderr
        assert word in end.stdout + end.stderr


def test_two_processes_print_once(tmp_path):
    launch = (sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone")
    options = ("--model", "kuramoto", "--data", "alice", *SMALL, "-o", tmp_path / "run", "--json", "-")
    end = subprocess.run(
        [str(part) for part in (*launch, "-m", "oscsim", "train", *options)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert end.returncode == 0, end.stderr
    content = json.loads(end.stdout)  # of one process, or it would be no JSON
    assert content["environment"]["processes"] == 2
    assert end.stderr.count("validation bits per byte") == 1
