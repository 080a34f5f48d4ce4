"""Fixtures of the command line tests: a runner, layer files, a small untrained model file."""

import json
from types import SimpleNamespace

import pytest
from layers import layer
from typer.testing import CliRunner

from oscsim.cli.commands import app
from oscsim.target import AbstractTarget, Availability


@pytest.fixture
def cli():
    """Call ``oscsim`` in this process; ``.json`` is stdout as JSON, so anything else on it is an error."""

    def call(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return SimpleNamespace(
            code=result.exit_code,
            out=result.stdout,
            err=result.stderr,
            json=lambda: json.loads(
                result.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON")
            ),
        )

    return call


@pytest.fixture
def saved(tmp_path):
    """Save a small layer under a name; changes as in ``layers.layer``."""

    def save(name="layer.phase", **changes):
        layer(**changes).save(tmp_path / name)
        return tmp_path / name

    return save


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """A model file that nobody trained; its frequencies are set so that about half of the pairs lock."""
    import torch

    import models

    path = tmp_path_factory.mktemp("model") / "untrained.safetensors"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = models.OSNLanguageModel(models.OSNConfig(width=16, heads=2, channels=3, hidden=16))
        passages = models.load_data("alice").train[:4000].long().unfold(0, 64, 500)
        models.initialise_model(model, passages, 0.5)
    models.save_checkpoint(model, path)
    return path


@pytest.fixture
def without_backends(monkeypatch):
    """Pretend that no backend is installed."""
    missing = Availability(False, "", "package nothing is not installed", "pip install nothing")
    monkeypatch.setattr(AbstractTarget, "availability", lambda _: missing)


@pytest.fixture(scope="session")
def byte_models(tmp_path_factory):
    """Small files of every model by name; nobody trained them, but each says it had alice."""
    import torch

    from models.checkpoint import save_checkpoint
    from models.data import load_data
    from models.registry import config_class, model_class, model_names

    folder, alice, paths = tmp_path_factory.mktemp("byte_models"), load_data("alice"), {}
    for name in model_names():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            config = config_class(name)(width=16, heads=2, blocks=2, hidden=16, context=32)
            model = model_class(name)(config)
            model.prepare(alice.train[: 8 * 32].view(8, 32).long())
        model.record = {"data": {"name": alice.name, "sha256": alice.digest}}
        paths[name] = folder / f"{name}.safetensors"
        save_checkpoint(model, paths[name])
    return paths
