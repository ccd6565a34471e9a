"""The streams of one profile on one port, made into what the engine sends."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.remote.trex.field_engine.made_frames import MadeFrames, made_frames
from plimsoll.remote.trex.streams.stl_stream import StlStream
from plimsoll.remote.trex.streams.timeline import (
    Bandwidth,
    ProfileBandwidth,
    Timing,
    rate_pps,
    timings,
)
from plimsoll.traffic.plan import StreamPlan

_NO_MAC = bytes(6)


@dataclass(frozen=True, slots=True)
class TesterPort:
    """A port as streams see it: where its frames come in again, and its addresses.

    `line_rate_bps` is L1: the link's, or what the server says that it is.
    """

    port: int
    rx_port: int
    src_mac: bytes
    dst_mac: bytes
    line_rate_bps: float


@dataclass(frozen=True, slots=True)
class TranslatedStream:
    """A stream and its frames; `rate_pps` is without any multiplier."""

    stream_id: int
    stream: StlStream
    made: MadeFrames
    rate_pps: float


def translated(stream_id: int, stream: StlStream, port: TesterPort) -> TranslatedStream:
    """One stream on a port. Raises InputError where the engine cannot send it."""
    packet = stream.addressed(port.src_mac, port.dst_mac)
    made = _made(stream, packet)
    return TranslatedStream(
        stream_id, stream, made, rate_pps(stream.mode.rate, made.mean_bytes, port.line_rate_bps)
    )


@functools.lru_cache(maxsize=256)
def _made(stream: StlStream, packet: bytes) -> MadeFrames:
    return made_frames(stream.vm, packet, stream.random_seed or 1, timed=stream.timed)


def bandwidth(streams: Mapping[int, TranslatedStream], port: TesterPort) -> ProfileBandwidth:
    """What the streams of a profile send at a factor of 1, all that send at the same time."""
    sending = [each for each in streams.values() if each.stream.enabled]
    fixed = [(e.rate_pps, e.made.mean_bytes) for e in sending if e.stream.timed]
    varied = [(e.rate_pps, e.made.mean_bytes) for e in _at_once(sending) if not e.stream.timed]
    return ProfileBandwidth(Bandwidth.of(varied), Bandwidth.of(fixed), port.line_rate_bps)


def _at_once(streams: list[TranslatedStream]) -> list[TranslatedStream]:
    """Of streams that start each other, the one that takes most of the line."""
    by_id = {each.stream_id: each for each in streams}
    chosen = []
    started: set[int] = set()
    for each in streams:
        if not each.stream.self_start:
            continue
        chain: list[TranslatedStream] = []
        number = each.stream_id
        while number in by_id and number not in started:
            started.add(number)
            chain.append(by_id[number])
            number = by_id[number].stream.next_stream_id
        if chain:
            chosen.append(max(chain, key=lambda e: e.rate_pps * (e.made.mean_bytes + 24)))
    return chosen


def plans(
    streams: Mapping[int, TranslatedStream],
    port: TesterPort,
    factor: float,
    numbers: Mapping[int, int],
) -> dict[int, StreamPlan]:
    """What the engine sends, by stream id; `numbers` are the engine's own of the streams.

    Raises InputError for bursts and circles that cannot be timed.
    """
    rates = {number: scaled_pps(each, factor) for number, each in streams.items()}
    timed = timings({number: each.stream for number, each in streams.items()}, rates)
    return {
        number: _plan(streams[number], port, timing, numbers[number])
        for number, timing in timed.items()
    }


def scaled_pps(stream: TranslatedStream, factor: float) -> float:
    """Its rate at a factor: that of a latency stream is fixed."""
    return stream.rate_pps if stream.stream.timed else stream.rate_pps * factor


def _plan(each: TranslatedStream, port: TesterPort, timing: Timing, number: int) -> StreamPlan:
    made = each.made
    return StreamPlan(
        stream=number,
        name=f"port {port.port} stream {each.stream_id}",
        role="latency" if each.stream.timed else "load",
        tx_port=port.port,
        rx_port=port.rx_port,
        frames=made.frames,
        order=made.order,
        fields=made.fields,
        rate_pps=timing.rate_pps,
        pacing=timing.pacing,
        schedule=timing.schedule,
        frame_count=timing.frame_count,
        short_signature=made.short_signature,
    )


def parsed_mac(text: object) -> bytes:
    """The six bytes of an address such as 02:00:00:00:00:01. Raises InputError."""
    try:
        found = bytes.fromhex(str(text).replace(":", ""))
    except ValueError:
        found = b""
    if len(found) != len(_NO_MAC):
        raise InputError(f"{str(text)[:40]!r} is no MAC address", where="dst_mac")
    return found
