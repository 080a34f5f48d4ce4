"""Files: what is written comes back, and anything else is refused with a reason."""

import os

import numpy as np
import pytest
import torch

import models
from models.checkpoint import KIND, SCHEMA_VERSION, optimiser_arrays, read_checkpoint
from oscsim.errors import SchemaError, SpecError
from oscsim.io import read_file, write_file

SHAPES = {
    "transformer": models.TransformerConfig(width=8, blocks=1, heads=2, context=8),
    "kuramoto": models.KuramotoConfig(width=8, blocks=1, heads=2, context=8, gates=False),
    "osn": models.OSNConfig(width=8, blocks=1, heads=2, context=8, locked_target=(0.1, 0.9)),
}
CLASSES = {
    "transformer": models.TransformerLanguageModel,
    "kuramoto": models.KuramotoLanguageModel,
    "osn": models.OSNLanguageModel,
}


def _model(name="transformer"):
    torch.manual_seed(1)
    model = CLASSES[name](SHAPES[name])
    model.record = {"training": {"steps": 3, "betas": [0.9, 0.95]}}
    return model


@pytest.fixture
def saved(tmp_path):
    models.save_checkpoint(_model(), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def parts(saved):
    header, arrays = read_file(saved, KIND, (SCHEMA_VERSION,))
    return {key: header[key] for key in ("model", "config", "record")}, arrays


@pytest.mark.parametrize("name", CLASSES)
def test_a_model_comes_back_with_every_bit(tmp_path, name):
    """Kuramoto's has a parameter without dimensions, OSN's configuration a tuple."""
    model = _model(name)
    models.save_checkpoint(model, tmp_path / "model")
    loaded = models.load_checkpoint(tmp_path / "model")
    assert type(loaded) is CLASSES[name] and loaded.config == model.config
    assert loaded.record == model.record and not loaded.training
    assert loaded.state_dict().keys() == model.state_dict().keys()
    for key, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[key], value) and loaded.state_dict()[key].shape == value.shape
    models.save_checkpoint(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["again", "model"]


def test_the_state_of_a_run_lies_beside_the_model(tmp_path):
    model = _model()
    state = {"step.norm.weight": torch.tensor(3.0), "exp_avg.norm.weight": torch.arange(8.0)}
    models.save_checkpoint(model, tmp_path / "run", {"step": 3}, state)
    header, arrays = read_checkpoint(tmp_path / "run")
    assert header["training"] == {"step": 3}
    found = optimiser_arrays(arrays)
    assert found.keys() == state.keys() and all(torch.equal(found[key], state[key]) for key in state)
    loaded = models.load_checkpoint(tmp_path / "run")
    tokens = torch.arange(8).unsqueeze(0)
    assert torch.equal(loaded(tokens), model.eval()(tokens))


def test_loading_leaves_the_random_state_alone(saved):
    torch.manual_seed(2)
    expected = torch.rand(2)
    torch.manual_seed(2)
    models.load_checkpoint(saved)
    assert torch.equal(torch.rand(2), expected)


def test_a_double_model_is_not_saved(tmp_path):
    with pytest.raises(SpecError, match="expected float32"):
        models.save_checkpoint(_model().double(), tmp_path / "double")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_not_saved(saved, value):
    before = saved.read_bytes()
    model = _model()
    with pytest.raises(SpecError, match=r"given optimiser\.exp_avg\.scale with NaN or infinity"):
        models.save_checkpoint(model, saved, {"step": 1}, {"exp_avg.scale": torch.tensor(value)})
    with torch.no_grad():
        next(model.parameters()).view(-1)[3] = value
    with pytest.raises(SpecError, match=r"given model\.\S+ with NaN or infinity"):
        models.save_checkpoint(model, saved)
    assert saved.read_bytes() == before


@pytest.mark.parametrize("damage", ["empty", "foreign", "truncated", "flipped"])
def test_damaged_files_are_refused(tmp_path, saved, damage):
    data = bytearray(saved.read_bytes())
    if damage == "flipped":
        data[-5] ^= 1
    contents = {"empty": b"", "foreign": b"PK\x03\x04" * 20, "truncated": data[:-100], "flipped": data}
    path = tmp_path / "bad"
    path.write_bytes(bytes(contents[damage]))
    with pytest.raises(SchemaError, match="bad"):
        models.load_checkpoint(path)


def test_another_version_and_another_kind_are_refused(tmp_path, parts):
    write_file(tmp_path / "new", KIND, SCHEMA_VERSION + 1, *parts)
    with pytest.raises(SchemaError, match=f"schema version {SCHEMA_VERSION + 1}"):
        models.load_checkpoint(tmp_path / "new")
    write_file(tmp_path / "spec", "phase_layer", 1, *parts)
    with pytest.raises(SchemaError, match="this is a 'phase_layer' file, expected a 'language_model' file"):
        models.load_checkpoint(tmp_path / "spec")


def test_a_character_model_is_refused_with_what_changed(tmp_path, parts):
    write_file(tmp_path / "old", "osn_character_model", 1, *parts)
    with pytest.raises(SchemaError, match=r"old: this is a character model .*; train again: oscsim train"):
        models.load_checkpoint(tmp_path / "old")


@pytest.mark.parametrize(
    "change",
    [
        {"config": None}, {"config": {"width": 64}}, {"record": None}, {"model": 5}, {"model": "perceptron"},
        {"model": "kuramoto"}, {"training": "long"}, {"width": 6}, {"width": -4}, {"width": "wide"},
        {"width": [8]}, {"blocks": 3},
    ],
    ids=str,
)  # fmt: skip
def test_headers_that_do_not_describe_the_arrays_are_refused(tmp_path, parts, change):
    header, arrays = parts
    outer = {key: value for key, value in change.items() if key in {*header, "training"}}
    inner = {key: value for key, value in change.items() if key not in outer}
    body = {**header, "config": {**header["config"], **inner}, **outer}
    write_file(tmp_path / "odd", KIND, SCHEMA_VERSION, body, arrays)
    with pytest.raises(SchemaError, match="odd"):
        models.load_checkpoint(tmp_path / "odd")


def test_arrays_of_another_type_or_missing_are_refused(tmp_path, parts):
    header, arrays = parts
    name = sorted(arrays)[0]
    for odd in (
        {**arrays, name: arrays[name].astype(np.float64)},
        {n: arrays[n] for n in arrays if n != name},
    ):
        write_file(tmp_path / "odd", KIND, SCHEMA_VERSION, header, odd)
        with pytest.raises(SchemaError, match=rf"odd: .* first {name.removeprefix('model.')}: "):
            models.load_checkpoint(tmp_path / "odd")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing_here"):
        models.load_checkpoint(tmp_path / "nothing_here")


def test_a_foreign_file_with_nan_is_refused(tmp_path, parts):
    header, arrays = parts
    name = "model.embedding.weight"
    write_file(tmp_path / "nan", KIND, SCHEMA_VERSION, header, {**arrays, name: arrays[name] * np.nan})
    with pytest.raises(SchemaError, match=r"given embedding\.weight with NaN or infinity"):
        models.load_checkpoint(tmp_path / "nan")


def test_an_array_that_belongs_to_nothing_is_refused(tmp_path, parts):
    header, arrays = parts
    write_file(tmp_path / "odd", KIND, SCHEMA_VERSION, header, {**arrays, "more": np.ones(2)})
    with pytest.raises(SchemaError, match="odd: given the array 'more'; expected names that begin with"):
        models.load_checkpoint(tmp_path / "odd")
