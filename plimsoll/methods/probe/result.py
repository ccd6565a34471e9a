"""The result of `plimsoll probe`: the latency of one frame in flight, over hours.

Its JSON Schema is published as probe-result.schema.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import Method, RunAnswer, RunOutcome
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.units import format_ns_between

# The journal's event that a window of a probe ended: `window`.
PROBE_WINDOW = "probe-window"
_LOW = (
    "All samples, those across stalls of the tester less the most by which these can have delayed "
    "them: what the DUT took at least. Null where there are none of these, as the other figures "
    "are of all samples then, and in results of earlier versions."
)
_HIGH = "All samples as measured: what the DUT took at most. Null where `low` is."


class ProbeHistogram(RecordModel):
    """Latencies in ns."""

    samples: int = Field(description="How many samples it has.")
    sum_ns: int = Field(description="Sum of these samples, in ns.")
    min_ns: int | None = Field(
        description="The least of these samples, in ns, exact; null without any."
    )
    max_ns: int | None = Field(
        description="The greatest of these samples, in ns, exact; null without any."
    )
    buckets: tuple[tuple[int, int], ...] = Field(
        description="The histogram as [index, samples], of HdrHistogram(1, 2^37 - 1, 2)."
    )


class ProbeEnd(RecordModel):
    """The figures of a histogram, in ns; null if there are no samples."""

    samples: int = Field(description="Samples that the figures are of.")
    min_ns: int | None = Field(
        description="Least latency, in ns, exact; null if there are no samples."
    )
    mean_ns: float | None = Field(
        description="Mean latency, in ns, exact; null if there are no samples."
    )
    median_ns: int | None = Field(
        description="Median latency, in ns; null if there are no samples."
    )
    max_ns: int | None = Field(
        description="Greatest latency, in ns, exact; null if there are no samples."
    )
    p99_ns: int | None = Field(
        default=None,
        description="99th percentile, in ns, at most 0.78 % high; null if there are no samples.",
    )
    p99_9_ns: int | None = Field(
        default=None,
        description="99.9th percentile, in ns, at most 0.78 % high; null if there are no samples.",
    )
    p99_99_ns: int | None = Field(
        default=None,
        description="99.99th percentile, in ns, at most 0.78 % high; null if there are no samples.",
    )
    p99_999_ns: int | None = Field(
        default=None,
        description="99.999th percentile, in ns, at most 0.78 % high; null if there are "
        "no samples.",
    )


class ProbedStream(RecordModel):
    """One direction over one window, or over the whole run."""

    name: str = Field(description="The direction's name.")
    sent: int = Field(description="Probes that the port accepted.")
    received: int = Field(description="Probes that came back, those after their time-out included.")
    timed_out: int = Field(
        description="Probes that did not come back in time; lost unless they still came."
    )
    across_stalls: int = Field(description="Samples that a stall of the tester may have delayed.")
    samples: int = Field(
        description="Latencies of probes that came back in time, without those that a stall of the "
        "tester may have delayed."
    )
    sum_ns: int = Field(description="Sum of all samples, in ns.")
    min_ns: int | None = Field(
        description="The least of `samples`, in ns, exact; null without any."
    )
    max_ns: int | None = Field(
        description="The greatest of `samples`, in ns, exact; null without any."
    )
    latency_us: tuple[tuple[int, int], ...] = Field(
        description="The samples by whole microseconds, as [microseconds, samples]; the last, "
        "1000, holds those of 1 ms and more."
    )
    buckets: tuple[tuple[int, int], ...] = Field(
        description="The histogram as [index, samples], of HdrHistogram(1, 2^37 - 1, 2)."
    )
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
    """What all streams showed in one window of a trial."""

    trial: int
    index: int
    begin_s: float
    end_s: float
    begin_unix_ns: int
    streams: tuple[ProbedStream, ...]


class ProbeLine(RecordModel):
    """One direction in one window, in ns; nulls without a sample."""

    trial: int = Field(description="The number of the trial that it lies in, in the run's journal.")
    begin_unix_ns: int = Field(description="When the window began: UTC, in ns since 1970.")
    length_s: float = Field(description="Length of the window, in s.")
    stream: str = Field(description="The direction's name.")
    sent: int = Field(description="Probes that the port accepted in the window.")
    timed_out: int = Field(
        description="Probes that did not come back in time; lost unless they still came."
    )
    samples: int = Field(description="Samples that the figures are of.")
    min_ns: int | None = Field(
        description="Least latency, in ns, exact; null if there are no samples."
    )
    median_ns: int | None = Field(
        description="Median latency, in ns; null if there are no samples."
    )
    mean_ns: float | None = Field(
        description="Mean latency, in ns, exact; null if there are no samples."
    )
    max_ns: int | None = Field(
        description="Greatest latency, in ns, exact; null if there are no samples."
    )
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

    stream: ProbedStream = Field(description="The direction's counts and samples.")
    lost: int = Field(description="Probes sent that never came back.")
    loss_ratio: float | None = Field(
        description="Those as a share of the probes sent (1 is all); null if no probe was sent."
    )
    mean_ns: float | None = Field(
        description="Mean latency, in ns, exact; null if there are no samples."
    )
    median_ns: int | None = Field(
        description="Median latency, in ns; null if there are no samples."
    )
    deviation_ns: float | None = Field(
        description="Standard deviation of the latency, in ns; null if there are no samples."
    )
    p99_ns: int | None = Field(
        description="99th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )
    p99_9_ns: int | None = Field(
        description="99.9th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )
    p99_99_ns: int | None = Field(
        description="99.99th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )
    p99_999_ns: int | None = Field(
        description="99.999th percentile, in ns, at most 0.78 % high; null if there are no samples."
    )
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
    """One trial of the run; there is one more for each time that it was resumed."""

    trial: int = Field(description="The number of the trial in the run's journal.")
    begin_unix_ns: int = Field(description="When its first frame was due: UTC, in ns since 1970.")
    sending_s: float = Field(
        description="How long probes were sent, in s; waiting for the last ones is not counted."
    )
    gap_s: float = Field(
        description="Time without traffic since the segment before ended, in s; 0 of the first, "
        "and where a clock set back before another boot leaves it unknown."
    )
    verdict: Verdict = Field(
        description="Invalid if the tester spoiled the trial; none if a kill cut it short."
    )
    reasons: tuple[str, ...] = Field(description="Why it is invalid, in words.")


class ProbeResult(MethodResult):
    """The latency of one frame in flight; a probe that waits for another is late by as long."""

    method: Literal["probe"] = Field(
        default="probe", description="What was run, by the name of its command."
    )
    media: str = Field(description="What carries the frames: the kind of lab and its ports.")
    rate_pps: float | None = Field(description="Probes per second that no direction exceeds.")
    timeout_us: float = Field(description="How long a probe is waited for, in µs.")
    requested_s: float = Field(description="The duration requested, in s.")
    probed_s: float = Field(description="How long was probed, in s.")
    ended: Literal["duration", "signal"] = Field(
        description="Why it ended: its duration was over, or a signal."
    )
    statistics: tuple[ProbeStatistics, ...] = Field(
        description="Each direction over the whole run."
    )
    windows: tuple[ProbeLine, ...] = Field(description="Each direction in each window.")
    segments: tuple[ProbeSegment, ...] = Field(
        description="The trials of the run; one more for each time that it was resumed."
    )

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


def _outcome(result: ProbeResult) -> RunOutcome:
    found = greatest(result.statistics)
    longest = max(result.segments, key=lambda segment: segment.sending_s, default=None)
    period = None if longest is None else trial_period(longest.trial)
    complete = result.ended != "signal"
    if found is None:
        none = RunAnswer("no probe came back", "median latency", None, "ns")
        return RunOutcome(none, result.verdict, period, complete)
    text = f"median {format_ns_between(*found.median)}, worst {format_ns_between(*found.longest)}"
    # Where one figure must stand: the DUT's latency is no more.
    answer = RunAnswer(text, "median latency", float(found.median[1]), "ns")
    return RunOutcome(answer, result.verdict, period, complete)


METHOD = Method(
    "probe", command="probe", result=ProbeResult, schema="probe-result", outcome=_outcome
)
