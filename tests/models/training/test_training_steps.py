"""What a step computes: seeds, batches, schedule, precision, settings."""

import math

import pytest
import torch

from models import training
from models.checkpoint import read_checkpoint
from models.evaluate import bits_per_byte
from models.training.batches import batch, spaced_passages, step_seed, windows
from models.training.checks import check
from models.training.events import require_tensorboard
from models.training.processes import Processes
from models.training.state import optimiser_of, restore_optimiser
from models.training.step import Stepper, autocast
from oscsim.errors import ConfigError, SchemaError, SpecError, TargetUnavailable

ALONE = Processes(0, 1, torch.device("cpu"))


def _model_bytes(tiny, folder, **changes):
    tiny.run(folder, **changes)
    return (folder / "model.safetensors").read_bytes()


def test_the_seed_gives_every_bit_and_another_seed_does_not(tiny, unbroken, tmp_path):
    torch.manual_seed(11)  # the surrounding random state must not matter
    same = _model_bytes(tiny, tmp_path / "same")
    assert same == (unbroken / "model.safetensors").read_bytes()
    assert _model_bytes(tiny, tmp_path / "other", seed=1) != same


def test_training_leaves_global_state_alone(tiny, tmp_path):
    torch.manual_seed(5)
    expected, threads = torch.rand(3), torch.get_num_threads()
    torch.manual_seed(5)
    tiny.run(tmp_path, steps=1)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(
    "change",
    [
        {"learning_rate": 0.01}, {"warm_up": 6}, {"weight_decay": 0.0}, {"betas": (0.9, 0.5)},
        {"clip": 1e-3}, {"batch": 5}, {"precision": "bfloat16"}, {"steps": 11},
    ],
    ids=str,
)  # fmt: skip
def test_every_setting_changes_the_trained_parameters(tiny, unbroken, tmp_path, change):
    tiny.run(tmp_path, **change)
    _, arrays = read_checkpoint(tmp_path / "model.safetensors")
    _, others = read_checkpoint(unbroken / "model.safetensors")
    assert any((arrays[name] != others[name]).any() for name in others)
    assert {array.dtype.name for array in arrays.values()} == {"float32"}


@pytest.mark.parametrize(
    "change", [{"log_every": 1}, {"validate_every": 1}, {"checkpoint_every": 1}], ids=str
)
def test_looking_does_not_change_what_is_trained(tiny, unbroken, tmp_path, change):
    tiny.run(tmp_path, **change)
    _, arrays = read_checkpoint(tmp_path / "model.safetensors")
    _, others = read_checkpoint(unbroken / "model.safetensors")
    assert all((arrays[name] == others[name]).all() for name in others)


def test_steps_are_those_of_plain_adamw(tiny, tmp_path):
    """The same steps, written down without the trainer; dropout 0, so nothing is drawn within a step."""
    shape, config, data = tiny.TinyConfig(dropout=0.0), tiny.config(steps=4), tiny.data()
    tiny.run(tmp_path, shape=shape, steps=4)
    torch.manual_seed(config.seed)
    model = tiny.TinyLanguageModel(shape)
    model.prepare(spaced_passages(data.train, shape.context))
    groups = model.parameter_groups(config.learning_rate, config.weight_decay)
    optimiser = torch.optim.AdamW(groups, betas=config.betas, fused=True)
    for step, factor in enumerate((1 / 3, 2 / 3, 1.0, 1.0), start=1):
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * factor
        generator = torch.Generator().manual_seed(step_seed(config.seed, step))
        starts = torch.randint(data.train.numel() - 8, (config.batch,), generator=generator)
        passages = torch.stack([data.train[start : start + 9] for start in starts]).long()
        optimiser.zero_grad()
        sum(model.losses(passages[:, :-1], passages[:, 1:])).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        optimiser.step()
    _, arrays = read_checkpoint(tmp_path / "model.safetensors")
    for name, value in model.state_dict().items():
        assert torch.equal(torch.tensor(arrays[f"model.{name}"]), value), name


