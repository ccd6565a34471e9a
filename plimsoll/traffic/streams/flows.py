"""The flows of a stream: counted one by one, or making room for new ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING

from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.field_writers import room_of, writers_of
from plimsoll.traffic.frames.scapy_layers import Stack
from plimsoll.traffic.frames.vary import MAX_FLOWS, tells_flows_apart
from plimsoll.traffic.plan import FieldWriter, StreamPlan

if TYPE_CHECKING:
    from plimsoll.traffic.streams.stream import Stream


def churned_fields(
    stream: Stream, fields: tuple[FieldWriter, ...], rate_pps: float | None, *, reverse: bool
) -> tuple[FieldWriter, ...]:
    """The writers of one direction, those that tell flows apart with the stream's churn.

    The engine counts it by frames, of which at most each is a new flow's.
    """
    if stream.churn is None or rate_pps is None:
        return fields
    a_frame = 1.0 if rate_pps <= stream.churn else stream.churn / rate_pps
    cycle = flows_in_all(stream, reverse=reverse)
    telling = (
        tells_flows_apart(each)
        for each in stream.vary
        for _ in writers_of(stream.stacks(reverse=reverse)[0], each, stream.flows)
    )
    return tuple(
        replace(field, churn=a_frame, cycle=cycle) if tells else field
        for field, tells in zip(fields, telling, strict=True)
    )


@functools.lru_cache(maxsize=256)
def flows_in_all(stream: Stream, *, reverse: bool) -> int:
    """How many different flows there are in a direction until they come again."""
    rooms = (room for stack in stream.stacks(reverse=reverse) for room in _rooms(stream, stack))
    return min(MAX_FLOWS, *rooms)


def flows_within(stream: Stream, period_s: float, *, reverse: bool) -> int:
    """How many different flows of a direction have frames in a period, in s, at the most."""
    if stream.churn is None:
        return stream.flows
    new = math.ceil(stream.churn * period_s)
    return min(stream.flows + new, flows_in_all(stream, reverse=reverse))


def check_churn(stream: Stream) -> None:
    """Raise a mistake where a stream cannot have the churn that it is given."""
    if stream.pcap is not None:
        raise mistake("captured frames have no flows", "remove it, or pcap", "churn")
    if stream.flows < 2:
        problem = "one flow is all that the stream has"
        raise mistake(problem, "give how many there are at a time in flows", "churn")
    if stream.rate is None:
        problem = "without a rate there is nothing to count new flows by"
        raise mistake(problem, "remove it, or give the stream a rate", "churn")
    if any(each.startswith("teaching") for each in stream.stream_types):
        problem = "new flows cannot have been taught before they come"
        raise mistake(problem, "remove it, or the teaching types", "churn")
    if not any(map(tells_flows_apart, stream.vary)):
        problem = "no field counts up with the flows"
        raise mistake(problem, "vary one that has no count of its own, such as dst_ip", "churn")
    for reverse in stream.goes:
        if (room := flows_in_all(stream, reverse=reverse)) <= stream.flows:
            way = "on the way back, " if reverse else ""
            problem = f"{way}what varies has {room} values, which leaves none for new flows"
            raise mistake(problem, "use fewer flows, or a wider network (smaller prefix)", "churn")


def notes_on_churn(stream: Stream) -> Iterator[str]:
    """For whom it matters that flows come again."""
    if stream.churn is None:
        return
    most = min(flows_in_all(stream, reverse=reverse) for reverse in stream.goes)
    yield (
        f"stream {stream.name} has {stream.flows:,} flows at a time and direction, of which "
        f"{stream.churn:,g} a second make room for new ones, of {most:,} in all: each comes again "
        f"after {most / stream.churn:,.3g} s"
    )


def _rooms(stream: Stream, stack: Stack) -> Iterator[int]:
    """Of each of the fields; what is named at length counts on past its largest value."""
    for each in stream.vary:
        if isinstance(each, str) and "." not in each:
            yield room_of(stack, each, stream.prefix)
        else:
            yield MAX_FLOWS


# COUNTED_FLOWS_MAX of engine/src/config/limits.h.
MAX_COUNTED_FLOWS = 65536


def check_per_flow(stream: Stream) -> None:
    """Raise a mistake where a stream cannot be counted by flow."""
    if stream.pcap is not None:
        raise mistake("captured frames have no flows", "remove it, or pcap", "per_flow")
    if stream.churn is not None:
        problem = "flows that make room for new ones are more than can be counted"
        raise mistake(problem, "remove it, or churn", "per_flow")
    if stream.flows < 2:
        problem = "one flow is all that the stream has"
        raise mistake(problem, "remove it, or give the stream flows", "per_flow")
    if stream.flows > MAX_COUNTED_FLOWS:
        problem = f"{stream.flows:,} flows are more than can be counted"
        raise mistake(problem, f"use at most {MAX_COUNTED_FLOWS:,} flows", "per_flow")
    if not any(map(tells_flows_apart, stream.vary)):
        problem = "no field counts up with the flows"
        remedy = "vary one that has no count of its own, such as dst_ip"
        raise mistake(problem, remedy, "per_flow")


def flow_name(plan: StreamPlan, flow: int) -> str:
    """What tells a flow from the others, such as "dst_ip 198.19.0.7, dst_port 5004".

    As the tester sends it: a DUT may rewrite it. By the first template, where several take turns.
    """
    return ", ".join(
        f"{field.tells} {_value(plan.frames[0], field, flow)}"
        for field in plan.fields
        if field.tells
    )


def _value(frame: bytes, field: FieldWriter, flow: int) -> str:
    end = field.offset + field.width
    everything = (1 << 8 * field.width) - 1
    mask = everything if field.mask is None else field.mask
    shift = (mask & -mask).bit_length() - 1
    base = (int.from_bytes(frame[field.offset : end]) & mask) >> shift
    number = (base + (field.first + flow) % field.count * field.step) & (mask >> shift)
    kind = field.tells.rpartition(".")[2]
    if field.width == 4 and kind in _ADDRESSES:
        return str(IPv4Address(number))
    if field.width == 8 and kind in _ADDRESSES:
        return str(IPv6Address(frame[end - 16 : end - 8] + number.to_bytes(8)))
    if kind in _MACS and field.width == 6:
        return number.to_bytes(6).hex(":")
    return str(number)


# Short names, and what Scapy calls them.
_ADDRESSES = ("src_ip", "dst_ip", "src", "dst", "psrc", "pdst")
_MACS = ("src_mac", "dst_mac", "src", "dst", "hwsrc", "hwdst")
