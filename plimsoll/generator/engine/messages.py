"""The engine protocol's messages (docs/engine-protocol.md) to and from our own types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from pydantic import TypeAdapter

from plimsoll.generator.engine.hosts import NO_HOSTS, Hosts
from plimsoll.generator.interface import (
    CaptureCounts,
    CapturePlan,
    Interval,
    LossLimit,
    PortInfo,
    ResolvedAddress,
    Stamps,
    StreamBegin,
    StreamCourse,
    StreamsBegun,
    TrialPlan,
    TrialReport,
    WorkerLayout,
)
from plimsoll.traffic.frames.addresses import IpAddress
from plimsoll.traffic.plan import FieldWriter, Pacing, Schedule, StreamPlan

PROTOCOL = 8
# A router that boots, or a link that has just come up, may miss the first ones.
RESOLVE_TRIES = 5
RESOLVE_WAIT_S = 1.0
# As many as the engine has room for; the process that watches the trial has all.
_LOSS_LIMITS = 64

EngineMessage = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hello:
    """The engine's first line."""

    engine: str
    version: str
    protocol: int
    dpdk: str
    pid: int


class _Kind(msgspec.Struct):
    event: str | None = None


HELLO = TypeAdapter(Hello)
PORTS = TypeAdapter(tuple[PortInfo, ...])
RESOLVED = TypeAdapter(tuple[ResolvedAddress, ...])
TRIAL_REPORT = TypeAdapter(TrialReport)
CAPTURE_COUNTS = TypeAdapter(CaptureCounts)
# Intervals come while loops poll, perhaps on this very CPU, and have thousands of buckets:
# straight from JSON to what they are takes a third of the time that going by way of
# dictionaries does (benchmarks/record/interval_cost.py).
_KIND = msgspec.json.Decoder(_Kind)
_INTERVAL = msgspec.json.Decoder(Interval)
_OTHER = msgspec.json.Decoder(dict[str, Any])


def read_message(line: bytes) -> Interval | dict[str, Any]:
    """What a line of the engine says: an interval, or any other message as it is.

    Raises ValueError, saying what is wrong with it.
    """
    try:
        if _KIND.decode(line).event == "interval":
            return _INTERVAL.decode(line)
        return _OTHER.decode(line)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error


def open_request(
    *,
    huge: bool,
    megabytes: int,
    main_cpus: Sequence[int],
    workers: Sequence[WorkerLayout],
    devargs: Sequence[str],
    stamps: Stamps,
    descriptors: int,
    link_wait_s: float,
    max_frame_bytes: int,
    hosts: Hosts = NO_HOSTS,
) -> dict[str, Any]:
    """What opens the ports; `max_frame_bytes` is without FCS."""
    return {
        "request": "open",
        "memory": {"huge": huge, "megabytes": megabytes},
        "main_cpus": list(main_cpus),
        "workers": [
            {
                "cpu": worker.cpu,
                "tx": [list(queue) for queue in worker.tx],
                "rx": [list(queue) for queue in worker.rx],
            }
            for worker in workers
        ],
        "ports": [
            {
                "devargs": device,
                "descriptors": descriptors,
                "stamps": stamps,
                **hosts.request_of(port),
            }
            for port, device in enumerate(devargs)
        ],
        "link_wait_s": link_wait_s,
        "max_frame_bytes": max_frame_bytes,
    }


def trial_request(plan: TrialPlan, stamps: Stamps = "tsc") -> dict[str, Any]:
    """What runs one trial, on ports that were opened with these stamps."""
    return {
        "request": "trial",
        "mark": plan.mark,
        "duration_s": plan.duration_s,
        "drain_s": plan.drain_s,
        "interval_s": plan.interval_s,
        "catch_up_us": plan.catch_up_us,
        "stall_us": plan.stall_us,
        "gap_us": plan.gap_us,
        "longest": plan.longest,
        "worst": plan.worst,
        "check": plan.check,
        **({} if plan.spike_us is None else {"spike_us": plan.spike_us}),
        "cpu_time_of": list(plan.cpu_time_of),
        "hold_s": plan.hold_s,
        "loss_limits": [_loss_limit(limit) for limit in plan.loss_limits[:_LOSS_LIMITS]],
        "captures": [_capture(capture) for capture in plan.captures],
        **({} if plan.begin_delay_s is None else {"begin_delay_s": plan.begin_delay_s}),
        "report_ends": plan.report_ends,
        "end_with_streams": plan.end_with_streams,
        "streams": [_stream(stream, stamps) for stream in plan.streams],
    }


def resolve_request(next_hops: Sequence[tuple[int, IpAddress]]) -> dict[str, Any]:
    """What asks for the MAC addresses of (port, address)."""
    neighbours = [{"port": port, "address": str(address)} for port, address in next_hops]
    return {
        "request": "resolve",
        "tries": RESOLVE_TRIES,
        "wait_s": RESOLVE_WAIT_S,
        "neighbours": neighbours,
    }


