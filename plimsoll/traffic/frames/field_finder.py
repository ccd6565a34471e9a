"""Where a field lies in a frame, and which checksums cover it: found by building frames.

Scapy does not say at which bit a field is written. A packet whose lengths and checksums
are held still is built twice, with the field all zeroes and all ones; the bits that
differ are the field. Built again with a neighbouring value and nothing held still, the
other bytes that change are the checksums that cover it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.traffic.frames.field_values import (
    ValueKind,
    as_number,
    bits_of,
    field_kind,
    from_number,
)
from plimsoll.traffic.frames.packet import build_packet, payload_of
from plimsoll.traffic.frames.scapy_layers import FieldValue, Scapy, Stack
from plimsoll.traffic.plan import SIGNATURE_BYTES

# As wide as the engine writes; of an IPv6 address it is the interface's half.
_MAX_WIDTH = 8
# The protocol's integers are signed, of 64 bits.
_MAX_VALUE = 2**63 - 1
_VARY_ANOTHER = "vary another field"
_MEANINGS = {
    "a length": (
        "len plen length payload_len uplen hwlen optionlen ihl dataofs ExtHdrLen optlen olen "
        "SRE_len lladdrlen auxdata_len"
    ),
    "a checksum": "chksum cksum",
    "a version": "version",
    "the kind of what follows": (
        "nh proto next_ex NextExtHdr NextProtocol hwtype ptype gtp_type Ether.type Dot1Q.type "
        "Dot1AD.type Dot1AH.type MPLS.s"
    ),
}
_MEANING_OF = {name: meaning for meaning, names in _MEANINGS.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class FoundField:
    """A field's bytes in the frame, the bits of them that are its own, and its checksums.

    `bits` is the width of the whole field, of which at most the lowest 64 are written.
    `value` is what the stack gives it, all bits of it.
    """

    kind: ValueKind
    offset: int
    width: int
    mask: int
    fixes: tuple[int, ...]
    bits: int
    value: int

    def number_of(self, value: FieldValue) -> int:
        """A listed value as bits under the mask. Raises InputError where it does not fit."""
        number = as_number(self.kind, value)
        written = self.mask.bit_count()
        if number >> self.bits:
            raise InputError(f"{value} does not fit into {self.bits} bits", remedy="give less")
        if number >> written != self.value >> written:
            raise InputError(
                f"{value} differs from {from_number(self.kind, self.value)} in more than the last "
                f"{written} bits, which are all that is written",
                remedy="list values that share the rest",
            )
        if (number := number & ((1 << written) - 1)) > _MAX_VALUE:
            raise InputError(
                f"{value} has the highest of its last {written} bits set, which a list cannot say",
                remedy="list lower values, or count up from it",
            )
        return number


@functools.lru_cache(maxsize=1024)
def find_field(stack: Stack, index: int, name: str) -> FoundField:
    """Find field `name` of the `index`-th layer. Raises InputError where it cannot be varied."""
    return _FieldFinder(stack).find(index, name)


@dataclass(frozen=True, slots=True)
class _Place:
    offset: int
    width: int
    mask: int

    @property
    def shift(self) -> int:
        return (self.mask & -self.mask).bit_length() - 1

    def of(self, frame: bytes) -> int:
        """What stands there."""
        word = int.from_bytes(frame[self.offset : self.offset + self.width])
        return (word & self.mask) >> self.shift

    def __contains__(self, offset: int) -> bool:
        return self.offset <= offset < self.offset + self.width


class _FieldFinder:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._packet = build_packet(stack) / payload_of(bytes(SIGNATURE_BYTES))
        self._automatic: list[tuple[int, str]] = []
        self._pinned = self._pin()

    def find(self, index: int, name: str) -> FoundField:
        layer = _layer(self._pinned, index)
        kind, bits = field_kind(layer, name), bits_of(layer, name)
        check_not_structural(self._stack[index].name, name)
        if kind in ("text", "options"):
            raise InputError(f"{name} is neither a number nor an address", remedy=_VARY_ANOTHER)
        whole = self._place(index, name)
        value = whole.of(bytes(self._pinned))
        place = _lowest_bytes(whole)
        fixes = self._fixes(index, name, kind, value, whole)
        return FoundField(kind, place.offset, place.width, place.mask, fixes, bits, value)

    def _pin(self) -> Scapy:
        """The packet with what Scapy computes given as fixed values."""
        pinned = self._packet.copy()
        for index in range(len(self._stack)):
            built, fixed = _layer(self._packet, index), _layer(pinned, index)
            header = bytes(built)[: len(built) - len(built.payload)]
            read = type(built)()
            read.do_dissect(header)
            for field in built.fields_desc:
                value = read.getfieldval(field.name)
                if built.getfieldval(field.name) is None and value is not None:
                    fixed.setfieldval(field.name, value)
                    self._automatic.append((index, field.name))
        return pinned

    def _place(self, index: int, name: str) -> _Place:
        layer = _layer(self._pinned, index)
        kind, bits = field_kind(layer, name), bits_of(layer, name)
        zeroes, one, ones = (
            _with(self._pinned, index, name, from_number(kind, number))
            for number in (0, 1, (1 << bits) - 1)
        )
        if not len(zeroes) == len(one) == len(ones):
            raise InputError(f"{name} changes the frame's length", remedy=_VARY_ANOTHER)
        changed = [
            at
            for at, (zero, all_ones) in enumerate(zip(zeroes, ones, strict=True))
            if zero != all_ones
        ]
        if not changed:
            raise InputError(f"{name} is not in the frame", remedy=_VARY_ANOTHER)
        offset, width = changed[0], changed[-1] - changed[0] + 1
        span = slice(offset, offset + width)
        mask = int.from_bytes(zeroes[span]) ^ int.from_bytes(ones[span])
        place = _Place(offset, width, mask)
        in_order = place.of(zeroes) == 0 and place.of(one) == 1
        if mask.bit_count() != bits or (mask >> place.shift) + 1 != 1 << bits or not in_order:
            raise InputError(
                f"{name} is not written as {bits} bits in a row, the highest first",
                remedy=_VARY_ANOTHER,
            )
        return place

    def _fixes(
        self, index: int, name: str, kind: ValueKind, value: int, place: _Place
    ) -> tuple[int, ...]:
        before = bytes(self._packet)
        after = _with(self._packet, index, name, from_number(kind, value ^ 1))
        changed = [
            at
            for at, (old, new) in enumerate(zip(before, after, strict=True))
            if old != new and at not in place
        ]
        checksums = self._checksums() if changed else {}
        fixes = sorted({at for at in checksums for byte in changed if at <= byte < at + 2})
        for at in fixes:
            if not _follows(at, before, after, place):
                self._refuse(name, checksums[at])
        if any(not any(at <= byte < at + 2 for at in fixes) for byte in changed):
            raise InputError(f"{name} changes other fields as well", remedy=_VARY_ANOTHER)
        return tuple(fixes)

    def _checksums(self) -> dict[int, tuple[int, str]]:
        """The offsets of the two bytes that Scapy computes, and the fields that they are."""
        places: dict[int, tuple[int, str]] = {}
        for index, name in self._automatic:
            layer = _layer(self._pinned, index)
            if field_kind(layer, name) == "number" and bits_of(layer, name) == 16:
                places[self._place(index, name).offset] = (index, name)
        return places

    def _refuse(self, name: str, checksum: tuple[int, str]) -> None:
        index, field = checksum
        layer = self._stack[index].name
        raise InputError(
            f"{name} is covered by an outer checksum, {layer}.{field}, in more than one way",
            remedy=f"give the outer {layer} {field}: 0",
        )


def _layer(packet: Scapy, index: int) -> Scapy:
    for _ in range(index):
        packet = packet.payload
    return packet


def _with(packet: Scapy, index: int, name: str, value: FieldValue) -> bytes:
    changed = packet.copy()
    _layer(changed, index).setfieldval(name, value)
    try:
        return bytes(changed)
    # Scapy's fields raise whatever their code happens to meet.
    except Exception:
        raise InputError(f"{name} cannot take every value", remedy=_VARY_ANOTHER) from None


def _lowest_bytes(place: _Place) -> _Place:
    beyond = max(0, place.width - _MAX_WIDTH)
    width = place.width - beyond
    return _Place(place.offset + beyond, width, place.mask & ((1 << 8 * width) - 1))


def _follows(at: int, before: bytes, after: bytes, place: _Place) -> bool:
    """Whether the checksum at `at` moved by what the field alone adds to it (RFC 1624)."""
    added = sum(
        (after[byte] - before[byte]) * (256 if (byte - at) % 2 == 0 else 1)
        for byte in range(place.offset, place.offset + place.width)
    )
    old, new = (int.from_bytes(frame[at : at + 2]) for frame in (before, after))
    return (old - added - new) % 0xFFFF == 0


# The fields that say how a packet is to be read: with another value the packet is broken.
def check_not_structural(layer: str, field: str) -> None:
    """Raise InputError for a field that cannot vary without breaking the packet."""
    meaning = _MEANING_OF.get(field) or _MEANING_OF.get(f"{layer}.{field}")
    if meaning:
        raise InputError(
            f"{layer}.{field} is {meaning}: with another value the packet is broken",
            remedy="vary an address, a port, an id, a label, a priority or a TTL",
        )
