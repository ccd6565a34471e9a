"""The frames of a stream one by one, as a generator takes them that repeats a list of frames."""

from __future__ import annotations

import math
from collections.abc import Iterator

from plimsoll.errors import InputError
from plimsoll.traffic.plan import FieldWriter, StreamPlan

MAX_FRAMES = 4096


def written_frames(stream: StreamPlan) -> Iterator[bytes]:
    """Until they begin anew. Raises InputError where they do not within `MOST_FRAMES`."""
    period = math.lcm(*(field.count * field.every for field in stream.fields), 1)
    if period > MAX_FRAMES or any(f.churn or f.kind == "random" for f in stream.fields):
        raise InputError(
            f"stream {stream.name} has more than {MAX_FRAMES} different frames, or random ones",
            where="profile.streams",
            remedy="use fewer flows, or another generator",
        )
    (template,) = stream.frames
    for number in range(period):
        frame = bytearray(template)
        for field in stream.fields:
            _write(frame, field, number)
        yield bytes(frame)


def _write(frame: bytearray, field: FieldWriter, number: int) -> None:
    place = slice(field.offset, field.offset + field.width)
    before = bytes(frame[place])
    index = (field.first + number) // field.every % field.count
    mask = (1 << 8 * field.width) - 1 if field.mask is None else field.mask
    shift = (mask & -mask).bit_length() - 1
    old = int.from_bytes(before, "big")
    inside = (old & mask) >> shift
    value = field.values[index] if field.kind == "list" else inside + index * field.step
    new = (old & ~mask) | (value << shift & mask)
    frame[place] = new.to_bytes(field.width, "big")
    for offset in field.fixes:
        _fix(frame, offset, field.offset, before)


def _fix(frame: bytearray, checksum: int, offset: int, before: bytes) -> None:
    """RFC 1624: what the bytes at `offset` were is taken out of the checksum, what they are put in.

    Headers begin at even offsets, so that a byte's weight is known by its own.
    """
    known = int.from_bytes(frame[checksum : checksum + 2], "big")
    total = ~known & 0xFFFF
    for index, was in enumerate(before, start=offset):
        weight = 1 if index % 2 else 256
        total += weight * (frame[index] - was)
    total %= 0xFFFF
    fixed = ~total & 0xFFFF
    # Zero stands for "none" in UDP, and all ones is the same sum.
    frame[checksum : checksum + 2] = (fixed or 0xFFFF).to_bytes(2, "big")
