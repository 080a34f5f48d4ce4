"""generate: the text a model continues a prompt with."""

import pytest

from models.checkpoint import load_checkpoint
from models.generate import generate


@pytest.mark.parametrize("model", ["transformer", "kuramoto", "osn"])
def test_json_holds_the_very_bytes(cli, byte_models, model):
    options = ("--prompt", "né", "--bytes", 20, "--temperature", 1.5, "--seed", 3)
    content = cli("generate", byte_models[model], *options, "--json", "-").json()
    expected = generate(load_checkpoint(byte_models[model]), "né", 20, 1.5, 3)
    assert bytes.fromhex(content["bytes_hex"]) == expected
    assert (content["prompt"], content["seed"], content["model"]) == ("né", 3, model)


def test_printed_text_is_safe_for_a_terminal_and_repeatable(cli, byte_models):
    options = ("--prompt", "Alice\x1b[2J", "--bytes", 80, "--temperature", 5)
    first, again, other = (
        cli("generate", byte_models["kuramoto"], *options, "--seed", seed) for seed in (1, 1, 2)
    )
    assert first.out == again.out != other.out
    assert first.out.startswith("Alice�[2J") and first.out.endswith("\n")
    assert not any(ord(c) < 32 and c not in "\n\t" for c in first.out)
    # as it is: a line is as long as the model makes it, not as wide as a table
    content = cli("generate", byte_models["kuramoto"], *options, "--seed", 1, "--json", "-").json()
    assert len(first.out) >= len(content["text"])
    assert "�" in first.out


def test_greedy_needs_no_seed_and_an_empty_prompt_starts_after_a_line_break(cli, byte_models):
    greedy = ("--bytes", 8, "--temperature", 0)
    texts = {cli("generate", byte_models["osn"], *greedy, "--seed", seed).out for seed in (1, 2)}
    texts.add(cli("generate", byte_models["osn"], *greedy, "--prompt", "").out)
    assert len(texts) == 1
    after_break = cli("generate", byte_models["osn"], *greedy, "--prompt", "\n").out
    assert after_break == "\n" + texts.pop()


def test_a_prompt_from_a_file(cli, byte_models, tmp_path):
    (tmp_path / "prompt.txt").write_text("The Queen\n")
    result = cli("generate", byte_models["osn"], "--prompt", f"@{tmp_path}/prompt.txt", "--bytes", 0)
    assert (result.code, result.out) == (0, "The Queen\n")
    (tmp_path / "prompt.txt").write_bytes(b"\xff")
    result = cli("generate", byte_models["osn"], "--prompt", f"@{tmp_path}/prompt.txt")
    assert (result.code, "--prompt" in result.err, "UTF-8" in result.err) == (2, True, True)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--temperature", -0.5), "temperature: given -0.5"),
        (("--temperature", "inf"), "temperature"),
        (("--bytes", -1), "bytes"),
        (("--seed", -1), "seed"),
        (("--impl", "numpy"), "numpy"),
        (("--device", "cuda:x"), "cuda:NUMBER"),
    ],
)
def test_bad_input(cli, byte_models, options, word):
    result = cli("generate", byte_models["osn"], *options)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    assert word in result.err


def test_no_such_model(cli):
    result = cli("generate", "nowhere.safetensors")
    assert (result.code, "nowhere.safetensors" in result.err) == (2, True)
