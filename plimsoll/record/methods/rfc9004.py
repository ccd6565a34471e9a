"""`plimsoll rfc9004`: back-to-back bursts, and the buffer that they tell of."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import RunAnswer, RunOutcome
from plimsoll.record.results.rfc9004_result import Rfc9004Result
from plimsoll.text.units import format_ns

_NS_PER_S = 1e9


def _outcome(result: Rfc9004Result) -> RunOutcome:
    valid = [row for row in result.rows if row.valid and row.corrected_s is not None]
    first = next(iter(valid), None)
    if first is None or first.corrected_s is None:
        none = RunAnswer("no valid buffer time", "buffer time", None, "s")
        return RunOutcome(none, result.verdict)
    frames = first.throughput.subject.frames
    text = f"buffer {format_ns(first.corrected_s * _NS_PER_S)}, {frames} B"
    return RunOutcome(RunAnswer(text, "buffer time", first.corrected_s, "s"), result.verdict)


RFC9004 = Method(
    "rfc9004", command="rfc9004", result=Rfc9004Result, schema="rfc9004-result", outcome=_outcome
)
