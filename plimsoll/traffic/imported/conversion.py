"""One stream of a trafficgen profile as the streams that send the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE, fits
from plimsoll.traffic.imported.flow_packet import (
    AddressPool,
    DrawnEnds,
    FlowPacket,
    generic_packet,
    parse_flow_mods,
    with_mac_flows,
    with_room,
    written_flow_packet,
    written_frame_size,
)
from plimsoll.traffic.imported.scapy_text import parse_scapy
from plimsoll.traffic.plan import SIGNATURE_BYTES, Role
from plimsoll.traffic.streams.stream import Stream

if TYPE_CHECKING:
    from plimsoll.traffic.imported.trafficgen import TrafficgenStream

# The fields of flow_mods that trafficgen heeds; in generic frames, all.
_HEEDED = {
    "ICMP": ("src_mac", "dst_mac", "src_ip", "dst_ip"),
    "GARP": ("src_mac", "src_ip"),
}
# trafficgen counts no FCS where it pads an echo request, so that it is longer than frame_size.
_ICMP_LONGER = 4
# Room for 65536 addresses from any start.
_WIDE_PREFIX = 8
_FLOWS_OF_A_NETWORK = 65535
# A stream's own; trafficgen takes those of its host's routing table.
_OWN_MACS = ("02:00:00:00:00:01", "02:00:01:00:00:01")


@dataclass(frozen=True, slots=True)
class LatencyProbes:
    """How fast streams probe, and whether at all: --latency-rate and --measure-latency.

    The defaults are binary-search.py's.
    """

    rate_pps: int = 1000
    measured: bool = True


USUAL_PROBES = LatencyProbes()


def stream_ends(stream: TrafficgenStream, pool: AddressPool) -> DrawnEnds | None:
    """What the stream sends from and to; None of one that writes its packet itself.

    Raises InputError where no addresses are left.
    """
    if stream.the_packet is not None:
        return None
    mods = parse_flow_mods(stream.flow_mods)
    return pool.draw(stream.stream_id, ip_flows="src_ip" in mods or "dst_ip" in mods)


def check_convertible(stream: TrafficgenStream) -> None:
    """Raise a mistake, in the stream's own field, where it cannot be sent."""
    try:
        as_streams(stream, "this", stream_ends(stream, AddressPool()), USUAL_PROBES)
    except InputError as error:
        raise mistake(error.message, error.remedy, "flow_mods") from None
    except ValidationError as error:
        first = error.errors()[0]
        context = first["ctx"]
        field = context.get("field") or first["loc"][:1]
        raise mistake(first["msg"], context["remedy"], *field) from None


