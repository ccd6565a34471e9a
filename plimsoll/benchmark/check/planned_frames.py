"""A stream's frames as Scapy shows them."""

from __future__ import annotations

from collections import Counter

from plimsoll.record.results.check_result import PlannedFrame
from plimsoll.text.wire import FCS_BYTES
from plimsoll.traffic.frames.scapy_layers import Scapy, layer_class
from plimsoll.traffic.plan import StreamPlan

_MOST_FRAMES = 8
_MOST_CHARACTERS = 100


def planned_frames(stream: StreamPlan) -> tuple[PlannedFrame, ...]:
    """The first of the frames that the stream is made from, each with its share."""
    order = stream.order or range(len(stream.frames))
    times = Counter(order)
    return tuple(
        _planned(frame, times[number] / len(order), stream.signature_bytes)
        for number, frame in enumerate(stream.frames[:_MOST_FRAMES])
    )


def _planned(frame: bytes, share: float, signature_bytes: int) -> PlannedFrame:
    packet = layer_class("Ether")(frame)
    payload = _take_payload(packet)
    shown = "\n".join(line[:_MOST_CHARACTERS] for line in packet.show(dump=True).splitlines())
    return PlannedFrame(
        size=len(frame) + FCS_BYTES,
        share=share,
        summary=packet.summary(),
        shown=f"{shown.rstrip()}\n{_said(payload, signature_bytes)}",
        hex=frame.hex(),
    )


def _take_payload(packet: Scapy) -> bytes:
    """Remove and return what is not a layer: the payload, or what fills a frame up."""
    innermost = packet
    while innermost.payload and innermost.payload.name not in ("Raw", "Padding"):
        innermost = innermost.payload
    payload = bytes(innermost.payload)
    innermost.remove_payload()
    return payload


def _said(payload: bytes, signature_bytes: int) -> str:
    before = payload[:-signature_bytes]
    content = "zeroes" if not any(before) else before[:16].hex() + "…"
    filled = f"{len(before)} bytes ({content}), then " if before else ""
    return f"payload: {filled}{signature_bytes} bytes of signature"
