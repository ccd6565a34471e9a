"""A packet and its program as what the engine sends: templates, their order and fields."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.remote.trex.field_engine.field_writers import (
    NotWritable,
    written_fields,
    written_to,
)
from plimsoll.remote.trex.field_engine.instructions import FieldProgram
from plimsoll.remote.trex.field_engine.interpreter import Interpreter
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.traffic.frames.capture import renew_checksum
from plimsoll.traffic.frames.captured_headers import captured_headers
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE, MIN_FRAME_SIZE
from plimsoll.traffic.plan import SHORT_SIGNATURE_BYTES, SIGNATURE_BYTES, FieldWriter

MAX_FRAMES = 4096
# Of one stream: two of them, in hexadecimal, fit into a line of the engine's protocol.
MAX_BYTES = 6_000_000
_LEAST = MIN_FRAME_SIZE - FCS_BYTES


@dataclass(frozen=True, slots=True)
class MadeFrames:
    """Templates without FCS, their order, fields, and what differs from TRex's frames.

    `mean_bytes` is the length of TRex's own frames, without FCS, in the mean.
    """

    frames: tuple[bytes, ...]
    order: tuple[int, ...]
    fields: tuple[FieldWriter, ...]
    short_signature: bool
    mean_bytes: float
    notes: tuple[str, ...]


def made_frames(program: FieldProgram, packet: bytes, seed: int, *, timed: bool) -> MadeFrames:
    """What sends the frames of a program; those of a `timed` stream say when they were sent.

    Fields where they can, else a cycle of templates. Raises InputError where neither can.
    """
    try:
        written = written_fields(program, packet, seed)
    except NotWritable as reason:
        return _cycle(program, packet, seed, reason, timed=timed)
    end = written_to(program, len(packet)) if written.fields else 0
    room = signature_room(written.packet, end, timed=timed)
    frame = _checked(signed(written.packet, room.signature_bytes, end))
    notes = (*written.notes, *_growth(room.added_bytes))
    short = room.signature_bytes == SHORT_SIGNATURE_BYTES
    return MadeFrames((frame,), (), written.fields, short, len(packet), notes)


def _cycle(
    program: FieldProgram, packet: bytes, seed: int, reason: NotWritable, *, timed: bool
) -> MadeFrames:
    cycle = _run(program, packet, seed)
    if cycle is None:
        names = ", ".join(dict.fromkeys(each.type for each in program.instructions))
        raise InputError(
            f"{names}: {reason}, and its frames do not begin anew within {MAX_FRAMES} or "
            f"{MAX_BYTES // 10**6} MB",
            where="vm.instructions",
            remedy="give its variables fewer values, or write them without trimming",
        )
    rooms = [signature_room(frame, 0, timed=timed) for frame in set(cycle)]
    size = min(room.signature_bytes for room in rooms)
    numbers: dict[bytes, int] = {}
    made = [_checked(signed(frame, size)) for frame in cycle]
    order = tuple(numbers.setdefault(frame, len(numbers)) for frame in made)
    grown = max(len(ours) - max(60, len(theirs)) for ours, theirs in zip(made, cycle, strict=True))
    drawn = (f"random values are drawn ahead, for {len(cycle)} frames",) if program.draws else ()
    return MadeFrames(
        tuple(numbers),
        order if len(numbers) > 1 else (),
        (),
        size == SHORT_SIGNATURE_BYTES,
        sum(map(len, cycle)) / len(cycle),
        (*drawn, *_growth(grown)),
    )


def _run(program: FieldProgram, packet: bytes, seed: int) -> list[bytes] | None:
    """The frames until they begin anew; None where they do not in time, or never do."""
    interpreter = Interpreter(program, packet, seed)
    frames: list[bytes] = []
    total = 0
    try:
        frames.append(interpreter.next_frame())
        # Before the first frame there is no value yet of a variable that waits for another.
        after_the_first = interpreter.state
        while len(frames) < MAX_FRAMES and total < MAX_BYTES:
            following = interpreter.next_frame()
            if interpreter.state == after_the_first and not program.draws:
                return frames if following == frames[0] else None
            frames.append(following)
            total += len(following)
    except IndexError as error:
        raise InputError(
            f"an instruction lies outside of the packet: {error}",
            where="vm.instructions",
            remedy="give a longer packet, or another offset",
        ) from None
    return frames if program.draws else None


def _checked(frame: bytes) -> bytes:
    if len(frame) + FCS_BYTES > MAX_FRAME_SIZE:
        raise InputError(
            f"a frame takes {len(frame) + FCS_BYTES} bytes with FCS",
            where="packet.binary",
            remedy=f"give at most {MAX_FRAME_SIZE}",
        )
    return frame


def _growth(added: int) -> tuple[str, ...]:
    if added <= 0:
        return ()
    return (f"frames are {added} bytes longer, to have room for the signature",)


# Where a frame has room for the engine's signature, which is its last bytes.
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
