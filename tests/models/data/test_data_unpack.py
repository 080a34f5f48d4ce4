"""Fixed sources out of plain, bzip2 and zip files, with a small source in place of the real ones."""

import bz2
import hashlib
import zipfile

import numpy as np
import pytest

from models.data.sources import Source
from models.data.unpack import read_source
from oscsim.errors import SchemaError

CONTENT = np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8).tobytes()
SMALL = Source("small", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "write it again")


@pytest.fixture
def write(tmp_path):
    def save(data):
        (tmp_path / "file").write_bytes(data)
        return str(tmp_path / "file")

    return save


@pytest.fixture
def zipped(tmp_path):
    def save(members, method=zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "file.zip", "w", method) as archive:
            for name, content in members:
                archive.writestr(name, content)
        return tmp_path / "file.zip"

    return save


def test_plain_and_bzip2(write):
    assert read_source(SMALL, write(CONTENT)) == CONTENT
    assert read_source(SMALL, write(bz2.compress(CONTENT))) == CONTENT
    two_streams = bz2.compress(CONTENT[:1000]) + bz2.compress(CONTENT[1000:])
    assert read_source(SMALL, write(two_streams)) == CONTENT


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_zip_takes_the_member_of_that_name(zipped, method):
    members = [("readme.txt", b"no"), ("folder/", b""), ("folder/small", CONTENT), ("smaller", b"")]
    assert read_source(SMALL, str(zipped(members, method))) == CONTENT


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ([], "of nothing"),
        ([("other", CONTENT)], "of other;"),
        ([("a/small", CONTENT), ("b/small", CONTENT)], "of a/small, b/small;"),
        ([(f"{i}.txt", b"") for i in range(9)], "4.txt and 4 more"),
    ],
)
def test_zip_without_exactly_one_such_member(zipped, members, found):
    with pytest.raises(SchemaError, match=rf"{found}.*exactly one member small \(.*write it again"):
        read_source(SMALL, str(zipped(members)))


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.99])
def test_truncated_archives(write, zipped, kept):
    for whole in (bz2.compress(CONTENT), zipped([("small", CONTENT)]).read_bytes()):
        with pytest.raises(SchemaError, match=r"damaged or encrypted .* expected small, 5,000 bytes"):
            read_source(SMALL, write(whole[: int(kept * len(whole))]))


def test_a_flipped_byte_is_refused(write, zipped):
    archives = [bz2.compress(CONTENT), *(
        zipped([("small", CONTENT)], method).read_bytes()
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)
    )]  # fmt: skip
    for whole in (CONTENT, *archives):
        altered = bytearray(whole)
        altered[len(whole) // 2] ^= 1
        with pytest.raises(SchemaError, match=r"damaged or encrypted|SHA-256 .* expected small"):
            read_source(SMALL, write(bytes(altered)))


def test_an_encrypted_member(write, zipped):
    data = bytearray(zipped([("small", CONTENT)]).read_bytes())
    data[6] |= 1  # flag "encrypted" of the local header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and of the directory
    with pytest.raises(SchemaError, match=r"damaged or encrypted zip archive .*encrypted"):
        read_source(SMALL, write(bytes(data)))


def test_an_unknown_compression_method(write, zipped):
    data = bytearray(zipped([("small", CONTENT)]).read_bytes())
    data[8] = data[data.index(b"PK\x01\x02") + 10] = 99
    with pytest.raises(SchemaError, match="damaged or encrypted zip archive"):
        read_source(SMALL, write(bytes(data)))


def test_cut_content_names_both_lengths(write, zipped):
    for path in (write(CONTENT[:-1]), str(zipped([("small", CONTENT[:-1])]))):
        with pytest.raises(SchemaError, match=r"4,999 bytes .* expected small, 5,000 bytes"):
            read_source(SMALL, path)


def test_what_unpacks_to_too_much_is_not_unpacked_to_the_end(write, zipped):
    huge = b"\0" * 20_000_000  # 14 KB as bzip2
    for path in (write(bz2.compress(huge)), str(zipped([("small", huge)])), write(CONTENT + b"!")):
        with pytest.raises(SchemaError, match="more than 5,000 bytes"):
            read_source(SMALL, path)
