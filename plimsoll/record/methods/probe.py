"""`plimsoll probe`: one frame in flight, for hours."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import RunAnswer, RunOutcome
from plimsoll.record.results.probe_result import ProbeResult, greatest
from plimsoll.record.run.run_directory import trial_period
from plimsoll.text.units import format_ns_between


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


PROBE = Method(
    "probe", command="probe", result=ProbeResult, schema="probe-result", outcome=_outcome
)
