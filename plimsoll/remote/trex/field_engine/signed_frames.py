"""Where a frame has room for the engine's signature, which is its last bytes."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.text.wire import FCS_BYTES
from plimsoll.traffic.frames.capture import renew_checksum
from plimsoll.traffic.frames.captured_headers import captured_headers
from plimsoll.traffic.frames.packet import MIN_FRAME_SIZE
from plimsoll.traffic.plan import SHORT_SIGNATURE_BYTES, SIGNATURE_BYTES

_LEAST = MIN_FRAME_SIZE - FCS_BYTES


@dataclass(frozen=True, slots=True)
class SignatureRoom:
    """How many bytes of signature a frame has room for, and by how many it has to grow for it."""

    signature_bytes: int
    added_bytes: int


def signature_room(frame: bytes, written_to: int, *, timed: bool) -> SignatureRoom:
    """The longest signature that fits as the frame is, or else the least growth.

    `written_to` is where the last byte ends that changes from frame to frame. A `timed` frame
    has the full signature in any case.
    """
    sizes = (SIGNATURE_BYTES,) if timed else (SIGNATURE_BYTES, SHORT_SIGNATURE_BYTES)
    for size in sizes:
        if _begin(frame, size) >= written_to and _fits(frame, size):
            return SignatureRoom(size, 0)
    size = sizes[-1]
    return SignatureRoom(size, _behind(frame, written_to) + size - max(_LEAST, len(frame)))


def signed(frame: bytes, signature_bytes: int, written_to: int = 0) -> bytes:
    """The frame with zeroes in the signature's place, lengthened where it has no room.

    Checksums that cover the place are computed anew. Of less than 60 bytes it is padded, as
    ports do.
    """
    padded = frame.ljust(_LEAST, b"\0")
    if not _fits(frame, signature_bytes) or _begin(frame, signature_bytes) < written_to:
        behind = _behind(frame, written_to)
        length = max(len(padded), behind + signature_bytes)
        return padded[:behind].ljust(length, b"\0")
    headers = captured_headers(frame)
    made = bytearray(padded)
    made[-signature_bytes:] = bytes(signature_bytes)
    for transport in reversed(headers.transports):
        if headers.packet_end == len(padded):
            renew_checksum(made, transport)
    return bytes(made)


def _fits(frame: bytes, size: int) -> bool:
    """In the padding behind the packet, or in the innermost payload of a packet without any."""
    headers, length = captured_headers(frame), max(_LEAST, len(frame))
    if headers.packet_end + size <= length and headers.packet_end < length:
        return True
    if headers.packet_end != length or not headers.transports:
        return False
    return headers.transports[-1].payload + size <= length


def _begin(frame: bytes, size: int) -> int:
    return max(_LEAST, len(frame)) - size


def _behind(frame: bytes, written_to: int) -> int:
    return max(captured_headers(frame).packet_end, written_to)
