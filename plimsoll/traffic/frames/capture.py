"""A capture file's frames as templates: whole, with room for the signature."""

from __future__ import annotations

import functools
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.units import format_ns
from plimsoll.traffic.frames.capture_file import CapturedFrame, read_capture
from plimsoll.traffic.frames.captured_headers import (
    CapturedHeaders,
    Transport,
    captured_headers,
)
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE, MIN_FRAME_SIZE
from plimsoll.traffic.frames.scapy_layers import scapy_module
from plimsoll.traffic.plan import LONGEST_TRIAL_S, SIGNATURE_BYTES, CapturedGaps

MAX_FRAMES = 4096
_IPV4_CHECKSUM_AT = 10
# What becomes of checksums that are wrong in the capture: a host that leaves them to its card is
# captured with an IPv4 checksum of zero, and the sum of the pseudo header in TCP's and UDP's.
Checksums = Literal["fix", "keep"]
_OTHERWISE = "use another pacing"


@dataclass(frozen=True, slots=True)
class PacketCapture:
    """The frames to send, without FCS, each once, and the order in which they follow.

    `overwritten` frames had the last 18 bytes of their payload replaced; `lengthened`
    ones had too little payload, and got trailing padding. `wrong` frames were captured with a
    wrong checksum, which is right in what is sent if `checksums` is "fix". `times_ns` are the
    frames' time stamps in their order, None of one that has none.
    """

    frames: tuple[bytes, ...]
    order: tuple[int, ...]
    overwritten: int
    lengthened: int
    wrong: int
    checksums: Checksums
    times_ns: tuple[int | None, ...]

    @property
    def mean_frame_size(self) -> float:
        """Bytes with FCS, in the mean over the order of sending."""
        return sum(len(self.frames[at]) for at in self.order) / len(self.order) + FCS_BYTES

    @property
    def largest_frame_size(self) -> int:
        """Bytes with FCS."""
        return max(map(len, self.frames)) + FCS_BYTES


def load_capture(
    path: Path, first: int = 1, count: int | None = None, checksums: Checksums = "fix"
) -> PacketCapture:
    """Frames `first` to `first + count - 1` of a file, or all from `first` on.

    Wrong checksums are put right, or kept. Raises InputError for a file that cannot be read or
    sent, and for more than 4096 frames.
    """
    return _load(path, first, count, checksums, *_state(path))


def load_gaps(path: Path, first: int = 1, count: int | None = None) -> CapturedGaps:
    """The gaps between the frames that `load_capture` has, the last one their mean.

    Raises InputError as it does, and for a single frame, one without a time stamp, one that
    was captured before the frame it follows or more than a week after it, and frames that
    all have the same time.
    """
    return _load_gaps(path, first, count, *_state(path))


def _state(path: Path) -> tuple[int, int]:
    """What distinguishes a file from an earlier one at the same path: changed when, its size."""
    try:
        state = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be read: {reason}", where=str(path), remedy="check the path"
        ) from None
    if not stat.S_ISREG(state.st_mode):
        raise InputError("is not a regular file", where=str(path), remedy="give a capture file")
    return state.st_mtime_ns, state.st_size


@dataclass(frozen=True, slots=True)
class SendableFrame:
    """A captured frame with a zeroed signature at its end, perhaps `lengthened` for it.

    `wrong` says that a checksum was wrong when it was captured.
    """

    data: bytes
    lengthened: bool
    wrong: bool


def sendable(frame: bytes, checksums: Checksums = "fix") -> SendableFrame:
    """The frame with room for the signature.

    Where the payload of UDP, TCP or ICMP has 18 bytes, they are its last. Elsewhere they follow
    the packet as padding. All checksums are computed anew, but for wrong ones to be kept.
    """
    headers = captured_headers(frame)
    transports, end = headers.transports, headers.packet_end
    wrong = wrong_checksums(frame, headers)
    fits = bool(transports) and transports[-1].payload + SIGNATURE_BYTES <= end
    if fits and (end == len(frame) or end >= MIN_FRAME_SIZE - FCS_BYTES):
        least, signed = end, frame[: end - SIGNATURE_BYTES] + bytes(SIGNATURE_BYTES)
    else:
        least = max(end + SIGNATURE_BYTES, MIN_FRAME_SIZE - FCS_BYTES)
        signed = frame[:end].ljust(least, b"\0")
    made = renewed_checksums(signed, headers)
    for at in wrong if checksums == "keep" else ():
        made[at : at + 2] = frame[at : at + 2]
    return SendableFrame(bytes(made), least > len(frame), bool(wrong))


@functools.lru_cache(maxsize=16)
def _load(
    path: Path, first: int, count: int | None, checksums: Checksums, _changed: int, _size: int
) -> PacketCapture:
    numbers: dict[bytes, int] = {}
    order, times_ns, lengthened, wrong = [], [], 0, 0
    for captured in _chosen(path, first, count):
        made = sendable(captured.data, checksums)
        frame = made.data
        if len(frame) + FCS_BYTES > MAX_FRAME_SIZE:
            raise InputError(
                f"frame {captured.number} takes {len(frame) + FCS_BYTES} bytes with FCS",
                where=str(path),
                remedy=f"leave out what is longer than {MAX_FRAME_SIZE}",
            )
        order.append(numbers.setdefault(frame, len(numbers)))
        times_ns.append(captured.time_ns)
        lengthened += made.lengthened
        wrong += made.wrong
    if not order:
        raise InputError(
            f"has no frame {first}", where=str(path), remedy="give a capture with frames in it"
        )
    return PacketCapture(
        tuple(numbers),
        tuple(order),
        len(order) - lengthened,
        lengthened,
        wrong,
        checksums,
        tuple(times_ns),
    )