def as_streams(
    stream: TrafficgenStream, name: str, ends: DrawnEnds | None, probes: LatencyProbes
) -> list[Stream]:
    """The load streams, the probes, or both, that it stands for.

    With `latency` a probe at the probes' rate runs together with the load, and its rate is
    taken out of it; a stream no faster than that is all probe, unless its frames have no
    room for the time that a probe carries. Flows that differ in protocol are two streams,
    which share rate and flows. None are left of a stream that is all probe where latency is
    not measured.
    """
    return [
        made
        for part in _parts(stream)
        for made in _streams_of(stream, f"{name}{part.suffix}", part, ends, probes)
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """What of a stream has one protocol; without a packet it is gratuitous ARP."""

    suffix: str
    packet: FlowPacket | None
    flows: int
    rate_pps: float


def _parts(stream: TrafficgenStream) -> list[_Part]:
    if stream.the_packet is not None:
        return [_Part("", _written(stream), stream.flows, stream.rate)]
    both = "protocol" in parse_flow_mods(stream.flow_mods)
    flows = math.ceil(stream.flows / 2) if both else stream.flows
    if stream.frame_type == "garp":
        # Requests and replies are sent at the rate each; in Plimsoll they take turns.
        return [_Part("", None, flows, stream.rate if both else 2 * stream.rate)]
    if stream.frame_type == "icmp":
        return [_Part("", _generic(stream, "ICMP", flows), flows, stream.rate)]
    if not both:
        return [_Part("", _generic(stream, stream.protocol, flows), flows, stream.rate)]
    return [
        _Part(f"-{protocol.lower()}", _generic(stream, protocol, flows), flows, stream.rate / 2)
        for protocol in ("UDP", "TCP")
    ]


def _generic(stream: TrafficgenStream, protocol: str, flows: int) -> FlowPacket:
    return generic_packet(protocol, _varied(stream, protocol), flows)


def _written(stream: TrafficgenStream) -> FlowPacket:
    stack = parse_scapy(stream.the_packet or "")
    stack = with_room(stack, written_frame_size(stack, stream.frame_size))
    return written_flow_packet(stack, _varied(stream, ""), stream.flows)


def _varied(stream: TrafficgenStream, protocol: str) -> tuple[str, ...]:
    mods = [name for name in parse_flow_mods(stream.flow_mods) if name != "protocol"]
    heeded = _HEEDED.get(protocol, tuple(mods))
    return tuple(name for name in mods if name in heeded)


def _streams_of(
    stream: TrafficgenStream,
    name: str,
    part: _Part,
    ends: DrawnEnds | None,
    probes: LatencyProbes,
) -> list[Stream]:
    given, rate_pps = _given(stream, part, ends), part.rate_pps
    latency = stream.latency and probes.measured
    if stream.latency_only and not latency:
        return []
    holds = stream.latency_only or _holds_a_time(part, given)
    if not (latency and holds and "measurement" in stream.stream_types):
        return [_stream(name, "load", rate_pps, given)]
    if stream.latency_only or rate_pps <= probes.rate_pps:
        return [_stream(name, "latency", min(rate_pps, probes.rate_pps), given)]
    probe = given | {"taken_from": name}
    return [
        _stream(name, "load", rate_pps, given),
        _stream(f"{name}-latency", "latency", probes.rate_pps, probe),
    ]


def _holds_a_time(part: _Part, given: dict[str, Any]) -> bool:
    packet = part.packet
    if packet is None:
        return True
    return all(
        fits(stack, given["frame_size"], SIGNATURE_BYTES)
        for stack in (packet.forward, packet.reverse)
    )


def _given(stream: TrafficgenStream, part: _Part, ends: DrawnEnds | None) -> dict[str, Any]:
    """All but the name, the role and the rate."""
    given: dict[str, Any] = {
        "frame_size": _frame_size(stream),
        "direction": stream.traffic_direction,
        "stream_types": stream.stream_types,
        "schedule": _schedule(stream),
        **_ends(ends),
    }
    if part.packet is None:
        given["protocol"], vary = "GARP", _varied(stream, "GARP")
    else:
        macs = (ends.src_mac, ends.dst_mac) if ends else _OWN_MACS
        packet = with_mac_flows(part.packet, macs, part.flows)
        given["packet"], vary = packet.forward, packet.vary
        if stream.traffic_direction != "unidirectional":
            given["reverse_packet"] = packet.reverse
    flows = part.flows
    # Without a field that changes trafficgen sends the same frame over and over.
    given |= {"vary": vary, "flows": flows if vary else 1}
    return given | ({"prefix": _WIDE_PREFIX} if flows > _FLOWS_OF_A_NETWORK else {})


def _ends(ends: DrawnEnds | None) -> dict[str, Any]:
    if ends is None:
        return {}
    macs = {"src_mac": ends.src_mac, "dst_mac": ends.dst_mac}
    return {**macs, "src_ip": ends.src_ip, "dst_ip": ends.dst_ip}


def _frame_size(stream: TrafficgenStream) -> int:
    if stream.the_packet is not None:
        return written_frame_size(parse_scapy(stream.the_packet), stream.frame_size)
    if stream.frame_type == "garp":
        # As short as frames may be, whatever frame_size says.
        return 64
    longer = _ICMP_LONGER if stream.frame_type == "icmp" else 0
    return min(stream.frame_size + longer, MAX_FRAME_SIZE)


def _schedule(stream: TrafficgenStream) -> dict[str, Any] | None:
    """Its segments; a repetition without an end of its own, or a pause, is none."""
    schedule: dict[str, Any] = {"start": f"{stream.offset}s"} if stream.offset else {}
    pause = stream.offset if stream.repeat_delay is None else stream.repeat_delay
    repeats = stream.repeat and stream.duration is not None
    if stream.duration is not None and not (repeats and pause == 0):
        schedule["duration"] = f"{stream.duration}s"
        if repeats:
            schedule |= {"repeat": True, "pause": f"{pause}s"}
    return schedule or None


def _stream(name: str, role: Role, rate_pps: float, given: dict[str, Any]) -> Stream:
    return Stream.model_validate({"name": name, "role": role, "rate": rate_pps, **given})
