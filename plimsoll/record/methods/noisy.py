"""`plimsoll noisy`: an experiment without its noise and with it, by turns."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import PER_DIRECTION, RunAnswer, RunOutcome
from plimsoll.record.results.noisy_result import NoiseDifference, NoisyResult
from plimsoll.text.units import format_number, format_ratio


def _said(of: NoiseDifference) -> str:
    """What is concluded, with its size; in older records, whether anything was seen."""
    found = of.conclusion
    if found is None:
        known = of.judgement if of.judgement in ("better", "worse") else "cannot tell"
        return (
            known if of.relative is None else f"{known} ({format_number(of.relative * 100, 3)} %)"
        )
    text = f"same within {format_ratio(found.within)}" if found.kind == "same" else found.kind
    return text if found.share is None else f"{text} ({format_number(found.share * 100, 3)} %)"


def _outcome(result: NoisyResult) -> RunOutcome:
    first = next(iter(result.differences), None)
    if first is None:
        none = RunAnswer("no comparison", "noise", None, PER_DIRECTION)
        return RunOutcome(none, result.verdict)
    text = f"{first.figure} next to noise: {_said(first)}"
    return RunOutcome(RunAnswer(text, "noise", None, PER_DIRECTION), result.verdict)


NOISY = Method(
    "noisy",
    command="noisy",
    result=NoisyResult,
    schema="noisy-result",
    outcome=_outcome,
    by_criteria=True,
)
