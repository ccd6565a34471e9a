"""How many values a varying address, port or label has, counting up from where it starts."""

from __future__ import annotations

from ipaddress import ip_interface

from plimsoll.errors import InputError
from plimsoll.traffic.frames.addresses import MAC
from plimsoll.traffic.frames.field_writers import places_of
from plimsoll.traffic.frames.layers import FieldValue, Stack

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