def rates_request(rates_pps: Mapping[int, float], ends_s: Mapping[int, float]) -> dict[str, Any]:
    """What gives streams, by number, new rates while the trial runs, and perhaps another end."""
    streams = [
        {"stream": stream, "rate_pps": rate, **_duration(ends_s.get(stream))}
        for stream, rate in rates_pps.items()
    ]
    return {"request": "rates", "streams": streams}


def begin_request(begins: Mapping[int, StreamBegin]) -> dict[str, Any]:
    """What lets streams, by number, begin while the trial runs."""
    streams = [
        {
            "stream": stream,
            "rate_pps": begin.rate_pps,
            "begin": True,
            **_duration(begin.duration_s),
        }
        for stream, begin in begins.items()
    ]
    return {"request": "rates", "streams": streams}


def read_begun(reply: EngineMessage) -> StreamsBegun:
    """When the parts began that a request let begin, and their trial."""
    return StreamsBegun(int(reply["begin_unix_ns"]), _courses(reply, "begun"))


def read_ended(event: EngineMessage) -> tuple[StreamCourse, ...]:
    """The parts that have ended."""
    return _courses(event, "streams")


def _courses(message: EngineMessage, name: str) -> tuple[StreamCourse, ...]:
    origin_ns = int(message["begin_unix_ns"])

    def unix_ns(at_s: float | None) -> int | None:
        return None if at_s is None else origin_ns + round(at_s * 1e9)

    return tuple(
        StreamCourse(each["stream"], unix_ns(each["begin_s"]) or 0, unix_ns(each["end_s"]))
        for each in message[name]
    )


def _duration(duration_s: float | None) -> dict[str, float]:
    return {} if duration_s is None else {"duration_s": duration_s}


def capture_request(port: int, *, on: bool, path: str | None) -> dict[str, Any]:
    """What switches the capture of a port while the trial runs."""
    request = {"request": "capture", "port": port, "on": on}
    return request if path is None else {**request, "path": path}


def link_request(port: int, *, up: bool) -> dict[str, Any]:
    """What takes the link of a port down or brings it up."""
    return {"request": "link", "port": port, "up": up}


def _capture(capture: CapturePlan) -> dict[str, Any]:
    snapped = {} if capture.snap_bytes is None else {"snap_bytes": capture.snap_bytes}
    return {
        "port": capture.port,
        "path": capture.path,
        "most_frames": capture.most_frames,
        "on": capture.on,
        **snapped,
    }


def _loss_limit(limit: LossLimit) -> dict[str, Any]:
    return {
        "frames": limit.frames,
        "streams": list(limit.streams),
        "refused": limit.refused,
    }


def _stream(stream: StreamPlan, stamps: Stamps) -> dict[str, Any]:
    by_ports = stamps == "timesync" and stream.role == "latency"
    optional = {
        "rate_pps": stream.rate_pps,
        "order": list(stream.order) or None,
        "frame_count": stream.frame_count,
        "duration_s": stream.duration_s,
        "schedule": None if stream.schedule.always else _schedule(stream.schedule),
        "signature": "short" if stream.short_signature else None,
        "flows": _counted_flows(stream),
        "stamps": "timesync" if by_ports else None,
    }
    return {
        "stream": stream.stream,
        "role": stream.role,
        "tx_port": stream.tx_port,
        "tx_queue": stream.tx_queue,
        "rx_port": stream.rx_port,
        "frames": [frame.hex() for frame in stream.frames],
        "pacing": _pacing(stream.pacing),
        "fields": [_field(field) for field in stream.fields],
        **{name: value for name, value in optional.items() if value is not None},
    }


def _counted_flows(stream: StreamPlan) -> dict[str, int] | None:
    if stream.counted_flows == 0:
        return None
    return {"count": stream.counted_flows, "first": stream.first_flow}


def _schedule(schedule: Schedule) -> dict[str, Any]:
    optional = {"duration_s": schedule.duration_s, "pause_s": schedule.pause_s}
    given = {name: value for name, value in optional.items() if value is not None}
    return {"start_s": schedule.start_s, **given}


def _pacing(pacing: Pacing) -> dict[str, Any]:
    if pacing.kind == "burst":
        return {"kind": "burst", "frames": pacing.burst_frames}
    if pacing.kind == "poisson":
        return {"kind": "poisson", "seed": pacing.seed}
    if pacing.gaps is not None:
        return {"kind": "captured", "gaps_ns": list(pacing.gaps.gaps_ns)}
    if pacing.kind == "one-in-flight":
        return {"kind": "one-in-flight", "timeout_us": pacing.timeout_us}
    return {"kind": pacing.kind}


def _field(field: FieldWriter) -> dict[str, Any]:
    written: dict[str, Any] = {
        "offset": field.offset,
        "width": field.width,
        "kind": field.kind,
        "count": field.count,
        "step": field.step,
        "first": field.first,
        "fixes": list(field.fixes),
    }
    if field.every > 1:
        written["every"] = field.every
    if field.kind == "list":
        written["values"] = list(field.values)
    if field.kind == "random":
        written["seed"] = field.seed
    if field.churn:
        written |= {"churn": field.churn, "cycle": field.cycle}
    if field.mask is not None:
        written["mask"] = f"{field.mask:0{2 * field.width}x}"
    return written
