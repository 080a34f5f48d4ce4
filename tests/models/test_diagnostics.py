"""Diagnostics: known quantities on known inputs, means over passages, the picture."""

import math

import pytest
import torch

from models.diagnostics import QUANTITIES, Diagnosis, cut, diagnose
from models.diagnostics_plot import png
from models.language_model import LanguageModel
from models.registry import config_class, model_class
from oscsim.errors import SpecError


class Config:
    context = 6


class FirstByte(LanguageModel):
    """Two blocks; the first has the mean of the first bytes as its only quantity."""

    name = "first"

    def __init__(self):
        super().__init__(Config())
        self.only = torch.nn.Parameter(torch.zeros(1))

    def diagnose(self, tokens):
        assert not self.training and tokens.dtype == torch.int64
        return [{"local_order": tokens[:, 0].double().mean().item()}, {"attention_entropy": 2.0}]


@pytest.mark.parametrize("batch", [1, 3, 17])
def test_the_mean_over_passages_does_not_depend_on_the_batch(batch):
    passages = torch.arange(7, dtype=torch.uint8).unsqueeze(1).expand(7, 4)
    model = FirstByte()
    diagnosis = diagnose(model, passages, batch)
    assert diagnosis.blocks == ({"local_order": pytest.approx(3.0)}, {"attention_entropy": 2.0})
    assert (diagnosis.passages, diagnosis.length, diagnosis.model) == (7, 4, "first")
    assert [q.key for q in diagnosis.quantities] == ["local_order", "attention_entropy"]
    assert model.training


@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (1, 7), (4,), (1, 2, 3)])
def test_passages_of_another_shape(shape):
    with pytest.raises(SpecError, match=r"given shape .* 2 to the model's context, 6"):
        diagnose(FirstByte(), torch.zeros(shape))


def test_cut():
    assert cut(torch.arange(20), 6, most=2).tolist() == [list(range(6)), list(range(14, 20))]
    assert cut(torch.arange(20), 6).shape == (3, 6)
    assert cut(torch.arange(6), 6).tolist() == [list(range(6))]
    assert cut(torch.arange(7), 6).tolist() == [list(range(6))]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("transformer", {"attention_entropy"}),
        ("kuramoto", {"local_order", "global_order", "mean_abs_omega", "attention_entropy"}),
        ("osn", {"local_order", "global_order", "locked_fraction", "mean_abs_omega", "attention_entropy"}),
    ],
)
def test_what_each_model_has(name, expected):
    torch.manual_seed(0)
    model = model_class(name)(config_class(name)(width=16, heads=2, blocks=3, hidden=16, context=8))
    diagnosis = diagnose(model, torch.randint(0, 256, (3, 8)))
    assert len(diagnosis.blocks) == 3
    for block in diagnosis.blocks:
        assert set(block) == expected <= {q.key for q in QUANTITIES}
        assert all(math.isfinite(value) and value >= 0.0 for value in block.values())
        for share in expected & {"local_order", "global_order", "locked_fraction"}:
            assert block[share] <= 1.0 + 1e-6
        # a row of at most 8 weights
        assert block["attention_entropy"] <= 3.0 + 1e-6


@pytest.mark.parametrize("name", ["kuramoto", "osn"])
def test_equal_tokens_are_in_perfect_order(name):
    """Every phase of the first block is the same, so any mean of e^{i theta} has length 1."""
    torch.manual_seed(0)
    model = model_class(name)(config_class(name)(width=16, heads=2, blocks=1, hidden=16, context=8))
    block = diagnose(model, torch.full((2, 8), 65)).blocks[0]
    # float32: some ulp of 1 per token of a mean
    assert block["local_order"] == pytest.approx(1.0, abs=1e-5)
    assert block["global_order"] == pytest.approx(1.0, abs=1e-5)


def test_json_carries_equations_and_units():
    content = diagnose(FirstByte(), torch.zeros(1, 4)).to_json()
    assert content["quantities"]["attention_entropy"]["unit"] == "bit"
    assert "e^{i theta_u}" in content["quantities"]["local_order"]["equation"]
    assert content["blocks"][1] == {"attention_entropy": 2.0}


def test_picture_of_one_and_of_several():
    first = Diagnosis("a", ({"local_order": 1.0, "attention_entropy": 3.0},) * 2, 4, 8)
    second = Diagnosis("b", ({"attention_entropy": 2.0},), 4, 8)
    one, two, none = png({"a": first}), png({"a": first, "b": second}), png({"c": Diagnosis("c", (), 1, 2)})
    assert all(picture.startswith(b"\x89PNG") for picture in (one, two, none))
    width = [int.from_bytes(picture[16:20]) for picture in (one, two, none)]
    assert width[0] == width[1] == 2 * width[2]  # a panel per quantity
    assert one != two
