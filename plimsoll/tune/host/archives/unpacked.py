"""The bytes of an archive, whatever it is compressed by, and no more of them than requested.

A file's compression is recognised by its first bytes, not by its name.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
_LONGEST_MAGIC = 6
# `xz -9` takes 65 MiB; a header may ask for 4 GiB.
_XZ_MEMORY_BYTES = 128 << 20
_PIECE_BYTES = 1 << 16


class Readable(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none at the end."""


class ZstdError(Exception):
    """The file is under Zstandard, which Python reads from 3.14 on."""


@contextmanager
def unpacked(path: Path) -> Iterator[Readable]:
    """The file's bytes, those under gzip, bzip2 or xz unpacked as they are read.

    Raises OSError, and ZstdError; reading raises OSError, EOFError, zlib.error and
    lzma.LZMAError for what is broken.
    """
    with path.open("rb") as file:
        magic = file.read(_LONGEST_MAGIC)
        file.seek(0)
        if magic.startswith(_ZSTD):
            raise ZstdError
        yield _reader(file, magic)


def _reader(file: BinaryIO, magic: bytes) -> Readable:
    if magic.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file)
    if magic.startswith(_BZIP2):
        return bz2.BZ2File(file)
    return _Xz(file) if magic.startswith(_XZ) else file


class _Xz:
    """As lzma.LZMAFile, with a bound on the memory that the file's header may ask for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; raises EOFError where the file ends too early."""
        found = b""
        while not found and not self._decompressor.eof:
            piece = self._file.read(_PIECE_BYTES) if self._decompressor.needs_input else b""
            if self._decompressor.needs_input and not piece:
                raise EOFError("it ends too early")
            found = self._decompressor.decompress(piece, size)
        return found
