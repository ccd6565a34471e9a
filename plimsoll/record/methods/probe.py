"""`plimsoll probe`: one frame in flight, for hours."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import RunAnswer, RunOutcome
from plimsoll.record.results.probe_result import ProbeResult
from plimsoll.record.run.run_directory import trial_period
from plimsoll.text.units import format_ns


def _outcome(result: ProbeResult) -> RunOutcome:
    medians = [each.median_ns for each in result.statistics if each.median_ns is not None]
    worst = [each.stream.max_ns for each in result.statistics if each.stream.max_ns is not None]
    longest = max(result.segments, key=lambda segment: segment.sending_s, default=None)
    period = None if longest is None else trial_period(longest.trial)
    complete = result.ended != "signal"
    if not medians or not worst:
        none = RunAnswer("no probe came back", "median latency", None, "ns")
        return RunOutcome(none, result.verdict, period, complete)
    text = f"median {format_ns(max(medians))}, worst {format_ns(max(worst))}"
    answer = RunAnswer(text, "median latency", float(max(medians)), "ns")
    return RunOutcome(answer, result.verdict, period, complete)


PROBE = Method(
    "probe", command="probe", result=ProbeResult, schema="probe-result", outcome=_outcome
)
