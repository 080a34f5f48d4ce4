"""A fixed source out of a file that may be compressed, never more bytes than the source has."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from pathlib import PurePosixPath

from oscsim.errors import SchemaError
from oscsim.io import read_regular

from .sources import Source

_BZIP2, _ZIP = b"BZh", b"PK"


def read_source(source: Source, path: str) -> bytes:
    """Return the content of ``source`` from a plain, bzip2 or zip file; its first bytes say which it is.

    Raises
    ------
    SchemaError
        damaged archive, archive without the member, or another content.
    FileNotFoundError
        no such file.
    """
    data = read_regular(path)
    if data.startswith(_BZIP2):
        data = _from_bzip2(source, path, data)
    elif data.startswith(_ZIP):
        data = _from_zip(source, path, data)
    return source.check(data, path)


def _from_bzip2(source: Source, path: str, data: bytes) -> bytes:
    try:
        with bz2.BZ2File(io.BytesIO(data)) as stream:
            return stream.read(source.size + 1)  # one more shows that there is too much
    except (EOFError, OSError) as error:
        raise _damaged(source, path, "bzip2 file", error) from None


def _from_zip(source: Source, path: str, data: bytes) -> bytes:
    try:
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            archive.open(_member(source, path, archive)) as stream,
        ):
            return stream.read(source.size + 1)
    except SchemaError:  # a ValueError, but one that says it all
        raise
    except (
        zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError,
        RuntimeError,  # encrypted
        NotImplementedError,  # a method of compression that this Python lacks
    ) as error:  # fmt: skip
        raise _damaged(source, path, "zip archive", error) from None


def _member(source: Source, path: str, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [entry for entry in archive.infolist() if not entry.is_dir()]
    named = [entry for entry in members if PurePosixPath(entry.filename).name == source.name]
    if len(named) != 1:
        found = ", ".join(entry.filename for entry in members[:5]) or "nothing"
        more = f" and {len(members) - 5} more" if len(members) > 5 else ""
        raise SchemaError(
            f"{path}: given a zip archive of {found}{more}; expected exactly one member {source.name} "
            f"({source.expected}); {source.get}"
        )
    return named[0]


def _damaged(source: Source, path: str, kind: str, error: Exception) -> SchemaError:
    return SchemaError(
        f"{path}: given a damaged or encrypted {kind} ({error}); expected {source.expected}; {source.get}"
    )
