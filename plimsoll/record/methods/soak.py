"""`plimsoll soak`: hours at one load."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import (
    PER_DIRECTION,
    RunAnswer,
    RunOutcome,
    intended_text,
)
from plimsoll.record.results.soak_result import SoakResult
from plimsoll.record.run.run_directory import trial_period
from plimsoll.text.units import format_duration, format_pps


def _outcome(result: SoakResult) -> RunOutcome:
    intended_pps = result.load_pps
    load_pps = intended_pps if result.offered_pps is None else result.offered_pps
    at = f"{format_pps(load_pps)}{intended_text(load_pps, intended_pps)}"
    text = f"{result.verdict} at {at} for {format_duration(result.sent_s)}"
    answer = RunAnswer(text, "load", load_pps, PER_DIRECTION)
    longest = max(result.segments, key=lambda segment: segment.sending_s, default=None)
    period = None if longest is None else trial_period(longest.trial)
    return RunOutcome(answer, result.verdict, period, complete=result.ended != "signal")


SOAK = Method("soak", command="soak", result=SoakResult, schema="soak-result", outcome=_outcome)
