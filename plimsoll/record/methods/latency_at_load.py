"""`plimsoll latency-at-load`: latency at shares of a rate."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import RunAnswer, RunOutcome
from plimsoll.record.results.latency_at_load_result import LatencyAtLoadResult, LoadPoint
from plimsoll.record.run.run_directory import trial_period
from plimsoll.text.units import format_ns, format_pps


def _outcome(result: LatencyAtLoadResult) -> RunOutcome:
    valid = [point for point in result.points if point.verdict != "invalid"]
    heaviest = max(valid, key=lambda point: point.load_pps, default=None)
    p99_ns = None if heaviest is None else _worst_p99_ns(heaviest)
    if heaviest is None or p99_ns is None:
        none = RunAnswer("no latency measured", "p99 latency", None, "ns")
        return RunOutcome(none, result.verdict)
    text = f"p99 {format_ns(p99_ns)} at {format_pps(heaviest.load_pps)}"
    answer = RunAnswer(text, "p99 latency", float(p99_ns), "ns")
    return RunOutcome(answer, result.verdict, trial_period(heaviest.trial))


def _worst_p99_ns(point: LoadPoint) -> int | None:
    """Of the probes, where there are any: they are what the method is about."""
    probes = [stream for stream in point.streams if stream.role == "latency"]
    known = [stream.latency.p99_ns for stream in probes or point.streams]
    return max((each for each in known if each is not None), default=None)


LATENCY_AT_LOAD = Method(
    "latency-at-load",
    command="latency-at-load",
    result=LatencyAtLoadResult,
    schema="latency-at-load-result",
    outcome=_outcome,
)
