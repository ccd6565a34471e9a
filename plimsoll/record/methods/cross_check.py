"""`plimsoll cross-check`: several generators held against each other."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import RunAnswer, RunOutcome
from plimsoll.record.results.cross_check_result import CrossCheckResult


def _outcome(result: CrossCheckResult) -> RunOutcome:
    differing = [each for each in result.figures if each.differs]
    text = ", ".join(f"{each.name} ({each.stage})" for each in differing)
    # That ranges overlap is no proof that generators do not differ.
    none = "the ranges of all figures overlap" if result.figures else "no figure was compared"
    said = f"{' and '.join(result.generators)} differ in {text}" if text else none
    answer = RunAnswer(said, "figures that differ", float(len(differing)), "")
    return RunOutcome(answer, result.verdict)


CROSS_CHECK = Method(
    "cross-check",
    command="cross-check",
    result=CrossCheckResult,
    schema="cross-check-result",
    outcome=_outcome,
)
