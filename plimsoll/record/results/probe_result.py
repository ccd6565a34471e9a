"""The result of `plimsoll probe`: the latency of one frame in flight, over hours.

Its JSON Schema is published as docs/schemas/probe-result.schema.json.
"""

from __future__ import annotations

from typing import Literal

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.trials.trial_record import Verdict

# The journal's event that a window of a probe ended: `window`.
PROBE_WINDOW = "probe-window"


class ProbedStream(RecordModel):
    """One direction over one window, or over the whole run.

    A probe that did not come back in time `timed_out`, and is lost unless it still came.
    `across_stalls` came back while a stall of the tester touched them, and are in no other
    figure. `sum_ns`, `min_ns` and `max_ns` are exact; `latency_us` has the samples by whole
    microseconds, as [microseconds, samples], the last, 1000, from a millisecond on;
    `buckets` are those of HdrHistogram(1, 2^37 - 1, 2 digits), as [index, samples].
    """

    name: str
    sent: int
    received: int
    timed_out: int
    across_stalls: int
    samples: int
    sum_ns: int
    min_ns: int | None
    max_ns: int | None
    latency_us: tuple[tuple[int, int], ...]
    buckets: tuple[tuple[int, int], ...]


class ProbeWindow(RecordModel):
    """What all streams showed from `begin_s` to `end_s` of a trial; times in s."""

    trial: int
    index: int
    begin_s: float
    end_s: float
    begin_unix_ns: int
    streams: tuple[ProbedStream, ...]


class ProbeLine(RecordModel):
    """One direction in one window, in ns; nulls without a sample."""

    trial: int
    begin_unix_ns: int
    length_s: float
    stream: str
    sent: int
    timed_out: int
    samples: int
    min_ns: int | None
    median_ns: int | None
    mean_ns: float | None
    max_ns: int | None


class ProbeStatistics(RecordModel):
    """One direction over the whole run, in ns.

    Least, mean and greatest are exact; median and quantiles are at most 0.78 % high, the
    standard deviation is that of the middles of buckets 0.78 % wide.
    """

    stream: ProbedStream
    lost: int
    loss_ratio: float | None
    mean_ns: float | None
    median_ns: int | None
    deviation_ns: float | None
    p99_ns: int | None
    p99_9_ns: int | None
    p99_99_ns: int | None
    p99_999_ns: int | None


class ProbeSegment(RecordModel):
    """One trial of the run; there is one more for each time that it was resumed.

    `gap_s` is the time since the last one ended, in which nothing was probed. The verdict is
    the tester's: "none" of a trial that a kill cut short.
    """

    trial: int
    begin_unix_ns: int
    sending_s: float
    gap_s: float
    verdict: Verdict
    reasons: tuple[str, ...]


class ProbeResult(MethodResult):
    """`rate_pps` is what no direction exceeds; it waits longer where a probe does."""

    method: Literal["probe"] = "probe"
    media: str
    rate_pps: float | None
    timeout_us: float
    requested_s: float
    probed_s: float
    ended: Literal["duration", "signal"]
    statistics: tuple[ProbeStatistics, ...]
    windows: tuple[ProbeLine, ...]
    segments: tuple[ProbeSegment, ...]

    @property
    def verdict(self) -> Verdict:
        """Invalid where the tester spoiled a trial; fail where no probe came back; else "none"."""
        if any(segment.verdict == "invalid" for segment in self.segments):
            return "invalid"
        return "none" if any(each.median_ns is not None for each in self.statistics) else "fail"
