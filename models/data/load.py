"""``load_data``: a source by name or path, split into training, validation and test bytes."""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass
from importlib import resources, util
from pathlib import Path

import torch
from torch import Tensor

from oscsim.errors import ConfigError, SchemaError, TargetUnavailable
from oscsim.io import read_regular

from .sources import ALICE, ENWIK8, ENWIKI_SAMPLE, Source
from .unpack import read_source

_WHEEL_FILE = "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
_INSTALL = "pip install -e '.[data]'"
_SHARES = (90, 5, 5)
"""Per cent of training, validation and test bytes, in this order."""


@dataclass(frozen=True, eq=False)
class Data:
    """Bytes to train on, to watch the training by, and to measure the result on.

    Attributes
    ----------
    name : of the source: "alice", "enwiki-sample", "enwik8", or the name of the file.
    train, validation, test : one after the other in the source, 90, 5 and 5 per cent; 1-D, uint8.
    digest : SHA-256 of all bytes, 64 hex digits.
    """

    name: str
    train: Tensor
    validation: Tensor
    test: Tensor
    digest: str

    def __len__(self) -> int:
        return len(self.train) + len(self.validation) + len(self.test)


def load_data(source: str, context: int = 1) -> Data:
    """Return the split bytes of a source.

    Parameters
    ----------
    source : "alice" (comes with the package); "enwiki-sample" (Wikipedia XML out of the installed gensim
        4.4.0 wheel) or "enwiki-sample=FILE" (the same file elsewhere, compressed or not); "enwik8=FILE"
        (the file or its zip); or the path of any other file, whose bytes are taken as they are.
    context : bytes that a model sees at a time; each part has to hold a window of it and one byte more.

    Raises
    ------
    SchemaError
        a file that is not the one it should be: says what was expected, what was found, how to get it.
    ConfigError
        a source that needs a file, or too few bytes for ``context``.
    TargetUnavailable
        "enwiki-sample" without gensim.
    FileNotFoundError
        neither a source nor a file.

    >>> load_data("alice").digest[:8]
    'cac93b66'
    """
    name, content = _content(source)
    data = _split(name, content)
    short = min((data.test, data.validation, data.train), key=len)
    if len(short) <= context:
        least = context + 1
        raise ConfigError(
            f"{source}: given {len(content):,} bytes, so that validation and test have {len(short):,} each; "
            f"expected at least {least * 100 // _SHARES[1]:,}, for {least:,} in each (one context of "
            f"{context:,} and the byte after it); use a longer text or a shorter context"
        )
    return data


def _content(source: str) -> tuple[str, bytes]:
    name, equals, path = source.partition("=")
    known = {entry.name: entry for entry in (ENWIKI_SAMPLE, ENWIK8)}
    if source == ALICE.name:
        return source, ALICE.check(
            (resources.files(__package__ or __name__) / "alice.txt").read_bytes(), "alice.txt"
        )
    if source == ENWIKI_SAMPLE.name:
        return source, _from_wheel(ENWIKI_SAMPLE)
    if source == ENWIK8.name or (equals and not path and name in known):
        raise ConfigError(f"{source}: expected {name}=FILE with {known[name].expected}; {known[name].get}")
    if equals and name in known:
        return name, read_source(known[name], path)
    return _any_file(source)


def _any_file(path: str) -> tuple[str, bytes]:
    if not os.path.exists(path):
        raise FileNotFoundError(
            errno.ENOENT,
            "no such file, and none of the sources alice, enwiki-sample, enwiki-sample=FILE, enwik8=FILE",
            path,
        )
    return Path(path).name, read_regular(path)


def _from_wheel(source: Source) -> bytes:
    """The sample as gensim installed it, found without importing gensim."""
    gensim = util.find_spec("gensim")
    if gensim is None or not gensim.submodule_search_locations:
        raise TargetUnavailable(
            source.name,
            f"package gensim 4.4.0 is not installed, which carries {source.expected}; without it, name the "
            f"file: {source.name}=FILE",
            _INSTALL,
        )
    path = Path(gensim.submodule_search_locations[0]) / _WHEEL_FILE
    if not path.exists():
        raise SchemaError(
            f"{path}: not part of the installed gensim; expected {source.expected}; {source.get}"
        )
    return read_source(source, str(path))


def _split(name: str, content: bytes) -> Data:
    """Contiguous parts; what the percentages leave over is the test part's."""
    first, second, _ = (len(content) * share // 100 for share in _SHARES)
    tokens = torch.frombuffer(bytearray(content), dtype=torch.uint8) if content else torch.zeros(0).byte()
    train, validation, test = tokens.tensor_split((first, first + second))
    return Data(name, train, validation, test, hashlib.sha256(content).hexdigest())
