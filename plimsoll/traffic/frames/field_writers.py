"""A stream's frames as bytes: templates, their order, and what the engine writes into them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_interface
from typing import Protocol

from plimsoll.errors import InputError
from plimsoll.traffic.frames.addresses import MAC
from plimsoll.traffic.frames.capture import PacketCapture
from plimsoll.traffic.frames.field_finder import FoundField, find_field
from plimsoll.traffic.frames.packet import build_frame, check_signable
from plimsoll.traffic.frames.scapy_layers import FieldValue, Stack, last_index, transport_index
from plimsoll.traffic.frames.vary import PATH, SHORT_NAMES, Variation, tells_flows_apart
from plimsoll.traffic.imix import LONGEST_SEQUENCE
from plimsoll.traffic.plan import FieldWriter

# As the engine takes them.
_MAX_FIELDS = 8

_SHORT_LAYERS: dict[str, tuple[tuple[str, ...], str]] = {
    "src_mac": (("Ether",), "src"),
    "dst_mac": (("Ether",), "dst"),
    "src_ip": (("IP", "IPv6"), "src"),
    "dst_ip": (("IP", "IPv6"), "dst"),
    "vlan": (("Dot1Q", "Dot1AD"), "vlan"),
    "mpls": (("MPLS",), "label"),
    "vni": (("VXLAN",), "vni"),
    "teid": (("GTP_U_Header",), "teid"),
}


def field_writers(
    stack: Stack, vary: Iterable[str | Variation], flows: int
) -> tuple[FieldWriter, ...]:
    """The writers of all that varies. Raises InputError where they are too many or overlap."""
    writers = tuple(writer for each in vary for writer in writers_of(stack, each, flows))
    if len(writers) > _MAX_FIELDS:
        raise InputError(
            f"{len(writers)} fields are more than can vary", remedy=f"vary at most {_MAX_FIELDS}"
        )
    _check_apart(writers)
    return writers


def writers_of(stack: Stack, varied: str | Variation, flows: int) -> list[FieldWriter]:
    """Those of one entry of `vary`; none for the only one of `flows`."""
    if isinstance(varied, str):
        if flows == 1:
            return []
        return [
            replace(_counting(find_field(stack, index, field), flows), tells=varied)
            for index, field in places_of(stack, varied)
        ]
    ((index, field),) = places_of(stack, varied.field)
    return [_long_form(find_field(stack, index, field), varied, flows)]


def places_of(stack: Stack, name: str) -> list[tuple[int, str]]:
    """The layers and fields that a short name or a path means in a packet.

    A short name means the innermost field of its kind; in ARP, whose addresses stand in
    several places, all of them. Raises InputError where the packet has none.
    """
    found = _by_short_name(stack, name) if name in SHORT_NAMES else _by_path(stack, name)
    if not found:
        raise InputError(
            f"there is no {name} in {'/'.join(each.name for each in stack)}",
            remedy="vary what the packet has",
        )
    return found


def _by_path(stack: Stack, path: str) -> list[tuple[int, str]]:
    match = PATH.fullmatch(path)
    if match is None:
        return []
    number = int(match["number"] or 1)
    layers = [index for index, each in enumerate(stack) if each.name == match["layer"]]
    return [(layers[number - 1], match["field"])] if number <= len(layers) else []


def _by_short_name(stack: Stack, name: str) -> list[tuple[int, str]]:
    if name in ("src_port", "dst_port"):
        transport = transport_index(stack)
        return [] if transport is None else [(transport, f"{name[0]}port")]
    names, field = _SHORT_LAYERS[name]
    index = last_index(stack, *names)
    places = [] if index is None else [(index, field)]
    arp = last_index(stack, "ARP")
    return places if arp is None else _arp_places(stack, arp, name, places)


def _arp_places(
    stack: Stack, arp: int, name: str, places: list[tuple[int, str]]
) -> list[tuple[int, str]]:
    gratuitous = stack[arp].get("psrc") == stack[arp].get("pdst")
    match name:
        case "src_mac":
            return [*places, (arp, "hwsrc")]
        case "src_ip":
            return [(arp, "psrc"), (arp, "pdst")] if gratuitous else [(arp, "psrc")]
        case "dst_ip":
            return [] if gratuitous else [(arp, "pdst")]
        case _:
            return places


def _long_form(found: FoundField, varied: Variation, flows: int) -> FieldWriter:
    listed = varied.values if isinstance(varied.values, tuple) else ()
    count = len(listed) or varied.count or flows
    if not listed and count == 1:
        raise InputError(f"{varied.field} has no count of values", remedy="give count, or flows")
    if varied.first >= count:
        raise InputError(
            f"the first value is number {varied.first} of {count}", remedy=f"give less than {count}"
        )
    return replace(
        _counting(found, count),
        kind="list" if isinstance(varied.values, tuple) else varied.values,
        values=tuple(found.number_of(value) for value in listed),
        step=varied.step,
        seed=varied.seed,
        first=varied.first,
        tells=varied.field if tells_flows_apart(varied) else "",
    )


def _counting(found: FoundField, count: int) -> FieldWriter:
    everything = (1 << 8 * found.width) - 1
    mask = None if found.mask == everything else found.mask
    return FieldWriter(found.offset, found.width, count, mask=mask, fixes=found.fixes)


def _check_apart(writers: Sequence[FieldWriter]) -> None:
    """Raise InputError where a bit of the frame is written twice."""
    seen: set[tuple[int, int]] = set()
    for writer in writers:
        mask = writer.mask if writer.mask is not None else (1 << 8 * writer.width) - 1
        for number, byte in enumerate(mask.to_bytes(writer.width), start=writer.offset):
            bits = {(number, bit) for bit in range(8) if byte >> bit & 1}
            if seen & bits:
                raise InputError("a field is varied twice", remedy="vary each field once")
            seen |= bits


# Flows change the last three bytes of a MAC: the vendor's part stays.
_MAC_VARYING_BITS = 24
# VLAN 4095 is reserved (IEEE 802.1Q).
_LIMITS = {"vlan": 4095, "mpls": 2**20, "vni": 2**24, "teid": 2**32}
_PORTS = 2**16


def check_room(stack: Stack, name: str, shown: str, flows: int, prefix: int) -> None:
    """Raise InputError where a short name's field has fewer values than there are flows.

    `shown` is the name that the user gave the value under. IP addresses stay in
    their network of `prefix` bits.
    """
    index, field = places_of(stack, name)[0]
    start = stack[index].get(field)
    room = _room(name, start, prefix)
    if flows > room:
        wider = " or a wider network (smaller prefix)" if name.endswith("_ip") else ""
        broadcast = ", as its network's last address is the broadcast" if _is_ipv4(start) else ""
        raise InputError(
            f"{flows} flows are more than {shown} has values: {room} from {start}{broadcast}",
            remedy=f"use fewer flows, a lower start{wider}",
        )


def room_of(stack: Stack, name: str, prefix: int) -> int:
    """How many values a short name's field has, from where it starts in the packet."""
    index, field = places_of(stack, name)[0]
    return _room(name, stack[index].get(field), prefix)


