"""Presets: matched, and at the scale they say."""

from dataclasses import replace

import pytest

from models.data import load_data
from models.presets import PRESETS, preset
from models.registry import model_class, model_names
from models.training import train
from oscsim.errors import ConfigError

SIZES = {"tiny": (0.25e6, 128), "1m": (1.0e6, 256), "5m": (5.0e6, 256)}


@pytest.mark.parametrize("size", PRESETS)
def test_models_of_a_size_are_matched(size: str) -> None:
    counts, courses = [], []
    for name in model_names():
        config, training = preset(name, size)
        counts.append(model_class(name)(config).parameter_count())
        courses.append(replace(training, learning_rate=0.0))
        assert config.context == SIZES[size][1] and config.dropout == 0.0
    assert max(counts) - min(counts) <= 0.01 * min(counts)
    assert abs(counts[0] - SIZES[size][0]) <= 0.02 * SIZES[size][0]
    assert courses[1:] == courses[:-1]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ConfigError, match="given 'rnn', expected one of transformer, kuramoto, osn"):
        preset("rnn", "tiny")
    with pytest.raises(ConfigError, match="given '7b', expected one of tiny, 1m, 5m"):
        preset("osn", "7b")


@pytest.mark.parametrize("size", ["1m", "5m"])
@pytest.mark.parametrize("name", model_names())
def test_large_presets_train(name: str, size: str, tmp_path) -> None:
    config, training = preset(name, size)
    short = replace(training, steps=2, batch=1)
    data = load_data("alice")
    brief = replace(data, validation=data.validation[:600], test=data.test[:600])
    outcome = train(name, config, short, brief, tmp_path / "run")
    assert outcome.steps_done == 2
    # a uniform guess has 8 bits; two steps of a warm-up change little, but a broken start would show
    assert 7.0 < outcome.results["validation_bits_per_byte"] < 10.0
