"""Goals and trials for the tests of Multiple Loss Ratio search."""

from plimsoll.search.mlrsearch.classification import TrialResult
from plimsoll.search.mlrsearch.goal import Goal


def goal(
    name: str = "goal",
    *,
    final_s: float = 1,
    sum_s: float = 21,
    exceed: float = 0.5,
    width: float = 0.005,
    initial_s: float | None = None,
) -> Goal:
    """A goal with trials of one length, if no other is given, and else CSIT's attributes."""
    return Goal(
        name=name,
        exceed_ratio=exceed,
        width=width,
        initial_duration_s=final_s if initial_s is None else initial_s,
        final_duration_s=final_s,
        duration_sum_s=sum_s,
    )


def trials(count: int, duration_s: float, loss_ratio: float, allowed: float) -> list[TrialResult]:
    """So many trials that all lost as much, for a goal that allows so much."""
    return [TrialResult(duration_s, loss_ratio > allowed, loss_ratio)] * count
