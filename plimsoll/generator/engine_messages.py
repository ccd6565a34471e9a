"""The engine protocol's messages (docs/engine-protocol.md) to and from our own types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from plimsoll.generator.interface import Interval, PortInfo, TrialPlan, TrialReport
from plimsoll.generator.settings import WorkerLayout
from plimsoll.traffic.plan import FieldWriter, StreamPlan

PROTOCOL = 1

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hello:
    """The engine's first line."""

    engine: str
    version: str
    protocol: int
    dpdk: str
    pid: int


HELLO = TypeAdapter(Hello)
INTERVAL = TypeAdapter(Interval)
PORTS = TypeAdapter(tuple[PortInfo, ...])
TRIAL_REPORT = TypeAdapter(TrialReport)


def open_request(
    *,
    huge: bool,
    megabytes: int,
    main_cpus: Sequence[int],
    workers: Sequence[WorkerLayout],
    devargs: Sequence[str],
    descriptors: int,
    link_wait_s: float,
    max_frame_bytes: int,
) -> dict[str, Any]:
    """What opens the ports; `max_frame_bytes` is without FCS."""
    return {
        "request": "open",
        "memory": {"huge": huge, "megabytes": megabytes},
        "main_cpus": list(main_cpus),
        "workers": [
            {
                "cpu": worker.cpu,
                "tx_ports": list(worker.tx_ports),
                "rx_ports": list(worker.rx_ports),
            }
            for worker in workers
        ],
        "ports": [{"devargs": device, "descriptors": descriptors} for device in devargs],
        "link_wait_s": link_wait_s,
        "max_frame_bytes": max_frame_bytes,
    }


def trial_request(plan: TrialPlan) -> dict[str, Any]:
    """What runs one trial."""
    return {
        "request": "trial",
        "mark": plan.mark,
        "duration_s": plan.duration_s,
        "drain_s": plan.drain_s,
        "interval_s": plan.interval_s,
        "catch_up_us": plan.catch_up_us,
        "stall_us": plan.stall_us,
        "streams": [_stream(stream) for stream in plan.streams],
    }


def _stream(stream: StreamPlan) -> dict[str, Any]:
    return {
        "stream": stream.stream,
        "role": stream.role,
        "tx_port": stream.tx_port,
        "rx_port": stream.rx_port,
        "frame": stream.frame.hex(),
        "rate_pps": stream.rate_pps,
        "fields": [_field(field) for field in stream.fields],
    }


def _field(field: FieldWriter) -> dict[str, Any]:
    return {
        "offset": field.offset,
        "width": field.width,
        "flows": field.flows,
        "step": field.step,
        "fixes": list(field.fixes),
    }
