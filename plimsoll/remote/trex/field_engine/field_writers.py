"""TRex's write instructions as fields that the engine writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.remote.trex.field_engine.instructions import (
    FieldProgram,
    Write,
    WriteMaskedVariable,
    WriteVariable,
)
from plimsoll.remote.trex.field_engine.interpreter import masked_value
from plimsoll.remote.trex.field_engine.sequences import (
    MAX_LISTED,
    CountedSequence,
    DrawnSequence,
    ListedSequence,
    NoSequence,
    ValueSequence,
    sequences_of,
)
from plimsoll.traffic.frames.captured_headers import CapturedHeaders, Transport, captured_headers
from plimsoll.traffic.plan import FieldWriter

_MAX_FIELDS = 8
_MAX_FIXES = 2
_MAX_LISTED_VALUE = 2**63


class NotWritable(Exception):
    """A program that the engine's fields cannot say; why, for people."""


@dataclass(frozen=True, slots=True)
class WrittenFields:
    """The packet with the fields' first values in it, the fields, and what is not as with TRex."""

    packet: bytes
    fields: tuple[FieldWriter, ...]
    notes: tuple[str, ...]


def written_fields(program: FieldProgram, packet: bytes, seed: int) -> WrittenFields:
    """A program's fields. Raises NotWritable."""
    if program.trims:
        raise NotWritable("its frames differ in length")
    try:
        sequences = sequences_of(program, seed)
        base, fields = _fields(program, packet, sequences.by_name)
    except (NoSequence, NotAField) as error:
        raise NotWritable(str(error)) from None
    return WrittenFields(base, fields, sequences.notes)


def written_to(program: FieldProgram, packet_bytes: int) -> int:
    """Where the last byte ends that the program writes; 0 for none."""
    ends = [
        each.pkt_offset + _width(each, program)
        for each in program.instructions
        if isinstance(each, WriteVariable | WriteMaskedVariable)
    ]
    return min(packet_bytes, max(ends, default=0))


def _fields(
    program: FieldProgram, packet: bytes, sequences: dict[str, ValueSequence]
) -> tuple[bytes, tuple[FieldWriter, ...]]:
    base, fields = bytearray(packet), []
    writes = [e for e in program.instructions if isinstance(e, WriteVariable | WriteMaskedVariable)]
    headers = captured_headers(packet)
    for write in writes:
        width = _width(write, program)
        if write.pkt_offset + width > len(packet):
            raise NotWritable(f"it writes {width} bytes at {write.pkt_offset} of {len(packet)}")
        fixes = covering_checksums(headers, packet, write.pkt_offset, width)
        if len(fixes) > _MAX_FIXES:
            raise NotWritable("more than two checksums cover a field")
        for mask, sequence in _masked(write, sequences[write.name], width):
            field = _field(base, _Place(write.pkt_offset, width, mask, fixes), sequence)
            if field is not None:
                fields.append(field)
    if len(fields) > _MAX_FIELDS:
        raise NotWritable(f"{len(fields)} fields are more than {_MAX_FIELDS}")
    _check_apart(fields)
    return bytes(base), tuple(fields)


def _width(write: Write, program: FieldProgram) -> int:
    if isinstance(write, WriteMaskedVariable):
        return write.pkt_cast_size
    return program.sizes[write.name]


def _masked(
    write: Write, sequence: ValueSequence, width: int
) -> Iterator[tuple[int, ValueSequence]]:
    """The runs of bits that change, and the numbers that are written into each."""
    bits = 8 * width
    if isinstance(write, WriteVariable):
        mask = 2**bits - 1
        if width > 1 and not write.is_big_endian:
            values = [(v + write.add_value) & mask for v in _values(sequence, "little-endian")]
            swapped = [int.from_bytes(v.to_bytes(width, "little")) for v in values]
            yield mask, _listed_like(sequence, swapped)
        else:
            yield mask, _shifted(sequence, write.add_value, 0)
        return
    if width > 1 and not write.is_big_endian:
        raise NotWritable("a mask in little-endian order")
    for low, run in _runs(write.mask & (2**bits - 1)):
        if write.shift >= low:
            yield run, _shifted(sequence, write.add_value, write.shift - low)
        else:
            values = [masked_value(write, v) >> low for v in _values(sequence, "shifted")]
            yield run, _listed_like(sequence, values)


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """Each run of ones: its lowest bit, and itself."""
    while mask:
        low = (mask & -mask).bit_length() - 1
        run = mask & ~(mask + (1 << low))
        yield low, run
        mask &= ~run


