"""`plimsoll plugfest`: DUTs against each other, over chains, flows, frame sizes and noise."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import PER_DIRECTION, RunAnswer, RunOutcome
from plimsoll.record.results.plugfest_result import PlugfestResult


def _outcome(result: PlugfestResult) -> RunOutcome:
    duts = len({cell.dut for cell in result.cells})
    text = f"{len(result.measured)} of {len(result.cells)} cells of {duts} DUTs"
    answer = RunAnswer(text, "cells", None, PER_DIRECTION)
    return RunOutcome(answer, result.verdict)


PLUGFEST = Method(
    "plugfest",
    command="plugfest",
    result=PlugfestResult,
    schema="plugfest-result",
    outcome=_outcome,
    by_criteria=True,
)
