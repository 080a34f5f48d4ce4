"""evaluate: bits per byte of a file's model on held-out bytes."""

import pytest
import torch

from models.checkpoint import load_checkpoint, save_checkpoint
from models.data import load_data
from models.evaluate import bits_per_byte, standard_error, window_bits


@pytest.mark.parametrize(("model", "split"), [("transformer", "test"), ("osn", "validation")])
def test_it_is_what_the_function_returns(cli, byte_models, model, split):
    result = cli("evaluate", byte_models[model], "--data", "alice", "--split", split, "--json", "-")
    content = result.json()
    tokens, loaded = getattr(load_data("alice"), split), load_checkpoint(byte_models[model])
    # twice the same computation, up to the order of float32 sums in threads
    assert content["bits_per_byte"] == pytest.approx(bits_per_byte(loaded, tokens), rel=1e-5)
    bits = window_bits(loaded, tokens)
    assert content["standard_error"] == pytest.approx(standard_error(bits), rel=1e-3)
    assert (content["windows"], content["context"]) == (len(bits), 32) == ((7220 - 1) // 32, 32)
    assert (content["model"], content["split"], content["trained_on_this_data"]) == (model, split, True)
    assert f"{content['bits_per_byte']:.4f}" in result.err


def test_the_test_part_is_the_default_and_other_data_are_named_as_such(cli, byte_models, tmp_path):
    path = tmp_path / "other.bin"
    generator = torch.Generator().manual_seed(0)
    path.write_bytes(bytes(torch.randint(0, 256, (1000,), generator=generator).tolist()))
    content = cli("evaluate", byte_models["kuramoto"], "--data", path, "--json", "-").json()
    assert (content["split"], content["data"], content["windows"]) == ("test", "other.bin", 1)
    assert content["trained_on_this_data"] is False
    assert content["standard_error"] is None
    # nobody codes random bytes in less than 8 bits, up to a sampling error of 32 bytes
    assert content["bits_per_byte"] > 7.0


def test_a_table_for_people(cli, byte_models):
    result = cli("evaluate", byte_models["transformer"], "--data", "alice")
    assert (result.code, result.err) == (0, "")
    assert "bits per byte" in result.out and "standard error" in result.out


def test_the_implementation_is_used(cli, byte_models):
    options = ("--data", "alice", "--json", "-")
    native = cli("evaluate", byte_models["osn"], *options, "--impl", "native").json()
    eager = cli("evaluate", byte_models["osn"], *options, "--impl", "eager", "--threads", 1).json()
    assert native["bits_per_byte"] == pytest.approx(eager["bits_per_byte"], rel=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--data", "nowhere.txt"), ("nowhere.txt",)),
        (("--data", "alice", "--impl", "numpy"), ("numpy", "eager")),
        (("--data", "alice", "--device", "gpu"), ("'gpu'", "cpu")),
    ],
)
def test_bad_input(cli, byte_models, options, words):
    result = cli("evaluate", byte_models["osn"], *options)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    for word in words:
        assert word in result.err


def test_bad_files(cli, byte_models, tmp_path):
    assert cli("evaluate", tmp_path / "none", "--data", "alice").code == 2
    short = tmp_path / "short.txt"
    short.write_text("too short")
    result = cli("evaluate", byte_models["osn"], "--data", short)
    assert (result.code, "shorter context" in result.err) == (2, True)
    for data, output in ((f"enwik8={short}", short), ("alice", byte_models["osn"])):
        result = cli("evaluate", byte_models["osn"], "--data", data, "--json", output)
        assert (result.code, "the same file" in result.err) == (2, True), result.err
    assert short.read_text() == "too short"


def test_no_number_is_no_result_and_an_odd_record_no_traceback(cli, byte_models, tmp_path):
    model = load_checkpoint(byte_models["kuramoto"])
    model.record = {"data": "alice"}
    save_checkpoint(model, tmp_path / "odd")
    content = cli("evaluate", tmp_path / "odd", "--data", "alice", "--json", "-").json()
    assert content["trained_on_this_data"] is None
    model.log_scale.data.fill_(1e30)  # finite, but no logits are
    save_checkpoint(model, tmp_path / "large")
    result = cli("evaluate", tmp_path / "large", "--data", "alice", "--json", "-")
    assert (result.code, result.out) == (1, "")
    assert "bits per byte are not finite" in result.err
