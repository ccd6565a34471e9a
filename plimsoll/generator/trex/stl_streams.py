"""Our streams as TRex's: frames, rates, packet groups and field-engine programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from plimsoll.errors import InputError
from plimsoll.traffic.plan import FieldWriter, StreamPlan

# Of all that TRex can count: as many groups as its software counters have.
MAX_GROUPS = 127
_MAX_SIZES = 64
_ETHERTYPE = {0x0800: 4, 0x86DD: 6}
_VLAN_TYPES = (0x8100, 0x88A8)
_UDP, _TCP = 17, 6
# TRex's own numbers of them, in the instruction that fixes their checksums.
_L4_TYPES = {_UDP: 11, _TCP: 13}
_SIZES = (1, 2, 4)
# What a frame of TRex's latency streams ends with.
LATENCY_BYTES = 16


def stl_streams(stream: StreamPlan) -> list[dict[str, Any]]:
    """What the driver is to send: one stream of TRex's for each size of the frames.

    All count in one packet group. Raises InputError for what TRex does not send.
    """
    if stream.role == "latency" and len(stream.frames) > 1:
        raise _refused(stream, "has frames of several sizes, and TRex times those of one")
    if len(stream.frames) > _MAX_SIZES:
        raise _refused(stream, f"has {len(stream.frames)} templates; TRex takes {_MAX_SIZES}")
    order = stream.order or range(len(stream.frames))
    turns = Counter(order)
    return [
        {
            "port": stream.tx_port,
            "group": group_of(stream.stream),
            "latency": stream.role == "latency",
            "frame": frame.hex(),
            **_rate(stream, turns[index] / len(order)),
            "program": program,
        }
        for index, template in enumerate(stream.frames)
        for frame, program in [_made(stream, template)]
        if turns[index]
    ]


def group_of(stream: int) -> int:
    """The packet group that counts a stream."""
    return stream + 1


def _rate(stream: StreamPlan, share: float) -> dict[str, Any]:
    if stream.rate_pps is None:
        return {"unit": "percentage", "rate": 100.0 * share}
    return {"unit": "pps", "rate": stream.rate_pps * share}


def _made(stream: StreamPlan, template: bytes) -> tuple[bytes, list[dict[str, Any]]]:
    """The frame as TRex is given it, and the program that changes it."""
    l3 = 14
    kind = int.from_bytes(template[12:14], "big")
    while kind in _VLAN_TYPES:
        kind, l3 = int.from_bytes(template[l3 + 2 : l3 + 4], "big"), l3 + 4
    version = _ETHERTYPE.get(kind)
    if version is None:
        raise _refused(stream, "is not IP, and TRex counts IP packets alone")
    frame = bytearray(template)
    program = [each for field in enumerate(stream.fields) for each in _field(stream, frame, *field)]
    l4 = l3 + (4 * (frame[l3] & 0x0F) if version == 4 else 40)
    protocol = frame[l3 + 9] if version == 4 else frame[l3 + 6]
    fixed = {offset for field in stream.fields for offset in field.fixes}
    if version == 4 and protocol == _UDP:
        # TRex overwrites the last bytes of timed frames, and fixes no UDP checksum for that:
        # none at all is right in any case (RFC 768).
        frame[l4 + 6 : l4 + 8] = b"\0\0"
        if l3 + 10 in fixed:
            program.append({"kind": "STLVmFixIpv4", "offset": l3})
    elif fixed and protocol in (_UDP, _TCP):
        offsets = {"l3_offset": l3, "l4_offset": l4, "l4_type": _L4_TYPES[protocol]}
        program.append({"kind": "STLVmFixChecksumHw", **offsets})
    elif fixed:
        raise _refused(stream, "varies a packet whose checksums TRex does not fix")
    return bytes(frame), program


def _field(
    stream: StreamPlan, frame: bytearray, number: int, field: FieldWriter
) -> Iterator[dict[str, Any]]:
    """A variable of the field engine, and where it is written."""
    if field.mask is not None or field.every > 1 or field.churn or field.width not in (*_SIZES, 6):
        raise _refused(stream, f"varies bytes {field.offset} and on as TRex's field engine cannot")
    width = min(4, field.width)
    offset = field.offset + field.width - width
    base = int.from_bytes(frame[offset : offset + width], "big")
    last = base + (field.count - 1) * field.step
    if field.kind != "list" and not (field.step > 0 and last < 1 << 8 * width):
        raise _refused(stream, f"varies bytes {field.offset} and on beyond {width} bytes")
    name = f"v{number}"
    variable: dict[str, Any] = {"kind": "STLVmFlowVar", "name": name, "size": width}
    match field.kind:
        case "increment":
            variable |= {
                "min_value": base,
                "max_value": last,
                "step": field.step,
                "op": "inc",
                "init_value": base + field.first % field.count * field.step,
            }
        case "random" if field.step == 1:
            variable |= {"min_value": base, "max_value": last, "op": "random"}
        case "list" if field.width in _SIZES:
            first = field.first % field.count
            values = field.values[first:] + field.values[:first]
            variable |= {"value_list": list(values), "op": "inc"}
        case _:
            raise _refused(stream, f"has random values {field.step} apart, or a list of MACs")
    yield variable
    yield {"kind": "STLVmWrFlowVar", "fv_name": name, "pkt_offset": offset}


def _refused(stream: StreamPlan, why: str) -> InputError:
    return InputError(
        f"stream {stream.name} {why}",
        where="profile.streams",
        remedy="change it, or use another generator",
    )
