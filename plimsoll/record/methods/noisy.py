"""`plimsoll noisy`: an experiment without its noise and with it, by turns."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import PER_DIRECTION, RunAnswer, RunOutcome
from plimsoll.record.results.noisy_result import NoisyResult
from plimsoll.text.units import format_number


def _outcome(result: NoisyResult) -> RunOutcome:
    first = next(iter(result.differences), None)
    if first is None:
        none = RunAnswer("no comparison", "noise", None, PER_DIRECTION)
        return RunOutcome(none, result.verdict)
    share = "" if first.relative is None else f" ({format_number(first.relative * 100, 3)} %)"
    text = f"{first.figure} next to noise: {first.judgement}{share}"
    return RunOutcome(RunAnswer(text, "noise", None, PER_DIRECTION), result.verdict)


NOISY = Method(
    "noisy",
    command="noisy",
    result=NoisyResult,
    schema="noisy-result",
    outcome=_outcome,
    by_criteria=True,
)
