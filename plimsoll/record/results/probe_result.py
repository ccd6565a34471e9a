"""The result of `plimsoll probe`: the latency of one frame in flight, over hours.

Its JSON Schema is published as docs/schemas/probe-result.schema.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.trials.trial_record import Verdict

# The journal's event that a window of a probe ended: `window`.
PROBE_WINDOW = "probe-window"
_LOW = (
    "All samples, those across stalls of the tester less the most by which these can have delayed "
    "them: what the DUT took at least. Null where there are none of these, as the other figures "
    "are of all samples then, and in results of earlier versions."
)
_HIGH = "All samples as measured: what the DUT took at most. Null where `low` is."


class ProbeHistogram(RecordModel):
    """Latencies in ns; `buckets` are those of HdrHistogram(1, 2^37 - 1, 2 digits)."""

    samples: int
    sum_ns: int
    min_ns: int | None
    max_ns: int | None
    buckets: tuple[tuple[int, int], ...]


class ProbeEnd(RecordModel):
    """What a histogram comes to, in ns; nulls without a sample."""

    samples: int
    min_ns: int | None
    mean_ns: float | None
    median_ns: int | None
    max_ns: int | None
    p99_ns: int | None = None
    p99_9_ns: int | None = None
    p99_99_ns: int | None = None
    p99_999_ns: int | None = None


class ProbedStream(RecordModel):
    """One direction over one window, or over the whole run.

    A probe that did not come back in time `timed_out`, and is lost unless it still came.
    A stall of the tester may have delayed those `across_stalls`; the samples are the others.
    `sum_ns`, `min_ns` and `max_ns` are exact; `latency_us` has the samples by whole
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
    delayed_low: ProbeHistogram | None = Field(
        default=None,
        description="The samples that stalls of the tester may have delayed, less the most by "
        "which they can have been: the DUT took at least this. Null without any, and in results "
        "of earlier versions.",
    )
    delayed_high: ProbeHistogram | None = Field(
        default=None,
        description="The same samples as measured: the DUT took at most this. Null where "
        "`delayed_low` is.",
    )


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
    low: ProbeEnd | None = Field(default=None, description=_LOW)
    high: ProbeEnd | None = Field(default=None, description=_HIGH)

    @property
    def ends(self) -> tuple[ProbeEnd, ProbeEnd]:
        """What the DUT took at least and at most; quantiles beyond the median are not known."""
        exact = ProbeEnd(
            samples=self.samples,
            min_ns=self.min_ns,
            mean_ns=self.mean_ns,
            median_ns=self.median_ns,
            max_ns=self.max_ns,
        )
        return self.low or exact, self.high or exact


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
    low: ProbeEnd | None = Field(default=None, description=_LOW)
    high: ProbeEnd | None = Field(default=None, description=_HIGH)

    @property
    def ends(self) -> tuple[ProbeEnd, ProbeEnd]:
        """What the DUT took at least and at most."""
        exact = ProbeEnd(
            samples=self.stream.samples,
            min_ns=self.stream.min_ns,
            mean_ns=self.mean_ns,
            median_ns=self.median_ns,
            p99_ns=self.p99_ns,
            p99_9_ns=self.p99_9_ns,
            p99_99_ns=self.p99_99_ns,
            p99_999_ns=self.p99_999_ns,
            max_ns=self.stream.max_ns,
        )
        return self.low or exact, self.high or exact


@dataclass(frozen=True, slots=True)
class GreatestLatency:
    """Of the slowest directions: what median and longest are at least and at most, in ns."""

    median: tuple[int, int]
    longest: tuple[int, int]


def greatest(statistics: Sequence[ProbeStatistics]) -> GreatestLatency | None:
    """None where no probe came back."""
    medians, longest = [
        [(low, high) for low, high in each if low is not None and high is not None]
        for each in (
            [(low.median_ns, high.median_ns) for low, high in (s.ends for s in statistics)],
            [(low.max_ns, high.max_ns) for low, high in (s.ends for s in statistics)],
        )
    ]
    if not medians or not longest:
        return None
    return GreatestLatency(_greatest(medians), _greatest(longest))


def _greatest(found: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return max(low for low, _ in found), max(high for _, high in found)


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
        return (
            "none"
            if any(each.ends[1].median_ns is not None for each in self.statistics)
            else "fail"
        )
