"""The first training a newcomer tries learns something."""

from dataclasses import replace

from models.data import load_data
from models.presets import preset
from models.training import train


def test_fifty_steps_on_alice_reach_what_two_hundred_promise(tmp_path) -> None:
    config, training = preset("kuramoto", "tiny")
    outcome = train("kuramoto", config, replace(training, steps=50), load_data("alice"), tmp_path / "run")
    # an untrained model has 8 bits, single bytes of English about 4.5; the documented command (200 steps, run
    # with the README) promises at most 3.3
    assert outcome.results["validation_bits_per_byte"] <= 3.3
    assert outcome.results["parameters"] == 248_857
