"""Layers made into frames by Scapy, with room for the signature at their end."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from plimsoll.errors import InputError
from plimsoll.text.wire import FCS_BYTES
from plimsoll.traffic.frames.field_values import Kind, as_number, field_kind, for_scapy
from plimsoll.traffic.frames.layers import FieldValue, Layer, Stack
from plimsoll.traffic.frames.scapy_layers import Scapy, layer_class, scapy_module
from plimsoll.traffic.frames.tcp_options import same_options
from plimsoll.traffic.plan import SIGNATURE_BYTES

# Ethernet's own minimum (IEEE 802.3).
MIN_FRAME_SIZE = 64
# As the engine takes them.
MAX_FRAME_SIZE = 9218

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
def build_frame(stack: Stack, frame_size: int) -> bytes:
    """A frame of `frame_size` bytes with FCS, given without it.

    The layers are followed by zeroes, the last 18 of which the engine overwrites with
    the signature. Raises InputError for layers that cannot be built or do not fit.
    """
    if frame_size < (least := least_frame_size(stack)):
        raise InputError(
            f"{frame_size} bytes are too few for headers, signature and FCS",
            remedy=f"give at least {least} bytes",
        )
    return _with_payload(stack, bytes(frame_size - FCS_BYTES - _header_bytes(stack)))


@functools.lru_cache(maxsize=1024)
def least_frame_size(stack: Stack) -> int:
    """The smallest frame, with FCS, that holds the layers and the signature."""
    return max(MIN_FRAME_SIZE, _header_bytes(stack) + SIGNATURE_BYTES + FCS_BYTES)


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
        asked, kind = packet.getfieldval(name), field_kind(packet, name)
        in_full = kind == "text" and isinstance(asked, bytes) and asked in built
        if not in_full and not _same(kind, asked, kept[name]):
            raise InputError(
                f"{layer}.{name}: {value!r} does not fit, or the field is not in this frame",
                remedy="give a smaller value, or the flags that bring the field in",
            )
    volatile = scapy_module("scapy.volatile").VolatileValue
    for field in packet.fields_desc:
        if isinstance(packet.getfieldval(field.name), volatile):
            raise InputError(f"{layer}.{field.name}: is random in Scapy", remedy="give it a value")


def _same(kind: Kind, asked: Scapy, read: Scapy) -> bool:
    """Whether a field was read back as it was given, in Scapy's own forms of its value."""
    if read is None:
        return False
    try:
        match kind:
            case "options":
                return same_options(asked, read)
            case "text":
                return bool(read == asked)
            case "number":
                return int(read) == int(asked)
            case _:
                return as_number(kind, str(read)) == as_number(kind, str(asked))
    # What was read may be of any type, where the layer's bytes made other fields of it.
    except (InputError, TypeError, ValueError):
        return False


@functools.lru_cache(maxsize=1024)
def _header_bytes(stack: Stack) -> int:
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