def _room(name: str, start: FieldValue, prefix: int) -> int:
    if isinstance(start, str) and MAC.fullmatch(start):
        low = int(start.replace(":", ""), 16) % (1 << _MAC_VARYING_BITS)
        return (1 << _MAC_VARYING_BITS) - low
    if isinstance(start, str):
        return _addresses_from(start, prefix)
    return _LIMITS.get(name, _PORTS) - (start if isinstance(start, int) else 0)


def _is_ipv4(start: FieldValue) -> bool:
    return isinstance(start, str) and "." in start


def _addresses_from(start: str, prefix: int) -> int:
    first = ip_interface(f"{start}/{prefix}")
    beyond = int(first.network.broadcast_address) - int(first.ip)
    # The last address of an IPv4 network is its broadcast.
    return beyond if first.version == 4 else beyond + 1


class FrameSource(Protocol):
    """What templates need to know of a stream. Hashable, for they are cached by it."""

    @property
    def capture(self) -> PacketCapture | None:
        """The frames to replay, instead of all that follows."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Frame sizes with FCS, in the order of sending."""

    @property
    def signature_bytes(self) -> int:
        """How many of a frame's last bytes the signature takes."""

    @property
    def flows(self) -> int:
        """After how many frames the fields that vary repeat."""

    @property
    def vary(self) -> tuple[str | Variation, ...]:
        """The fields in which the frames of different flows differ."""

    def stacks(self, *, reverse: bool) -> tuple[Stack, ...]:
        """The packets that take turns in one direction."""


@dataclass(frozen=True, slots=True)
class Templates:
    """As in StreamPlan."""

    frames: tuple[bytes, ...]
    order: tuple[int, ...]
    fields: tuple[FieldWriter, ...]


@functools.lru_cache(maxsize=256)
def templates(stream: FrameSource, *, reverse: bool) -> Templates:
    """The frames of one direction; cached, for every trial of a search sends the same.

    Raises InputError for what cannot be sent.
    """
    capture = stream.capture
    if capture is not None:
        return Templates(capture.frames, _unless_in_turn(capture.order), ())
    stacks = stream.stacks(reverse=reverse)
    for stack in stacks:
        check_signable(stack)
    frames: dict[bytes, int] = {}
    # Packets that take turns do so within each size, so that none is of one size only.
    order = [
        frames.setdefault(build_frame(stack, size, stream.signature_bytes), len(frames))
        for size in stream.sizes
        for stack in stacks
    ]
    if len(order) > LONGEST_SEQUENCE:
        raise InputError(
            f"{len(order)} frames pass until they repeat", remedy="use a shorter mix of sizes"
        )
    # Packets that take turns have the same layers, so their fields are at the same places.
    fields = field_writers(stacks[0], stream.vary, stream.flows)
    return Templates(tuple(frames), _unless_in_turn(tuple(order)), fields)


def _unless_in_turn(order: tuple[int, ...]) -> tuple[int, ...]:
    """Templates take turns by themselves."""
    return () if order == tuple(range(len(order))) else order
