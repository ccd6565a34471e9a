"""`plimsoll run`: the search for the load line."""

from __future__ import annotations

from plimsoll.record.methods.method import (
    PER_DIRECTION,
    Method,
    RunAnswer,
    RunOutcome,
    intended_text,
    rate_text,
)
from plimsoll.record.results.result import Result
from plimsoll.record.run.run_directory import trial_period


def _outcome(result: Result) -> RunOutcome:
    line, proof = result.load_line, result.validation
    period = None if proof is None else trial_period(proof.trial)
    if line is None:
        text = "no load line" + (": could not test" if result.verdict == "invalid" else "")
        none = RunAnswer(text, "load line", None, PER_DIRECTION)
        return RunOutcome(none, result.verdict, period)
    load_pps = line.pps_per_direction
    text = rate_text(load_pps) + intended_text(load_pps, line.intended_pps)
    found = RunAnswer(text, "load line", load_pps, PER_DIRECTION)
    return RunOutcome(found, "pass", period)


METHOD = Method(
    "load-line", command="run", result=Result, schema="result", outcome=_outcome, by_criteria=True
)
