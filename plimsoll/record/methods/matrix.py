"""`plimsoll matrix`: the load line of many combinations of an experiment's fields."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import PER_DIRECTION, RunAnswer, RunOutcome
from plimsoll.record.results.matrix_result import MatrixResult
from plimsoll.text.units import format_pps


def _outcome(result: MatrixResult) -> RunOutcome:
    loads = [each.load_line_pps for each in result.samples if each.load_line_pps is not None]
    text = f"{len(loads)} of {len(result.samples)} load lines"
    if loads:
        text += f", {format_pps(min(loads))} to {format_pps(max(loads))}"
    answer = RunAnswer(text, "load lines", None, PER_DIRECTION)
    return RunOutcome(answer, result.verdict)


MATRIX = Method(
    "matrix",
    command="matrix",
    result=MatrixResult,
    schema="matrix-result",
    outcome=_outcome,
    by_criteria=True,
)