@functools.lru_cache(maxsize=16)
def _load_gaps(path: Path, first: int, count: int | None, changed: int, size: int) -> CapturedGaps:
    times_ns = _load(path, first, count, "fix", changed, size).times_ns
    try:
        return gaps_between(times_ns, first)
    except InputError as error:
        raise InputError(error.message, where=str(path), remedy=error.remedy) from None


def _chosen(path: Path, first: int, count: int | None) -> Iterator[CapturedFrame]:
    stop = first - 1 + (MAX_FRAMES + 1 if count is None else count)
    for captured in islice(read_capture(path), first - 1, stop):
        if captured.number >= first + MAX_FRAMES:
            raise InputError(
                f"has more than {MAX_FRAMES} frames",
                where=str(path),
                remedy=f"choose some: {{file: …, first: 1, count: {MAX_FRAMES}}}",
            )
        yield captured


def wrong_checksums(frame: bytes, headers: CapturedHeaders) -> frozenset[int]:
    """Where in the frame a checksum stands that is wrong."""
    return _changed(frame, renewed_checksums(frame, headers), headers)


def renewed_checksums(frame: bytes, headers: CapturedHeaders) -> bytearray:
    """The frame with all that it has computed anew, from the innermost outwards.

    Of one that was cut behind its packet or lengthened, the headers are those of the captured.
    """
    renewed = bytearray(frame)
    for start, end in _ipv4_headers(headers):
        field = slice(start + _IPV4_CHECKSUM_AT, start + _IPV4_CHECKSUM_AT + 2)
        renewed[field] = bytes(2)
        renewed[field] = _checksum(renewed[start:end]).to_bytes(2)
    for segment in reversed(_segments(headers)):
        renew_checksum(renewed, segment)
    return renewed


def renew_checksum(frame: bytearray, transport: Transport) -> None:
    """Compute a segment's checksum anew; one of UDP that is not there is left out."""
    field = slice(transport.checksum, transport.checksum + 2)
    if transport.optional and not any(frame[field]):
        return
    frame[field] = bytes(2)
    checksum = _checksum(transport.pseudo_header + frame[transport.start : transport.end])
    # Zero would say that there is no checksum (RFC 768).
    frame[field] = ((checksum or 0xFFFF) if transport.is_udp else checksum).to_bytes(2)


def _checksum(covered: bytes | bytearray) -> int:
    """The Internet checksum (RFC 1071)."""
    return int(scapy_module("scapy.utils").checksum(bytes(covered)))


def _changed(frame: bytes, renewed: bytearray, headers: CapturedHeaders) -> frozenset[int]:
    places = [start + _IPV4_CHECKSUM_AT for start, _ in _ipv4_headers(headers)]
    places += [segment.checksum for segment in _segments(headers)]
    return frozenset(at for at in places if frame[at : at + 2] != renewed[at : at + 2])


def _ipv4_headers(headers: CapturedHeaders) -> list[tuple[int, int]]:
    """Without those that lie behind the outermost packet, as a malformed tunnel's may."""
    return [each for each in headers.ipv4_headers if each[1] <= headers.packet_end]


def _segments(headers: CapturedHeaders) -> list[Transport]:
    return [each for each in headers.segments if each.end <= headers.packet_end]


# From the time stamps of captured frames to the gaps between them.
def gaps_between(times_ns: Sequence[int | None], first: int = 1) -> CapturedGaps:
    """The gaps between frames of which the first is number `first` of its file.

    The gap that follows the last is their mean, rounded up to ns. Raises InputError, naming
    the frame, where there is none to be had.
    """
    known = [_known_ns(each, number) for number, each in enumerate(times_ns, first)]
    if len(known) < 2:
        raise InputError(
            f"frame {first} alone was chosen, and between frames there is no gap",
            remedy=f"choose two frames or more, or {_OTHERWISE}",
        )
    gaps_ns = [later - earlier for earlier, later in pairwise(known)]
    for number, gap_ns in enumerate(gaps_ns, first + 1):
        _check_gap(gap_ns, number)
    span_ns = sum(gaps_ns)
    if span_ns == 0:
        raise InputError(
            f"frames {first} to {first + len(known) - 1} all have the same time stamp",
            remedy=f"capture them again, with time stamps, or {_OTHERWISE}, such as back-to-back",
        )
    return CapturedGaps((*gaps_ns, -(-span_ns // len(gaps_ns))))


def _known_ns(time_ns: int | None, number: int) -> int:
    if time_ns is None:
        raise InputError(
            f"frame {number} has no time stamp, as it is in a Simple Packet Block",
            remedy=f"capture it again, as dumpcap and tcpdump do, or {_OTHERWISE}",
        )
    return time_ns


def _check_gap(gap_ns: int, number: int) -> None:
    if gap_ns < 0:
        raise InputError(
            f"frame {number} was captured {format_ns(-gap_ns)} before frame {number - 1}",
            remedy="sort them by time, with Wireshark's reordercap",
        )
    if gap_ns > LONGEST_TRIAL_S * 10**9:
        raise InputError(
            f"frame {number} was captured more than a week after frame {number - 1}",
            remedy=f"choose frames on one side of that: {{file: …, first: 1, count: {number - 1}}}",
        )
