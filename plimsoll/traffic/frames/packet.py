"""Layers made into frames by Scapy, with room for the signature at their end."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from plimsoll.errors import InputError
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.traffic.frames.field_values import (
    ValueKind,
    as_number,
    field_kind,
    for_scapy,
    same_options,
)
from plimsoll.traffic.frames.scapy_layers import (
    FieldValue,
    Layer,
    Scapy,
    Stack,
    layer_class,
    scapy_module,
)
from plimsoll.traffic.plan import SIGNATURE_BYTES

# Ethernet's own minimum (IEEE 802.3).
MIN_FRAME_SIZE = 64
# As the engine takes them.
MAX_FRAME_SIZE = 9218
# bench-trafficgen's least; what is shorter than 64 is padded.
_MIN_PADDED_SIZE = 40

# Any 18 bytes whose nine 16-bit words sum to 0xffff, as a signature's do.
_SAMPLE_WORDS = (0x0102, 0x0304, 0x0506, 0x0708, 0x090A, 0x0B0C, 0x0D0E, 0x0F10, 0xBFB7)
_SAMPLE_SIGNATURE = b"".join(word.to_bytes(2) for word in _SAMPLE_WORDS)
# By these lengths Scapy knows that ARP is about Ethernet and IPv4.
_ALWAYS = {"ARP": {"hwlen": 6, "plen": 4}}
_READ = "see Scapy's documentation of the layer"


def build_packet(stack: Stack) -> Scapy:
    """Scapy's packet of these layers, without payload. Raises InputError."""
    packet = build_layer(stack[0])
    for layer in stack[1:]:
        packet = packet / build_layer(layer)
    return packet


def build_layer(layer: Layer) -> Scapy:
    """One layer, its fields checked. Raises InputError naming the field."""
    packet = layer_class(layer.name)(**_ALWAYS.get(layer.name, {}))
    given = {name: value for name, value in layer.fields if value is not None}
    for name, value in given.items():
        _assign(packet, layer.name, name, value)
    _check_kept(packet, layer.name, given)
    return packet


@functools.lru_cache(maxsize=4096)
def build_frame(stack: Stack, frame_size: int, signature_bytes: int = SIGNATURE_BYTES) -> bytes:
    """A frame of `frame_size` bytes with FCS, given without it.

    The layers are followed by zeroes, the last of which the engine overwrites with the
    signature. Of less than 64 bytes, the packet is as short, and padding follows it up to
    Ethernet's minimum; the signature lies in the padding. Raises InputError for layers that
    cannot be built or do not fit.
    """
    if not fits(stack, frame_size, signature_bytes):
        raise InputError(
            f"{frame_size} bytes are too few for headers, signature and FCS",
            remedy=f"give {suitable_sizes(stack, signature_bytes)}",
        )
    packet_bytes = max(header_bytes(stack), frame_size - FCS_BYTES)
    packet = _with_payload(stack, bytes(packet_bytes - header_bytes(stack)))
    return packet.ljust(MIN_FRAME_SIZE - FCS_BYTES, b"\0")


@functools.lru_cache(maxsize=1024)
def least_frame_size(stack: Stack, signature_bytes: int = SIGNATURE_BYTES) -> int:
    """The smallest frame, with FCS, that holds the layers and the signature without padding."""
    return max(MIN_FRAME_SIZE, header_bytes(stack) + signature_bytes + FCS_BYTES)


def fits(stack: Stack, frame_size: int, signature_bytes: int) -> bool:
    """Whether a frame has room for the signature, in its payload or in its padding."""
    if frame_size >= MIN_FRAME_SIZE:
        return frame_size >= least_frame_size(stack, signature_bytes)
    return _MIN_PADDED_SIZE <= frame_size <= _most_padded_size(stack, signature_bytes)


def suitable_sizes(stack: Stack, signature_bytes: int) -> str:
    """What frame sizes there are, for people."""
    most, least = (
        _most_padded_size(stack, signature_bytes),
        least_frame_size(stack, signature_bytes),
    )
    if most < _MIN_PADDED_SIZE:
        return f"at least {least} bytes"
    return f"at least {least} bytes, or {_MIN_PADDED_SIZE} to {most} with a padded packet"


