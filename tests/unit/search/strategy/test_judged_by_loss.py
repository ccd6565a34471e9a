"""Verdicts by nothing but what was lost."""

from __future__ import annotations

from plimsoll.search.strategy.ask import Ask
from plimsoll.search.strategy.judged_by_loss import judged_by_loss
from tests.unit.search.duts import evidence


def test_each_goal_has_its_verdict() -> None:
    lossy = evidence(Ask("search", 1e6, 10.0), 0.001)
    told = judged_by_loss(lossy, {"ndr": 0.0, "pdr": 0.001, "unsaid": None})
    assert told.verdicts == {"ndr": "fail", "pdr": "pass", "unsaid": "fail"}
    assert told.rules == {"ndr": ("loss-ratio",), "unsaid": ("loss-ratio",)}
    assert told.evidence is lossy
