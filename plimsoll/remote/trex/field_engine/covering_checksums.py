"""Which Internet checksums of a frame cover some of its bytes."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.traffic.frames.captured_headers import CapturedHeaders, Transport


class NotAField(Exception):
    """The bytes are partly a checksum, decide where one is, or are covered in part."""


def covering_checksums(
    headers: CapturedHeaders, frame: bytes, offset: int, width: int
) -> tuple[int, ...]:
    """The offsets of the checksums that a field moves. Raises NotAField.

    UDP's that are zero are not there.
    """
    field = range(offset, offset + width)
    found = []
    for start, end in headers.ipv4_headers:
        # Version, header length, total length, fragment and protocol say how to read the rest.
        _keep_off(field, (start, start + 1), (start + 2, start + 4), (start + 6, start + 8))
        _keep_off(field, (start + 9, start + 12))
        if _covers(field, start, end):
            found.append(start + 10)
    for transport in headers.transports:
        found += _of_transport(transport, frame, field)
    return tuple(found)


def _of_transport(transport: Transport, frame: bytes, field: range) -> Iterator[int]:
    at = transport.checksum
    if transport.is_udp:
        _keep_off(field, (transport.start + 4, transport.start + 6))
    _keep_off(field, (at, at + 2))
    if transport.optional and not any(frame[at : at + 2]):
        return
    in_segment = _covers(field, transport.start, transport.end)
    if in_segment != _covers(field, *transport.addresses):
        yield at


def _keep_off(field: range, *parts: tuple[int, int]) -> None:
    for begin, end in parts:
        if field.start < end and begin < field.stop:
            raise NotAField(f"bytes {field.start} to {field.stop - 1} are no plain field")


def _covers(field: range, begin: int, end: int) -> bool:
    """Whether all of the field lies there. Raises NotAField where only a part does."""
    inside = begin <= field.start and field.stop <= end
    if not inside and field.start < end and begin < field.stop:
        raise NotAField(f"bytes {field.start} to {field.stop - 1} cross the end of a header")
    return inside
