"""The sources with a fixed content: how long it is, its checksum, and how to get it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from oscsim.errors import SchemaError


@dataclass(frozen=True)
class Source:
    """A text that everybody has to have byte for byte, so that results can be compared.

    Attributes
    ----------
    name : as on the command line; in a zip archive the member of that name is taken.
    size, sha256 : of the uncompressed bytes.
    get : how to get it, an imperative clause for messages.

    >>> Source("abc", 3, hashlib.sha256(b"abc").hexdigest(), "type it").check(b"abc", "abc.txt")
    b'abc'
    """

    name: str
    size: int
    sha256: str
    get: str

    @property
    def expected(self) -> str:
        """What the content has to be, for messages."""
        return f"{self.name}, {self.size:,} bytes with SHA-256 {self.sha256}"

    def check(self, content: bytes, path: str) -> bytes:
        """Return ``content``, read from ``path``.

        Raises
        ------
        SchemaError
            another length or checksum.
        """
        if len(content) > self.size:  # decompression stops there: how much more there is, nobody knows
            raise SchemaError(
                f"{path}: given more than {self.size:,} bytes; expected {self.expected}; {self.get}"
            )
        found = hashlib.sha256(content).hexdigest()
        if (len(content), found) != (self.size, self.sha256):
            raise SchemaError(
                f"{path}: given {len(content):,} bytes with SHA-256 {found}; expected {self.expected}; "
                f"the file was cut, altered or is another one; {self.get}"
            )
        return content


ALICE = Source(
    name="alice",
    size=144_390,
    sha256="cac93b666a61251148245eff7c6664bad0018b1d3a960834fbe6726ebe08a9c1",
    get="install this package again",
)
"""Lewis Carroll, Alice's Adventures in Wonderland (1865), public domain; comes with this package."""

ENWIKI_SAMPLE = Source(
    name="enwiki-sample",
    size=6_089_746,
    sha256="34c1c63050c87cc8477b9ae36b1cb0edf372612c92938b742e579a7109c20fa4",
    get="install the gensim 4.4.0 wheel, which carries it: pip install -e '.[data]'",
)
"""Articles of the English Wikipedia as XML, the test data of gensim 4.4.0 (CC BY-SA, Wikipedia authors)."""

ENWIK8 = Source(
    name="enwik8",
    size=100_000_000,
    sha256="2b49720ec4d78c3c9fabaee6e4179a5e997302b3a70029f30f2d582218c024a8",
    get="download enwik8.zip from Matt Mahoney's Large Text Compression Benchmark, "
    "mattmahoney.net/dc/textdata.html",
)
"""The first 10^8 bytes of the English Wikipedia dump of 3 March 2006, as XML."""

SOURCES = (ALICE, ENWIKI_SAMPLE, ENWIK8)
