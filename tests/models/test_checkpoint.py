"""Files: what is written comes back, and anything else is refused with a reason."""

import os

import numpy as np
import pytest
import torch

import models
from models.checkpoint import KIND, SCHEMA_VERSION
from oscsim.errors import SchemaError, SpecError
from oscsim.io import read_file, write_file


@pytest.fixture
def parts():
    return read_file(models.shipped_checkpoint_path(), KIND, (SCHEMA_VERSION,))


def test_saving_a_loaded_model_gives_the_same_bytes(tmp_path):
    models.save_checkpoint(models.load_checkpoint(), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == models.shipped_checkpoint_path().read_bytes()
    assert os.listdir(tmp_path) == ["again"]


def test_loading_leaves_the_random_state_alone():
    torch.manual_seed(2)
    expected = torch.rand(2)
    torch.manual_seed(2)
    models.load_checkpoint()
    assert torch.equal(torch.rand(2), expected)


def test_a_double_model_is_not_saved(tmp_path):
    with pytest.raises(SpecError, match="expected float32"):
        models.save_checkpoint(models.load_checkpoint().double(), tmp_path / "double")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["empty", "foreign", "truncated", "flipped"])
def test_damaged_files_are_refused(tmp_path, damage):
    data = bytearray(models.shipped_checkpoint_path().read_bytes())
    if damage == "flipped":
        data[-5] ^= 1
    contents = {"empty": b"", "foreign": b"PK\x03\x04" * 20, "truncated": data[:-100], "flipped": data}
    path = tmp_path / "bad"
    path.write_bytes(bytes(contents[damage]))
    with pytest.raises(SchemaError, match="bad"):
        models.load_checkpoint(path)


def test_an_outdated_file_and_another_kind_are_refused(tmp_path, parts):
    header, arrays = parts
    body = {key: header[key] for key in ("config", "vocabulary", "record")}
    write_file(tmp_path / "old", KIND, 0, body, arrays)
    with pytest.raises(SchemaError, match="schema version 0"):
        models.load_checkpoint(tmp_path / "old")
    models.load_checkpoint().to_spec("Alice").save(tmp_path / "spec.phase")
    with pytest.raises(SchemaError, match=KIND):
        models.load_checkpoint(tmp_path / "spec.phase")


@pytest.mark.parametrize(
    "change",
    [
        {"config": None},
        {"config": {"width": 64}},
        {"vocabulary": 5},
        {"record": None},
        {"vocabulary": "abc"},
        {"width": 63},
        {"width": -4},
        {"width": "wide"},
        {"blocks": 3},
    ],
    ids=str,
)
def test_headers_that_do_not_describe_the_arrays_are_refused(tmp_path, parts, change):
    header, arrays = parts
    body = {key: header[key] for key in ("config", "vocabulary", "record")}
    inner = {key: value for key, value in change.items() if key not in body}
    body.update({key: value for key, value in change.items() if key in body})
    if inner:
        body["config"] = {**body["config"], **inner}
    write_file(tmp_path / "odd", KIND, SCHEMA_VERSION, body, arrays)
    with pytest.raises(SchemaError, match="odd"):
        models.load_checkpoint(tmp_path / "odd")


def test_arrays_of_another_type_are_refused(tmp_path, parts):
    header, arrays = parts
    body = {key: header[key] for key in ("config", "vocabulary", "record")}
    wide = {**arrays, "embedding.weight": arrays["embedding.weight"].astype(np.float64)}
    write_file(tmp_path / "wide", KIND, SCHEMA_VERSION, body, wide)
    with pytest.raises(SchemaError, match=r"embedding\.weight"):
        models.load_checkpoint(tmp_path / "wide")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing_here"):
        models.load_checkpoint(tmp_path / "nothing_here")
