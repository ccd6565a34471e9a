"""Pages of the kernel's ring buffer, written by hand after include/linux/ring_buffer.h."""

import struct

PAGE_BYTES = 4096
# Below 29, the type of an event is its length in words of 4 bytes.
_LARGEST_SHORT_WORDS = 28
_MISSED_EVENTS = 1 << 31


def event(data: bytes, delta: int = 0) -> bytes:
    """One event: its header, and its data filled up to whole words."""
    data += bytes(-len(data) % 4)
    words = len(data) // 4
    if words <= _LARGEST_SHORT_WORDS:
        return struct.pack("<I", words | delta << 5) + data
    return struct.pack("<II", delta << 5, len(data) + 4) + data


def page(begin: int, events: list[bytes], *, missed: bool = False) -> bytes:
    """A page whose first event is at `begin` plus its delta."""
    data = b"".join(events)
    commit = len(data) | (_MISSED_EVENTS if missed else 0)
    return (struct.pack("<QQ", begin, commit) + data).ljust(PAGE_BYTES, b"\0")
