"""The windows of a probe, in the journal as they end: what a kill leaves of hours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from plimsoll.benchmark.trial_run.trial_overseer import StartingTrial, judged_as_it_ran
from plimsoll.generator.histogram import Histogram, HistogramSum
from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.generator.latency_ends import delayed_low
from plimsoll.host.processes.stop_request import StopRequest
from plimsoll.methods.probe.result import (
    PROBE_WINDOW,
    ProbedStream,
    ProbeHistogram,
    ProbeWindow,
)
from plimsoll.record.recorder import Recorder
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

_NS_PER_S = 1e9


@dataclass
class StreamSum:
    """What one stream has shown so far."""

    name: str
    sent: int = 0
    received: int = 0
    timed_out: int = 0
    across_stalls: int = 0
    latency: HistogramSum = field(default_factory=HistogramSum)
    delayed_low: HistogramSum = field(default_factory=HistogramSum)
    delayed_high: HistogramSum = field(default_factory=HistogramSum)
    microseconds: Counter[int] = field(default_factory=Counter)

    def add(self, counts: StreamCounts) -> None:
        """Account for an interval."""
        self.sent += counts.sent
        self.received += counts.received - counts.duplicate
        self.timed_out += counts.timed_out
        self.across_stalls += counts.latency_across_stalls.count
        self.latency.add(counts.latency)
        self.delayed_low.add(delayed_low(counts))
        self.delayed_high.add(counts.latency_across_stalls)
        for microseconds, samples in counts.latency_us:
            self.microseconds[microseconds] += samples

    @property
    def record(self) -> ProbedStream:
        """As the journal keeps it."""
        total = self.latency.total
        return ProbedStream(
            name=self.name,
            sent=self.sent,
            received=self.received,
            timed_out=self.timed_out,
            across_stalls=self.across_stalls,
            samples=total.count,
            sum_ns=total.sum_ns,
            min_ns=total.min_ns,
            max_ns=total.max_ns,
            latency_us=tuple(sorted(self.microseconds.items())),
            buckets=total.buckets,
            delayed_low=probe_histogram(self.delayed_low.total),
            delayed_high=probe_histogram(self.delayed_high.total),
        )


def probe_histogram(histogram: Histogram) -> ProbeHistogram | None:
    """As the journal keeps it; None without samples."""
    if not histogram.count:
        return None
    return ProbeHistogram(
        samples=histogram.count,
        sum_ns=histogram.sum_ns,
        min_ns=histogram.min_ns,
        max_ns=histogram.max_ns,
        buckets=histogram.buckets,
    )


class ProbeWindows:
    """The overseer of a probe's trial; a signal stops it in good order."""

    def __init__(self, recorder: Recorder, window_s: float, request: StopRequest) -> None:
        self._recorder = recorder
        self._window_s = window_s
        self._request = request
        self._number = 0
        self._index = 0
        self._names: dict[int, str] = {}
        self._begin_s = self._end_s = 0.0
        self._begin_unix_ns = 0
        self._sums: dict[int, StreamSum] = {}

    def begin(self, start: StartingTrial) -> None:
        """Begin the first window."""
        self._number = start.number
        self._names = {stream.stream: stream.name for stream in start.plan.streams}
        self._open(0.0)

    def interval(self, interval: Interval) -> bool:
        """Account for an interval; True when the probe is to end."""
        if not self._begin_unix_ns:
            length_ns = round((interval.end_s - self._begin_s) * _NS_PER_S)
            self._begin_unix_ns = interval.end_unix_ns - length_ns
        for counts in interval.streams:
            if counts.stream in self._sums:
                self._sums[counts.stream].add(counts)
        # What comes back in the drain belongs to the last window, which ended with sending.
        if interval.phase == "send":
            self._end_s = interval.end_s
            if self._end_s - self._begin_s >= self._window_s * (1 - 1e-6):
                self._close()
        return self._request.signal_name is not None

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """Close the last window; a probe that was stopped had no longer to run than it did."""
        self._close()
        stopped = self._request.signal_name is not None
        return judged_as_it_ran(outcome) if stopped else outcome, []

    def _open(self, begin_s: float) -> None:
        self._begin_s = self._end_s = begin_s
        self._begin_unix_ns = 0
        self._sums = {stream: StreamSum(name) for stream, name in self._names.items()}

    def _close(self) -> None:
        """Journal the window, unless nothing happened in it."""
        streams = tuple(each.record for each in self._sums.values())
        if any(stream.sent or stream.received for stream in streams):
            window = ProbeWindow(
                trial=self._number,
                index=self._index,
                begin_s=self._begin_s,
                end_s=self._end_s,
                begin_unix_ns=self._begin_unix_ns,
                streams=streams,
            )
            self._recorder.event(PROBE_WINDOW, window=window.model_dump(mode="json"))
            self._index += 1
        self._open(self._end_s)
