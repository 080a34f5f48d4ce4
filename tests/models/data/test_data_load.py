"""Data sources: what is read, how it is split, and what is refused."""

import hashlib
import sys
from importlib import util

import pytest
import torch

from models.data import SOURCES, load_data
from oscsim.errors import ConfigError, SchemaError, TargetUnavailable


def test_alice_is_split_without_losing_a_byte():
    data = load_data("alice", context=128)
    joined = torch.cat([data.train, data.validation, data.test])
    assert joined.dtype == torch.uint8
    assert hashlib.sha256(joined.numpy().tobytes()).hexdigest() == data.digest == SOURCES[0].sha256
    assert (len(data), data.name) == (144_390, "alice")
    assert len(data.train) == 144_390 * 90 // 100
    assert len(data.validation) == 144_390 * 5 // 100
    assert bytes(data.train[:5].tolist()) == b"ALICE"


def test_the_sample_comes_out_of_the_wheel_without_importing_gensim():
    data = load_data("enwiki-sample")
    assert (len(data), data.digest) == (SOURCES[1].size, SOURCES[1].sha256)
    assert bytes(data.train[:10].tolist()) == b"<mediawiki"
    assert "gensim" not in sys.modules


def test_the_sample_without_gensim_names_the_command(monkeypatch):
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(TargetUnavailable, match=r"6,089,746 bytes.*34c1c6") as caught:
        load_data("enwiki-sample")
    assert caught.value.command == "pip install -e '.[data]'"


def test_the_sample_of_another_gensim(monkeypatch, tmp_path):
    other = type("Spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(util, "find_spec", lambda name: other)
    with pytest.raises(SchemaError, match=r"not part of the installed gensim.*4\.4\.0"):
        load_data("enwiki-sample")


def test_any_file_is_taken_byte_by_byte(tmp_path):
    path = tmp_path / "every.bin"
    path.write_bytes(bytes(range(256)) * 2)
    data = load_data(str(path), context=24)
    assert [len(data.train), len(data.validation), len(data.test)] == [460, 25, 27]
    assert data.name == "every.bin"
    assert torch.equal(data.train, torch.arange(460) % 256)


@pytest.mark.parametrize("size", [0, 1, 39, 511])
def test_too_short_a_file_says_how_long_it_has_to_be(tmp_path, size):
    path = tmp_path / "short.txt"
    path.write_bytes(b"x" * size)
    # 5 per cent of 520 bytes are 26: a context of 25 and the byte after it
    with pytest.raises(ConfigError, match=rf"given {size} bytes.*at least 520, for 26 in each"):
        load_data(str(path), context=25)
    path.write_bytes(b"x" * 520)
    assert len(load_data(str(path), context=25).validation) == 26


def test_bytes_that_look_compressed_stay_as_they_are_in_any_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"BZh" + b"PK" * 50)
    assert bytes(load_data(str(path)).train[:4].tolist()) == b"BZhP"


@pytest.mark.parametrize("source", ["enwik8", "enwik8=", "enwiki-sample="])
def test_a_source_that_needs_a_file(source):
    with pytest.raises(ConfigError, match=r"expected (enwik8|enwiki-sample)=FILE with .* SHA-256"):
        load_data(source)


def test_enwik8_says_where_it_comes_from(tmp_path):
    path = tmp_path / "enwik8"
    path.write_bytes(b"<mediawiki")
    with pytest.raises(SchemaError, match=r"10 bytes.*100,000,000.*2b49720e.*mattmahoney\.net"):
        load_data(f"enwik8={path}")


@pytest.mark.parametrize("source", ["nowhere.txt", "enwik8=nowhere.txt", "enwiki-sample=nowhere.txt"])
def test_no_such_file(source):
    with pytest.raises(FileNotFoundError) as caught:
        load_data(source)
    assert caught.value.filename == "nowhere.txt"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(SchemaError, match="directory"):
        load_data(str(tmp_path))
