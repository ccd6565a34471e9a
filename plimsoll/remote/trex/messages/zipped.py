"""TRex's zipped messages: a mark, the length, and zlib's stream."""

from __future__ import annotations

import struct
import zlib

_HEADER = struct.Struct(">II")
_MARK = 0xABE8_5CEA

# What the engine takes in a line, and more than any profile of TRex's comes to.
MOST_BYTES = 32 * 2**20


class TooLarge(ValueError):
    """A message that is longer than any should be, or is not what it says."""


def is_zipped(message: bytes) -> bool:
    """Whether it begins as TRex's zipped messages do."""
    return len(message) >= _HEADER.size and _HEADER.unpack_from(message)[0] == _MARK


def unzipped(message: bytes) -> bytes:
    """The content, no matter what the header claims at most 32 MiB. Raises TooLarge."""
    _, length = _HEADER.unpack_from(message)
    if length > MOST_BYTES:
        raise TooLarge(f"a message of {length} bytes is longer than {MOST_BYTES}")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(message[_HEADER.size :], length + 1)
    except zlib.error as error:
        raise TooLarge(f"a zipped message cannot be read: {error}") from None
    if len(content) != length or not reader.eof:
        raise TooLarge("a zipped message has another length than it says")
    return content


def zipped(content: bytes) -> bytes:
    """The message of some content."""
    return _HEADER.pack(_MARK, len(content)) + zlib.compress(content)