def test_the_log_and_the_results_say_what_was_measured(tiny, tmp_path):
    seen = []
    outcome = tiny.run(tmp_path, lambda *row: seen.append(row))
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "step,bits_per_byte,learning_rate,gradient_norm,validation_bits_per_byte"
    rows = [line.split(",") for line in lines[1:]]
    assert [int(row[0]) for row in rows] == [row[0] for row in seen] == [2, 4, 6, 8, 10, 12]
    assert (
        [bool(row[4]) for row in rows]
        == [row[3] is not None for row in seen]
        == [step in (6, 12) for step in (2, 4, 6, 8, 10, 12)]
    )
    assert float(rows[-1][1]) == pytest.approx(seen[-1][1], rel=1e-8)  # nine digits
    assert all(row[2] > 0.0 for row in seen)
    results, data = outcome.results, tiny.data()
    model = tiny.TinyLanguageModel(tiny.TinyConfig())
    _, arrays = read_checkpoint(tmp_path / "model.safetensors")
    model.load_state_dict({name.removeprefix("model."): torch.tensor(a) for name, a in arrays.items()})
    assert results["test_bits_per_byte"] == bits_per_byte(model, data.test)
    assert results["validation_bits_per_byte"] == bits_per_byte(model, data.validation) < 8.0
    assert results["parameters"] == 256 * 4 + 1 + 4 * 256 + 256
    assert results["data"]["sha256"] == data.digest and results["data"]["test_bytes"] == 100
    assert results["seed"] == 0 and results["training"]["steps"] == 12 and results["config"]["width"] == 4
    assert results["environment"]["threads"] == torch.get_num_threads() and results["wall_time_s"] > 0.0


def test_batches_depend_on_seed_and_step_only_and_are_dealt_out_to_processes():
    tokens = torch.arange(100)
    whole = batch(tokens, 5, 6, seed=3, step=7)
    assert whole.shape == (6, 6) and torch.equal(whole[:, 1:], whole[:, :-1] + 1)
    assert torch.equal(batch(tokens, 5, 6, 3, 7), whole)
    assert not torch.equal(batch(tokens, 5, 6, 3, 8), whole) and not torch.equal(
        batch(tokens, 5, 6, 4, 7), whole
    )
    dealt = torch.stack([batch(tokens, 5, 6, 3, 7, rank, 2) for rank in range(2)], dim=1)
    assert torch.equal(dealt.flatten(0, 1), whole)
    assert len({step_seed(s, t, r) for s in range(5) for t in range(5) for r in range(3)}) == 75
    # the shortest data of all: one passage, always the same
    assert torch.equal(batch(tokens[:6], 5, 2, 0, 0), tokens[:6].expand(2, 6))


def test_windows_score_every_byte_after_the_first_once():
    found = windows(torch.arange(26), 5)
    assert found[:, 1:].flatten().tolist() == list(range(1, 26))
    assert windows(torch.arange(26), 5, limit=2)[:, 0].tolist() == [0, 10]
    assert windows(torch.arange(26), 5, limit=9).shape[0] == 5
    for part in (torch.arange(5), torch.zeros(3, 9)):
        with pytest.raises(SpecError, match="expected one passage of more than 5 bytes"):
            windows(part, 5)


def test_the_schedule_starts_low_peaks_after_warm_up_and_ends_at_a_tenth():
    factors = [training.learning_rate_factor(done, 100, 10) for done in range(101)]
    assert max(factors) == factors[9] == factors[10] == 1.0
    assert factors[0] == pytest.approx(0.1) and factors[100] == pytest.approx(0.1)
    assert training.learning_rate_factor(0, 1, 0) == 1.0


def test_autocast_computes_in_bfloat16_and_keeps_float32_parameters(tiny):
    model = tiny.TinyLanguageModel(tiny.TinyConfig(dropout=0.0))
    config = tiny.config(precision="bfloat16")
    seen = []
    model.head.register_forward_hook(lambda _, __, output: seen.append(output.dtype))
    record = Stepper(model, optimiser_of(model, config), tiny.data().train, config, ALONE).gradients(1)
    assert seen == [torch.bfloat16] and model.head.weight.grad.dtype == torch.float32
    exact = Stepper(model, optimiser_of(model, config), tiny.data().train, tiny.config(), ALONE).gradients(1)
    # logits are of order 1 and rounded to 8 bits: 2**-9 nats each, so at most 2**-8 between two of them
    assert 0.0 < abs(record.bits_per_byte - exact.bits_per_byte) < 2**-8 / math.log(2.0)