def _most_padded_size(stack: Stack, signature_bytes: int) -> int:
    """The longest packet, with FCS, whose padding has room; 0 for none."""
    packet_bytes = MIN_FRAME_SIZE - FCS_BYTES - signature_bytes
    return packet_bytes + FCS_BYTES if header_bytes(stack) <= packet_bytes else 0


@functools.lru_cache(maxsize=1024)
def check_signable(stack: Stack) -> None:
    """Raise InputError where a header depends on what the signature holds."""
    empty, signed = (
        _with_payload(stack, payload) for payload in (bytes(SIGNATURE_BYTES), _SAMPLE_SIGNATURE)
    )
    headers = len(empty) - SIGNATURE_BYTES
    same = _equal_checksums(empty[:headers]) == _equal_checksums(signed[:headers])
    if not same or signed[headers:] != _SAMPLE_SIGNATURE:
        raise InputError(
            "a layer has a checksum that the signature, another in each frame, would break",
            remedy="use layers with Internet checksums, such as UDP, TCP or ICMP",
        )


def payload_of(content: bytes) -> Scapy:
    """What follows the layers, in no layer of its own."""
    return layer_class("Raw")(content)


def _assign(packet: Scapy, layer: str, name: str, value: FieldValue) -> None:
    try:
        packet.setfieldval(name, for_scapy(packet, name, value))
    except InputError as error:
        raise InputError(f"{layer}.{name}: {error.message}", remedy=error.remedy) from None
    # Scapy's fields raise whatever their code happens to meet.
    except Exception as error:
        problem = f"{layer}.{name}: {value!r} is refused: {_first_line(error)}"
        raise InputError(problem, remedy=_READ) from None


def _check_kept(packet: Scapy, layer: str, given: Mapping[str, FieldValue]) -> None:
    """Build the layer and read it back: Scapy cuts some numbers, and leaves some fields out."""
    read = type(packet)()
    try:
        built = bytes(packet)
        read.do_dissect(built)
        kept = {name: read.getfieldval(name) for name in given}
    except Exception as error:
        raise InputError(f"{layer}: cannot be built: {_first_line(error)}", remedy=_READ) from None
    for name, value in given.items():
        expected, kind = packet.getfieldval(name), field_kind(packet, name)
        in_full = kind == "text" and isinstance(expected, bytes) and expected in built
        if not in_full and not _same(kind, expected, kept[name]):
            raise InputError(
                f"{layer}.{name}: {value!r} does not fit, or the field is not in this frame",
                remedy="give a smaller value, or the flags that bring the field in",
            )
    volatile = scapy_module("scapy.volatile").VolatileValue
    for field in packet.fields_desc:
        if isinstance(packet.getfieldval(field.name), volatile):
            raise InputError(f"{layer}.{field.name}: is random in Scapy", remedy="give it a value")


def _same(kind: ValueKind, expected: Scapy, read: Scapy) -> bool:
    """Whether a field was read back as it was given, in Scapy's own forms of its value."""
    if read is None:
        return False
    try:
        match kind:
            case "options":
                return same_options(expected, read)
            case "text":
                return bool(read == expected)
            case "number":
                return int(read) == int(expected)
            case _:
                return as_number(kind, str(read)) == as_number(kind, str(expected))
    # What was read may be of any type, where the layer's bytes made other fields of it.
    except (InputError, TypeError, ValueError):
        return False


@functools.lru_cache(maxsize=1024)
def header_bytes(stack: Stack) -> int:
    """How many bytes the layers take, without payload. Raises InputError."""
    return len(_with_payload(stack, b""))


def _with_payload(stack: Stack, payload: bytes) -> bytes:
    packet = build_packet(stack)
    try:
        return bytes(packet / payload_of(payload))
    except Exception as error:
        raise InputError(f"cannot be built: {_first_line(error)}", remedy=_READ) from None


def _first_line(error: Exception) -> str:
    return f"{str(error) or type(error).__name__}".splitlines()[0]


def _equal_checksums(header: bytes) -> bytes:
    """With both of one's complement's zeroes written alike."""
    return header.replace(b"\xff\xff", b"\0\0")
