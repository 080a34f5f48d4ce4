"""The first training a newcomer tries learns something."""

from dataclasses import replace

from models.data import load_data
from models.presets import preset
from models.training import train


def test_two_hundred_steps_on_alice_reach_three_bits(tmp_path) -> None:
    config, training = preset("kuramoto", "tiny")
    outcome = train("kuramoto", config, replace(training, steps=200), load_data("alice"), tmp_path / "run")
    # an untrained model has 8 bits, single bytes of English about 4.5, the documented command at most 3.3
    assert outcome.results["validation_bits_per_byte"] <= 3.3
    assert outcome.results["parameters"] == 248_857
