"""Presets: matched, and at the scale they say."""

from dataclasses import replace

import pytest

from models.presets import PRESETS, preset
from models.registry import model_class, model_names
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
