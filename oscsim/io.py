"""The one file format: safetensors with a JSON header, a schema version and a SHA-256 checksum.

No pickles and no class paths: a file holds named little-endian arrays and plain JSON, nothing that runs.
The checksum covers the canonical header (sorted keys, no spaces) and every array (name, type, shape,
bytes), so a flipped bit anywhere is refused, and equal contents always give equal bytes.
"""

import errno
import hashlib
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as _decode
from safetensors.numpy import save as _encode

from oscsim.errors import SchemaError

Arrays = dict[str, NDArray[Any]]
_KEY = "oscsim"


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_array(array: NDArray[Any]) -> NDArray[Any]:
    """A C-ordered little-endian copy that nobody can write to; -0.0 becomes 0.0.

    The copy is backed by bytes, so even ``setflags(write=True)`` is refused.
    """
    array = np.asarray(array)
    if array.dtype.kind == "f":
        array = array.astype("<f8") + 0.0
    return np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(array.shape)


def checksum(header: dict[str, Any], arrays: Arrays) -> str:
    """SHA-256 over the canonical header and payload, as 64 hex digits."""
    digest = hashlib.sha256(canonical_json(header).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write under a temporary name beside ``path``, flush, then rename: a reader never sees half a file.

    A symbolic link stays one; the file it points to is replaced.

    Raises
    ------
    OSError
        nothing was written and what ``path`` held before is still there; ``filename`` is ``path``.
    """
    atomic_write_all({os.fspath(path): data})


def atomic_write_all(files: Mapping[str, bytes]) -> None:
    """:func:`atomic_write` of several files: none is renamed before all of them are on the disk.

    Raises
    ------
    OSError
        as above; before the first rename, when nothing was written. ``filename`` is the path that failed.
    """
    for path in files:
        if Path(path).exists() and not Path(path).is_file():  # a rename would replace /dev/null for everyone
            raise OSError(errno.EINVAL, "exists and is not a regular file; name another file", str(path))
    written: list[tuple[str, str, Path]] = []
    try:
        for path, data in files.items():
            with _named(path):
                target = Path(os.path.realpath(path))
                written.append((path, _write_beside(target, data), target))
        for path, temporary, target in written:
            with _named(path):
                os.replace(temporary, target)
    finally:
        for _, temporary, _ in written:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """A full disk names no file, a read-only folder only the temporary one: name what was asked for."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write_beside(path: Path, data: bytes) -> str:
    """The name of a temporary file next to ``path`` that holds the data."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return temporary


_NO_FILES = {
    stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file; anything else could be endless or never answer, so it is not opened.

    Raises
    ------
    SchemaError
        a directory, pipe, socket or device, or more bytes than fit into memory.
    FileNotFoundError
        no such file.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = _NO_FILES.get(stat.S_IFMT(mode), "no file")
        raise SchemaError(f"{path}: this is {kind}, expected a regular file; name a file on disk")
    try:
        return Path(path).read_bytes()
    except MemoryError:
        size = os.stat(path).st_size
        raise SchemaError(f"{path}: {size} bytes do not fit into memory; name a smaller file") from None


def write_file(
    path: str | os.PathLike[str], kind: str, version: int, header: dict[str, Any], arrays: Arrays
) -> None:
    """Write one file of the given kind and schema version."""
    body = {"kind": kind, "schema_version": version, **header}
    sealed = canonical_json({**body, "sha256": checksum(body, arrays)})
    # safetensors copies raw memory, so every array has to be C-ordered
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    atomic_write(path, _encode(ordered, {_KEY: sealed}))


def read_file(
    path: str | os.PathLike[str], kind: str, versions: tuple[int, ...]
) -> tuple[dict[str, Any], Arrays]:
    """Read a file back, refusing anything that is not exactly what it claims to be.

    Raises
    ------
    SchemaError
        foreign, truncated or altered file, unknown schema version; the message says which and where.
    FileNotFoundError
        no such file.
    """
    data = read_regular(path)
    header = _read_header(path, data)
    if header.get("kind") != kind:
        raise SchemaError(f"{path}: this is a '{header.get('kind')}' file, expected a '{kind}' file")
    version = header.get("schema_version")
    if type(version) is not int or version not in versions:
        known = ", ".join(str(v) for v in versions)
        raise SchemaError(
            f"{path}: schema version {version!r} is unknown; this oscsim reads version(s) {known}. "
            "Update oscsim, or save the file again with the version you have"
        )
    try:
        arrays = _decode(data)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise SchemaError(f"{path}: damaged array section: {error}") from None
    claimed = header.pop("sha256", None)
    try:
        found = checksum(header, arrays)
    except ValueError as error:  # 1e999 reads as infinity, which canonical JSON does not have
        raise SchemaError(f"{path}: a number in the header is out of range: {error}") from None
    if found != claimed:
        raise SchemaError(
            f"{path}: the SHA-256 over header and payload does not match the one stored in the header: "
            "the file was altered or damaged after it was written; export it again"
        )
    return header, arrays


def _read_header(path: str | os.PathLike[str], data: bytes) -> dict[str, Any]:
    """The sealed JSON header inside the safetensors metadata, or a SchemaError that names the offset."""
    # a header of 640, 896, ... bytes starts with the same two bytes, but then comes JSON
    if data[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05") and data[8:9] != b"{":
        raise SchemaError(
            f"{path}: offset 0: this is a Python pickle; pickles are never read, export a .phase file"
        )
    if len(data) < 8:
        raise SchemaError(f"{path}: offset {len(data)}: file ends inside the 8-byte header length")
    length = int.from_bytes(data[:8], "little")
    if 8 + length > len(data):
        raise SchemaError(
            f"{path}: offset 0: header length {length} points past the end of the file ({len(data)} bytes): "
            "truncated, or not a phase file"
        )
    try:
        outer = json.loads(data[8 : 8 + length].decode("utf-8"))
        sealed = outer["__metadata__"][_KEY]
        header = json.loads(sealed, parse_constant=_refuse_constant)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SchemaError(f"{path}: offset 8: no oscsim header found: not a file written by oscsim") from None
    if not isinstance(header, dict):
        raise SchemaError(f"{path}: offset 8: the oscsim header is not a JSON object")
    _check_extent(path, outer, 8 + length, len(data))
    return header


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_extent(path: str | os.PathLike[str], outer: dict[str, Any], start: int, size: int) -> None:
    """Say where a truncated payload ends (safetensors itself only says that something is wrong)."""
    ends = [
        entry["data_offsets"][1]
        for name, entry in outer.items()
        if name != "__metadata__" and isinstance(entry, dict) and isinstance(entry.get("data_offsets"), list)
        and len(entry["data_offsets"]) == 2 and isinstance(entry["data_offsets"][1], int)
    ]  # fmt: skip
    expected = start + max(ends, default=0)
    if expected != size:
        raise SchemaError(f"{path}: offset {size}: file is {size} bytes, its header describes {expected}")


def jsonable_float(value: float) -> float | str:
    """A float JSON can hold: infinity is spelled 'inf' because JSON has no number for it."""
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
