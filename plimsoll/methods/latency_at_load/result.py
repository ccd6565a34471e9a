"""The result of `plimsoll latency-at-load`: latency at shares of a rate.

Its JSON Schema is published as latency-at-load-result.schema.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import Method, RunAnswer, RunOutcome
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.latency_record import (
    LatencyEstimate,
    LatencyRecord,
    slowest_between,
    slowest_figure,
)
from plimsoll.record.trials.trial_record import Verdict, whole_verdict
from plimsoll.text.units import format_ns_between, format_pps
from plimsoll.traffic.plan import Role

# The journal's event that a point is known: `point`. A run tells it as it goes on.
POINT = "latency-at-load-point"
# Where the rate comes from: given, another run's load line, or a search of this run.
RateFrom = Literal["given", "run", "search"]


class StreamLatency(RecordModel):
    """One stream of a trial: its latency, and what it lost."""

    name: str = Field(description="The stream's name.")
    role: Role = Field(
        description="load, or latency for a probe stream that is only there to be timed."
    )
    sent: int = Field(description="Frames of the stream that the sending port accepted.")
    lost: int = Field(
        description="Frames of the stream that were sent and never came back, and, where the lab "
        "holds the DUT responsible for its queue, those refused."
    )
    latency: LatencyRecord = Field(
        description="One-way latency of received frames, from the stamp at sending to the stamp at "
        "receiving; without samples that a stall of the tester may have made longer."
    )
    across_stalls: int = Field(
        description="Samples that a stall of the tester may have delayed; not in `latency`, but in "
        "`latency_low` and `latency_high`."
    )
    latency_low: LatencyRecord | None = Field(
        default=None,
        description="The latency of all frames that came back, less the most that stalls of the "
        "tester can have delayed each: the DUT's is at least this. Null if no stall can have "
        "delayed a sample (then see `latency`), and in results of earlier versions.",
    )
    latency_high: LatencyRecord | None = Field(
        default=None,
        description="The latency of all frames that came back, as measured: the DUT's is at most "
        "this. Null where `latency_low` is.",
    )
    latency_estimate: LatencyEstimate | None = Field(
        default=None,
        description="One figure for each quantile between both, where one must stand, as in the "
        "trial's record; null where that has none, and in results of earlier versions.",
    )

    @property
    def latency_ends(self) -> tuple[LatencyRecord, LatencyRecord]:
        """What the DUT's latency is at least and at most, as far as the result has both."""
        return self.latency_low or self.latency, self.latency_high or self.latency


class LoadPoint(RecordModel):
    """One load, and what its trial measured."""

    percent: float = Field(
        description="The load, in per cent of the rate that is 100 %; 0 with the probes alone."
    )
    load_pps: float = Field(
        description="Load per direction, in frames per second, as it was requested of the tester; "
        "0 with the probes alone."
    )
    offered_pps: float | None = Field(
        default=None,
        description="The offered load, in pps per direction; null without load, and in results "
        "of earlier versions.",
    )
    trial: int = Field(description="The number of the trial in the run's journal.")
    sending_s: float = Field(
        description="How long frames were sent, in s; the drain afterwards is not counted."
    )
    streams: tuple[StreamLatency, ...] = Field(
        description="One entry for each stream of its trial."
    )
    verdict: Verdict = Field(
        description="Invalid if the tester disturbed the trial, so that the figures describe the "
        "tester rather than the DUT."
    )
    reason: str | None = Field(
        description="Why the trial is invalid, in words; null if it is valid."
    )


class LatencyAtLoadResult(MethodResult):
    """Latency at shares of a rate."""

    method: Literal["latency-at-load"] = Field(
        default="latency-at-load", description="What was run, by the name of its command."
    )
    media: str = Field(description="What carries the frames: the kind of lab and its ports.")
    rate_pps: float | None = Field(
        description="Load per direction that is 100 %, in frames per second; null where a search "
        "found none."
    )
    rate_from: RateFrom = Field(description="Where the rate of 100 % comes from.")
    reason: str | None = Field(
        description="Why a search found no rate, in words; null where there is one."
    )
    points: tuple[LoadPoint, ...] = Field(description="One entry for each load.")
    search_verdict: Verdict | None = Field(
        default=None,
        description="Why a search found no rate: fail for the DUT, invalid for the tester.",
    )

    @property
    def verdict(self) -> Verdict:
        """Fail where a search found no rate, invalid where the tester spoiled a point."""
        spoiled: Sequence[Verdict] = [p.verdict for p in self.points if p.verdict == "invalid"]
        return whole_verdict([self.search_verdict, *spoiled])


def _outcome(result: LatencyAtLoadResult) -> RunOutcome:
    valid = [point for point in result.points if point.verdict != "invalid"]
    heaviest = max(valid, key=lambda point: point.load_pps, default=None)
    probes = () if heaviest is None else _probes(heaviest)
    ends, p99_ns = slowest_between(probes, "p99_ns"), slowest_figure(probes, "p99_ns")
    if heaviest is None or ends is None or p99_ns is None:
        none = RunAnswer("no latency measured", "p99 latency", None, "ns")
        return RunOutcome(none, result.verdict)
    text = f"p99 {format_ns_between(*ends)} at {format_pps(heaviest.load_pps)}"
    answer = RunAnswer(text, "p99 latency", float(p99_ns), "ns")
    return RunOutcome(answer, result.verdict, trial_period(heaviest.trial))


def _probes(point: LoadPoint) -> Sequence[StreamLatency]:
    """Where there are any: they are what the method is about."""
    probes = [stream for stream in point.streams if stream.role == "latency"]
    return probes or point.streams


METHOD = Method(
    "latency-at-load",
    command="latency-at-load",
    result=LatencyAtLoadResult,
    schema="latency-at-load-result",
    outcome=_outcome,
)
