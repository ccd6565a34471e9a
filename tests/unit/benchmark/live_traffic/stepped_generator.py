"""A live generator whose intervals end when a test says so, and that loses what it says.

A mock, on purpose: what is tested is what is made of intervals, and when trials begin and end;
the real engine's are in tests/integration/test_live_traffic.py.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from plimsoll.benchmark.live_traffic.live_book import no_counts
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import (
    NO_ENDS,
    CaptureCounts,
    EndedBy,
    GeneratorFacts,
    GeneratorRefused,
    Interval,
    PortCounts,
    PortInfo,
    StreamBegin,
    StreamCourse,
    StreamsBegun,
    TrialPlan,
    TrialReport,
)

BEGIN_UNIX_NS = 1_000_000_000_000
LATENCY_NS = 100


@dataclass
class SteppedLinks:
    """Of the ports, as they are, and as they were `set` by request: (port, up, in a trial)."""

    up: dict[int, bool] = field(default_factory=lambda: {0: True, 1: True})
    set: list[tuple[int, bool, bool]] = field(default_factory=list)
    refusal: GeneratorRefused | None = None

    def take(self, port: int, *, up: bool, in_trial: bool) -> bool:
        if self.refusal is not None:
            raise self.refusal
        self.set.append((port, up, in_trial))
        self.up[port] = up
        return up


@dataclass
class SteppedTrial:
    """Sends by its rates in each interval of a second, and ends streams at an interval's end.

    Of captures it makes the files, empty; `captured` are the counts that it tells of each.
    """

    plan: TrialPlan
    refusal: GeneratorRefused | None = None
    lost: dict[int, int] = field(default_factory=dict)
    rates: dict[int, float] = field(default_factory=dict)
    changes: list[dict[int, float]] = field(default_factory=list)
    begins: list[dict[int, StreamBegin]] = field(default_factory=list)
    ends_s: list[dict[int, float]] = field(default_factory=list)
    switches: list[tuple[int, bool, str | None]] = field(default_factory=list)
    captured: dict[int, CaptureCounts] = field(default_factory=dict)
    links: SteppedLinks = field(default_factory=SteppedLinks)

    def __post_init__(self) -> None:
        for capture in self.plan.captures:
            Path(capture.path).touch(exist_ok=False)
        self.rates = {each.stream: each.rate_pps or 0.0 for each in self.plan.streams}
        self._counts = {each.stream: each.frame_count for each in self.plan.streams}
        self._left = dict(self._counts)
        # By stream, the intervals at which it began and is to end.
        self._courses: dict[int, tuple[int, float | None]] = {
            each.stream: (0, each.duration_s) for each in self.plan.streams
        }
        self._steps: queue.Queue[str] = queue.Queue()
        self._index = 0
        self.over = threading.Event()

    def follow(
        self,
        watch: Callable[[Interval], bool],
        ended: Callable[[tuple[StreamCourse, ...]], None] = lambda _: None,
    ) -> TrialReport:
        ended_by: EndedBy = "stop"
        if self.refusal is not None:
            self.over.set()
            raise self.refusal
        while (step := self._steps.get(timeout=60)) == "interval":
            stop = watch(self._interval())
            over = self._over()
            if over and self.plan.report_ends:
                ended(over)
            self._steps.task_done()
            if stop:
                break
            if over and self.plan.end_with_streams and not any(self.rates.values()):
                ended_by = "streams"
                break
        else:
            self._steps.task_done()
            ended_by = "duration" if step == "duration" else "stop"
        watch(self._drain())
        self.over.set()
        return TrialReport(
            ended_by,
            float(self._index),
            BEGIN_UNIX_NS,
            (),
            (),
            (),
            captures=tuple(self._captured(each.port) for each in self.plan.captures),
        )

    def change_rates(
        self, rates_pps: Mapping[int, float], ends_s: Mapping[int, float] = NO_ENDS
    ) -> None:
        if self.over.is_set() or self.refusal is not None:
            raise GeneratorRefused("the trial has ended")
        self.changes.append(dict(rates_pps))
        self.ends_s.append(dict(ends_s))
        self.rates |= rates_pps
        for stream, end_s in ends_s.items():
            self._courses[stream] = (self._courses[stream][0], self._index + end_s)

    def begin_streams(self, begins: Mapping[int, StreamBegin]) -> StreamsBegun:
        if self.over.is_set() or self.refusal is not None:
            raise GeneratorRefused("the trial has ended")
        self.begins.append(dict(begins))
        for stream, begin in begins.items():
            self.rates[stream] = begin.rate_pps
            self._left[stream] = self._counts[stream]
            end_s = None if begin.duration_s is None else self._index + begin.duration_s
            self._courses[stream] = (self._index, end_s)
        return StreamsBegun(BEGIN_UNIX_NS, tuple(map(self._course, begins)))

    def _course(self, stream: int) -> StreamCourse:
        begin_s, end_s = self._courses[stream]
        return StreamCourse(
            stream,
            BEGIN_UNIX_NS + begin_s * 10**9,
            None if end_s is None else BEGIN_UNIX_NS + round(end_s * 1e9),
        )

    def _over(self) -> tuple[StreamCourse, ...]:
        """Those that have ended with the last interval, and send nothing more."""
        over = [
            stream
            for stream, rate in self.rates.items()
            if (rate and self._left[stream] == 0)
            or (self._courses[stream][1] or self._index + 1) <= self._index
        ]
        for stream in over:
            self._courses[stream] = (self._courses[stream][0], float(self._index))
        found = tuple(map(self._course, over))
        for stream in over:
            self.rates[stream] = 0.0
            self._courses[stream] = (self._courses[stream][0], None)
        return found

    def switch_capture(self, port: int, *, on: bool, path: str | None = None) -> CaptureCounts:
        if self.over.is_set() or self.refusal is not None:
            raise GeneratorRefused("the trial has ended")
        if path is not None:
            Path(path).touch(exist_ok=False)
            self.captured.pop(port, None)
        self.switches.append((port, on, path))
        return self._captured(port)

    def set_link(self, port: int, *, up: bool) -> bool:
        if self.over.is_set():
            raise GeneratorRefused("the trial has ended")
        return self.links.take(port, up=up, in_trial=True)

    def _captured(self, port: int) -> CaptureCounts:
        return self.captured.get(port, CaptureCounts(port, 0, 0))

    def stop(self) -> None:
        self._steps.put("stop")

    def step(self) -> None:
        """End an interval, and return when it has been seen."""
        self._steps.put("interval")
        self._steps.join()

    def last(self) -> None:
        """End it by its duration."""
        self._steps.put("duration")

    def _interval(self) -> Interval:
        streams = []
        for number, rate_pps in self.rates.items():
            left = self._left[number]
            sent = int(rate_pps) if left is None else min(left, int(rate_pps))
            if left is not None:
                self._left[number] = left - sent
            lost = self.lost.pop(number, 0)
            times = (sent * LATENCY_NS, LATENCY_NS, LATENCY_NS)
            latency = Histogram(sent, *times, ((LATENCY_NS, sent),))
            streams.append(
                replace(
                    no_counts(number),
                    sent=sent,
                    received=sent - lost,
                    missing=lost,
                    latency=latency if sent else Histogram(),
                )
            )
        begin = self._index
        self._index += 1
        port = PortCounts(0, 3, {"arp": 3}, 1, 0, 0, 0, 5, self.links.up[0])
        end_unix_ns = BEGIN_UNIX_NS + self._index * 10**9
        return Interval(begin, "send", begin, begin + 1, end_unix_ns, tuple(streams), (port,), ())

    def _drain(self) -> Interval:
        end_unix_ns = BEGIN_UNIX_NS + self._index * 10**9 + 10**8
        begin = self._index
        return Interval(begin, "drain", begin, begin + 0.1, end_unix_ns, (), (), ())


@dataclass
class SteppedGenerator:
    """Two ports; its `trials` as they were begun, the next one refused by `refusal`."""

    trials: list[SteppedTrial] = field(default_factory=list)
    refusal: GeneratorRefused | None = None
    links: SteppedLinks = field(default_factory=SteppedLinks)

    @property
    def facts(self) -> GeneratorFacts:
        return GeneratorFacts("stepped", "0")

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        return tuple(_port(number) for number in range(2))

    def begin(self, plan: TrialPlan) -> SteppedTrial:
        self.trials.append(SteppedTrial(plan, self.refusal, links=self.links))
        self.refusal = None
        return self.trials[-1]

    def set_link(self, port: int, *, up: bool) -> bool:
        return self.links.take(port, up=up, in_trial=False)

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        return self.begin(plan).follow(watch)

    def close(self) -> None:
        """Nothing to end."""


def _port(number: int) -> PortInfo:
    return PortInfo(
        port=number,
        devargs=f"p{number}",
        driver="none",
        mac=f"02:00:00:00:00:0{number}",
        link_up=True,
        link_mbps=None,
        numa_node=None,
        rx_queues=1,
        tx_queues=1,
        rss=False,
        rx_stamps=False,
        tx_stamps=False,
        latency_clock="tsc",
    )
