"""`plimsoll latency-at-load`: latency at shares of a rate."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import RunAnswer, RunOutcome
from plimsoll.record.results.latency_at_load_result import (
    LatencyAtLoadResult,
    LoadPoint,
    StreamLatency,
)
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.slowest import slowest_between, slowest_figure
from plimsoll.text.units import format_ns_between, format_pps


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


LATENCY_AT_LOAD = Method(
    "latency-at-load",
    command="latency-at-load",
    result=LatencyAtLoadResult,
    schema="latency-at-load-result",
    outcome=_outcome,
)
