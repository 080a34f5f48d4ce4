"""A run that goes on elsewhere, or with another version, says so and leaves a trace."""

import warnings

import pytest
import torch

from models.checkpoint import KIND, SCHEMA_VERSION, read_checkpoint
from models.training import EnvironmentWarning
from oscsim.io import read_file, write_file


def test_another_environment_is_said(tiny, begun, monkeypatch):
    monkeypatch.setattr("models.training.trainer.environment", _elsewhere)
    with pytest.warns(EnvironmentWarning, match=r"threads 64 \(it was \d+\)"):
        outcome = tiny.run(begun)
    assert outcome.results["environment"]["threads"] == 64
    assert [one["threads"] for one in outcome.results["environments"]] == [torch.get_num_threads(), 64]
    header, _ = read_checkpoint(begun / "checkpoint.safetensors")
    for key in ("environment", "environments"):
        assert header["training"][key] == outcome.results[key]


def test_the_environments_of_a_run_are_kept_in_order_and_once(tiny, begun, monkeypatch):
    def stop(step, *_):
        if step == 12:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("models.training.trainer.environment", _elsewhere)
        with pytest.warns(EnvironmentWarning), pytest.raises(KeyboardInterrupt):
            tiny.run(begun, stop)  # computes the checkpoint of step 10
    with pytest.warns(EnvironmentWarning, match=r"threads \d+ \(it was 64\)"):
        results = tiny.run(begun).results
    own = torch.get_num_threads()
    assert [one["threads"] for one in results["environments"]] == [own, 64]
    assert results["environment"]["threads"] == own


def test_a_run_of_an_earlier_version_goes_on(tiny, begun, same_run):
    """Its checkpoint names one environment, and no parameters with a state."""
    path = begun / "checkpoint.safetensors"
    header, arrays = read_file(path, KIND, (SCHEMA_VERSION,))
    for key in ("environments", "optimiser"):
        del header["training"][key]
    body = {key: value for key, value in header.items() if key not in ("kind", "schema_version")}
    write_file(path, KIND, SCHEMA_VERSION, body, arrays)
    assert tiny.run(begun)[1:] == (5, 7, False)
    same_run(begun)


def _elsewhere(group):
    from models.training.facts import environment

    return {**environment(group), "threads": 64}


def test_the_same_environment_is_not_worth_a_word(tiny, begun):
    with warnings.catch_warnings():
        warnings.simplefilter("error", EnvironmentWarning)
        tiny.run(begun)
