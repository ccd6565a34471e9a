"""Streams in the form in which TRex's client sends them."""

from __future__ import annotations

import base64
from typing import Any

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

UDP_64: Packet = (
    Ether(src="00:00:00:01:00:00", dst="00:00:00:02:00:00")
    / IP(src="16.0.0.1", dst="48.0.0.1")
    / UDP(sport=1025, dport=12)
    / (b"x" * 18)
)


def stream_json(**changed: Any) -> dict[str, Any]:
    return {
        "action_count": 0,
        "core_id": -1,
        "enabled": True,
        "flags": 3,
        "flow_stats": {"enabled": False},
        "isg": 0.0,
        "mode": {"type": "continuous", "rate": {"type": "pps", "value": 1000.0}},
        "next_stream_id": -1,
        "packet": {"binary": base64.b64encode(bytes(UDP_64)).decode(), "meta": ""},
        "self_start": True,
        "start_paused": False,
        "vm": {"instructions": []},
    } | changed


def flow_var(name: str, size: int, op: str, low: int, high: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "flow_var",
        "name": name,
        "size": size,
        "op": op,
        "init_value": high if op == "dec" else low,
        "min_value": low,
        "max_value": high,
        "step": 1,
        "split_to_cores": True,
        "next_var": None,
    } | more


def listed_var(name: str, size: int, op: str, values: list[int], **more: Any) -> dict[str, Any]:
    return {
        "type": "flow_var",
        "name": name,
        "size": size,
        "op": op,
        "value_list": values,
        "step": 1,
        "next_var": None,
    } | more


def write(name: str, at: int, add: int = 0, *, big: bool = True) -> dict[str, Any]:
    return {
        "type": "write_flow_var",
        "name": name,
        "pkt_offset": at,
        "add_value": add,
        "is_big_endian": big,
    }


def write_mask(
    name: str, at: int, size: int, mask: int, *, shift: int, add: int = 0
) -> dict[str, Any]:
    return {
        "type": "write_mask_flow_var",
        "name": name,
        "pkt_offset": at,
        "pkt_cast_size": size,
        "mask": mask,
        "shift": shift,
        "add_value": add,
        "is_big_endian": True,
    }


def vm(*instructions: dict[str, Any]) -> dict[str, Any]:
    return {"instructions": list(instructions)}