def _shifted(sequence: ValueSequence, added: int, shift: int) -> ValueSequence:
    """Adding and shifting to the left keep steps equal."""
    if isinstance(sequence, ListedSequence):
        return _listed_like(sequence, [(value + added) << shift for value in sequence.values])
    base, step = (sequence.base + added) << shift, sequence.step << shift
    if isinstance(sequence, DrawnSequence):
        return DrawnSequence(base, step, sequence.count, sequence.seed)
    return CountedSequence(base, step, sequence.count, sequence.first, sequence.every)


def _values(sequence: ValueSequence, what: str) -> Sequence[int]:
    """All of them, for what only a list can say."""
    if isinstance(sequence, ListedSequence):
        return sequence.values
    if isinstance(sequence, DrawnSequence) or sequence.count > MAX_LISTED:
        raise NotWritable(f"a {what} write of a variable that is random or has many values")
    return [sequence.base + sequence.step * number for number in range(sequence.count)]


def _listed_like(sequence: ValueSequence, values: Sequence[int]) -> ListedSequence:
    if isinstance(sequence, DrawnSequence):
        return ListedSequence(tuple(values))
    return ListedSequence(tuple(values), sequence.first, sequence.every)


@dataclass(frozen=True, slots=True)
class _Place:
    """Bits of a packet, and the checksums that cover them."""

    offset: int
    width: int
    mask: int
    fixes: tuple[int, ...]

    @property
    def low(self) -> int:
        """The mask's lowest bit."""
        return (self.mask & -self.mask).bit_length() - 1

    @property
    def numbers(self) -> int:
        """The largest number that it holds."""
        return self.mask >> self.low


def _field(base: bytearray, place: _Place, sequence: ValueSequence) -> FieldWriter | None:
    """The engine's field, and its first value put into the packet; None where nothing changes."""
    _put(base, place, sequence.values[0] if isinstance(sequence, ListedSequence) else sequence.base)
    plain = FieldWriter(
        place.offset,
        place.width,
        count=1,
        mask=None if place.mask == 2 ** (8 * place.width) - 1 else place.mask,
        fixes=place.fixes,
    )
    if isinstance(sequence, ListedSequence):
        return _list_field(plain, sequence, place.numbers)
    if sequence.count == 1 or sequence.step % (place.numbers + 1) == 0:
        return None
    stepped = replace(plain, count=sequence.count, step=_step(sequence.step, place.numbers))
    if isinstance(sequence, DrawnSequence):
        return replace(stepped, kind="random", seed=sequence.seed)
    return replace(stepped, first=sequence.first, every=sequence.every)


def _list_field(plain: FieldWriter, sequence: ListedSequence, numbers: int) -> FieldWriter:
    values = tuple(value & numbers for value in sequence.values)
    if max(values) >= _MAX_LISTED_VALUE:
        raise NotWritable("listed values of 64 bits")
    return replace(
        plain,
        count=len(values),
        kind="list",
        values=values,
        first=sequence.first,
        every=sequence.every,
    )


def _put(base: bytearray, place: _Place, number: int) -> None:
    """Write a number into the packet, and keep its checksums as right as they were."""
    before, there = bytes(base), slice(place.offset, place.offset + place.width)
    whole = int.from_bytes(base[there])
    whole = (whole & ~place.mask) | ((number << place.low) & place.mask)
    base[there] = whole.to_bytes(place.width)
    _move_checksums(base, before, place)


def _step(step: int, numbers: int) -> int:
    """The step, modulo the numbers that the field can hold, as the engine takes it."""
    step %= numbers + 1
    if step > 2**32 - 1:
        raise NotWritable("steps down of 64 bits")
    return step


def _move_checksums(frame: bytearray, before: bytes, place: _Place) -> None:
    """By what has changed (RFC 1624, equation 3)."""
    for at in place.fixes:
        total = ~int.from_bytes(frame[at : at + 2]) & 0xFFFF
        for byte in range(place.offset, place.offset + place.width):
            weight = 8 if (byte - at) % 2 == 0 else 0
            total += (0xFFFF - (before[byte] << weight)) + (frame[byte] << weight)
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        frame[at : at + 2] = (~total & 0xFFFF).to_bytes(2)


def _check_apart(fields: Sequence[FieldWriter]) -> None:
    taken: set[int] = set()
    for field in fields:
        mask = 2 ** (8 * field.width) - 1 if field.mask is None else field.mask
        bits = {
            8 * (field.offset + field.width - 1 - bit // 8) + bit % 8
            for bit in range(8 * field.width)
            if mask >> bit & 1
        }
        if taken & bits:
            raise NotWritable("two instructions write the same bits")
        taken |= bits


# Which Internet checksums of a frame cover some of its bytes.
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
