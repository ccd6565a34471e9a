"""Counting by flow: which streams can be counted so, and what each flow is."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING

from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.vary import tells_flows_apart
from plimsoll.traffic.plan import FieldWriter, StreamPlan

if TYPE_CHECKING:
    from plimsoll.traffic.streams.stream import Stream

# COUNTED_FLOWS_MAX of engine/src/config/limits.h.
MOST_COUNTED_FLOWS = 65536


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
    if stream.flows > MOST_COUNTED_FLOWS:
        problem = f"{stream.flows:,} flows are more than can be counted"
        raise mistake(problem, f"use at most {MOST_COUNTED_FLOWS:,} flows", "per_flow")
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