def test_bfloat16_is_refused_where_the_device_has_none(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    with pytest.raises(ConfigError, match="given 'bfloat16' on a GPU without it"):
        autocast(torch.device("cuda"), "bfloat16")


def test_a_gpu_that_is_not_there_is_refused(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="device: given 'cuda', but torch sees no GPU"):
        training.train(
            tiny.TinyLanguageModel, tiny.TinyConfig(), tiny.config(), tiny.data(), tmp_path, device="cuda"
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"steps": 0}, "steps: given 0, expected a whole number, at least 1; change it"),
        ({"log_every": 1.5}, "log_every: given 1.5, expected a whole number"),
        ({"warm_up": -1}, "warm_up: given -1, expected a whole number, at least 0"),
        ({"weight_decay": float("nan")}, "weight_decay: given nan"),
        ({"learning_rate": 0.0}, "learning_rate: given 0.0, expected a positive number"),
        ({"clip": float("inf")}, "clip: given inf"),
        ({"clip": "1"}, "clip: given '1', expected a positive number"),
        (
            {"betas": (1.5, 0.9)},
            r"betas: given \(1\.5, 0\.9\), expected two numbers from 0 to below 1; change",
        ),
        ({"betas": [0.9, 1.0]}, r"betas: given \[0\.9, 1\.0\]"),
        ({"betas": (0.9, float("nan"))}, "betas: given"),
        ({"betas": (0.9,)}, "betas: given"),
        ({"betas": (0.9, "0.95")}, "betas: given"),
        ({"betas": 0.9}, "betas: given 0.9"),
        ({"seed": -1}, r"seed: given -1, expected a whole number from 0 to 2\^63 - 1"),
        ({"seed": 2**63}, "seed: given 9223372036854775808"),
        ({"seed": 0.5}, "seed: given 0.5"),
        ({"seed": True}, "seed: given True"),
        ({"compile": "no"}, "compile: given 'no', expected True or False"),
        ({"implementation": "fast"}, "implementation: given 'fast', expected None or one of 'triton', 'nat"),
        ({"precision": "float16"}, "precision: given 'float16'"),
        ({"batch": 3}, "batch: given 3 for 2 processes, expected a multiple of 2"),
    ],
    ids=str,
)
def test_impossible_settings_are_refused(tiny, change, expected):
    with pytest.raises(ConfigError, match=expected):
        check(tiny.config(**change), tiny.TinyConfig(), tiny.data(), Processes(0, 2, torch.device("cpu")))


def test_too_few_bytes_are_refused_before_anything_is_made(tiny, tmp_path):
    with pytest.raises(SpecError, match="letters validation: given tokens of shape"):
        tiny.run(tmp_path / "run", shape=tiny.TinyConfig(context=100))
    assert not (tmp_path / "run").exists()


def test_a_missing_tensorboard_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr("models.training.events.util.find_spec", lambda name: None)
    with pytest.raises(TargetUnavailable, match=r"Install it with: pip install -e '\.\[models\]'"):
        require_tensorboard()


def test_the_optimiser_wants_each_parameter_once(tiny, monkeypatch):
    model = tiny.TinyLanguageModel(tiny.TinyConfig())
    monkeypatch.setattr(
        model, "parameter_groups", lambda rate, decay: [{"params": [model.scale], "lr": rate}]
    )
    with pytest.raises(SpecError, match="parameter groups of 1 tensors, expected each of the 4 parameters"):
        optimiser_of(model, tiny.config())


@pytest.mark.parametrize(
    "state",
    [
        {"step.scale": torch.zeros(())},
        {f"{key}.scale": torch.zeros(2) for key in ("step", "exp_avg", "exp_avg_sq")},
        {"exp_avg.nobody": torch.zeros(())},
        {},
    ],
    ids="-".join,
)
def test_a_foreign_optimiser_state_is_refused(tiny, state):
    model = tiny.TinyLanguageModel(tiny.TinyConfig())
    with pytest.raises(SchemaError, match="somewhere: given an optimiser state of"):
        restore_optimiser(optimiser_of(model, tiny.config()), model, state, {"step": 5}, "somewhere")
