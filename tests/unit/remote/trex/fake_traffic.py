"""Live traffic that sends nothing: what was requested of it, and counters that a test sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.benchmark.live_traffic.live_book import EarlierFrames
from plimsoll.benchmark.live_traffic.live_captures import CapturedPort, PortCapture, ReceivedFrame
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LivePort, LiveStream
from plimsoll.errors import InputError, PlimsollError
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import NO_ENDS, PortInfo, StreamCounts, StreamCourse
from plimsoll.traffic.plan import StreamPlan

NOTHING = StreamCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Histogram(), Histogram(), Histogram())


def port_info(port: int) -> PortInfo:
    return PortInfo(
        port=port, devargs=f"net_ring{port}", driver="net_ring", mac=f"02:00:00:00:00:0{port + 1}",
        link_up=True, link_mbps=None, numa_node=None, rx_queues=1, tx_queues=1, rss=False,
        rx_stamps=False, tx_stamps=False, latency_clock="tsc",
    )  # fmt: skip


@dataclass(frozen=True)
class FakeCapture(CapturedPort):
    """Frames that a test names, and no file has."""

    frames_known: Sequence[ReceivedFrame] = ()

    def frames(self) -> Iterator[ReceivedFrame]:
        return iter(self.frames_known)


class FakeTraffic:
    def __init__(self, ports: int = 2) -> None:
        self.ports = tuple(port_info(port) for port in range(ports))
        self.paths = tuple((port, ports - 1 - port) for port in range(ports))
        self.line_rate_bps: float | None = None
        self.failure: PlimsollError | None = None
        self.known: dict[int, StreamPlan] = {}
        self.started: set[int] = set()
        self.counted: dict[int, StreamCounts] = {}
        self.calls: list[tuple[str, object]] = []
        self.courses: dict[int, StreamCourse] = {}
        self.on_end: Callable[[], None] = lambda: None
        self.earlier = EarlierFrames()
        self.captures: dict[int, PortCapture] = {}
        self.captured_frames: dict[int, Sequence[ReceivedFrame]] = {}

    @property
    def sending(self) -> frozenset[int]:
        return frozenset(self.started)

    def notify_ends(self, on_end: Callable[[], None]) -> None:
        self.on_end = on_end

    def end(self, *numbers: int) -> None:
        """The engine ends streams, a second after they began or when they were to."""
        for number in numbers:
            begun = self.courses[number]
            end_unix_ns = begun.end_unix_ns or begun.begin_unix_ns + 10**9
            self.courses[number] = replace(begun, end_unix_ns=end_unix_ns)
            self.started.discard(number)
        self.on_end()

    def add(self, streams: Iterable[StreamPlan]) -> None:
        for plan in streams:
            if plan.stream in self.known:
                raise InputError(f"{plan.stream} is taken")
            self.known[plan.stream] = plan

    def remove(self, streams: Iterable[int] | None = None) -> None:
        for number in list(self.known if streams is None else streams):
            self.earlier.take(self.counts().stream(number))
            self.started.discard(number)
            del self.known[number]

    def start(
        self, streams: Iterable[int] | None = None, durations_s: Mapping[int, float] = NO_ENDS
    ) -> None:
        numbers = sorted(self.known if streams is None else streams)
        self.calls.append(("start", tuple(numbers)))
        self.started |= set(numbers)
        begin_unix_ns = time.time_ns()
        for number in numbers:
            length_s = durations_s.get(number)
            end_unix_ns = None if length_s is None else begin_unix_ns + round(length_s * 1e9)
            self.courses[number] = StreamCourse(number, begin_unix_ns, end_unix_ns)

    def stop(self, streams: Iterable[int] | None = None) -> None:
        numbers = sorted(self.known if streams is None else streams)
        self.calls.append(("stop", tuple(numbers)))
        self.started -= set(numbers)

    def set_rates(self, rates_pps: Mapping[int, float]) -> None:
        for number, rate_pps in rates_pps.items():
            self.known[number] = replace(self.known[number], rate_pps=rate_pps)

    def prepare_captures(self, ports: Mapping[int, PortCapture]) -> None:
        self.captures = dict(ports)

    def start_capture(self, port: int) -> None:
        self.calls.append(("start_capture", port))
        self.captured_frames[port] = ()

    def stop_capture(self, port: int) -> None:
        self.calls.append(("stop_capture", port))

    def captured(self, port: int) -> CapturedPort:
        return FakeCapture((), 100_000, frames_known=self.captured_frames[port])

    def counts(self, *, fresh: bool = False) -> LiveCounts:
        streams = tuple(
            LiveStream(
                plan.stream, plan.name, plan.tx_port, plan.rx_port,
                "sending" if plan.stream in self.started else "stopped",
                plan.rate_pps, self.counted.get(plan.stream, NOTHING), plan.mean_frame_size,
            )
            for plan in self.known.values()
        )  # fmt: skip
        ports = tuple(
            LivePort(
                port=info.port, link_up=True,
                tx_frames=sum(s.counts.sent for s in streams if s.tx_port == info.port)
                + self.earlier.sent[info.port],
                tx_bytes=sum(s.sent_bytes for s in streams if s.tx_port == info.port)
                + self.earlier.sent_bytes[info.port],
                rx_frames=sum(s.counts.received for s in streams if s.rx_port == info.port)
                + self.earlier.received[info.port],
                rx_bytes=sum(s.received_bytes for s in streams if s.rx_port == info.port)
                + self.earlier.received_bytes[info.port],
                tx_pps=0.0, rx_pps=0.0, tx_bps=0.0, rx_bps=0.0, counts=None,
            )
            for info in self.ports
        )  # fmt: skip
        return LiveCounts(0, 0.0, 0.5, bool(self.started), streams, ports)
