"""Trials of every shape that the engine takes, at loads that ask little of the machine."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

PORTS = 2
SIGNATURE_BYTES = 18

Request = dict[str, Any]


def trial_request(number: int, random: Random) -> Request:
    """Trial `number`: some streams from ports to themselves, for up to a second."""
    return {
        "id": number,
        "request": "trial",
        "mark": 1 + number % 60000,
        "duration_s": random.uniform(0.05, 1.0),
        "drain_s": random.uniform(0.01, 0.1),
        "interval_s": random.choice([0.05, 0.2, 1.0]),
        "streams": [_stream(index, random) for index in range(random.choice([1, 2, 3, 8, 64]))],
    }


def _stream(index: int, random: Random) -> Request:
    port = random.randrange(PORTS)
    pacing = random.choice(
        [
            {"kind": "constant"},
            {"kind": "burst", "frames": random.randrange(1, 64)},
            {"kind": "poisson", "seed": random.randrange(1000)},
            {"kind": "back-to-back"},
            {"kind": "one-in-flight", "timeout_us": 1000},
        ]
    )
    request: Request = {
        "stream": index,
        "role": random.choice(["load", "latency"]),
        "tx_port": port,
        "rx_port": port,
        "frames": [_frame(random) for _ in range(random.choice([1, 1, 3, 40]))],
        "pacing": pacing,
        "fields": random.choice([[], _fields(random)]),
    }
    if pacing["kind"] not in ("back-to-back", "one-in-flight"):
        request["rate_pps"] = random.choice([0.5, 100.0, 5000.0])
    if pacing["kind"] == "back-to-back" or random.random() < 0.3:
        request["frame_count"] = random.randrange(1, 2000)
    return request


def _frame(random: Random) -> str:
    """Ethernet, IPv4 and UDP without checksums, and room for the signature."""
    length = random.choice([60, 60, 124, 508, 1514])
    ethernet = bytes.fromhex("020000000001 020000000002 0800")
    ip = struct.pack(
        ">BBHIBBH4s4s", 0x45, 0, length - 14, 0, 64, 17, 0, b"\xc6\x12\0\1", b"\xc6\x13\0\1"
    )
    udp = struct.pack(">HHHH", 49184, 49185, length - 34, 0)
    payload = random.randbytes(length - 42 - SIGNATURE_BYTES)
    return (ethernet + ip + udp + payload + bytes(SIGNATURE_BYTES)).hex()


def _fields(random: Random) -> list[Request]:
    values = [random.getrandbits(16) for _ in range(random.randrange(1, 4096))]
    return [
        {"offset": 26, "width": 4, "count": 1 << 24, "kind": "random", "seed": 5, "fixes": [24]},
        {"offset": 30, "width": 4, "count": 1024, "fixes": [24]},
        {"offset": 34, "width": 2, "count": len(values), "kind": "list", "values": values},
    ]
