"""What one goal makes of one trial."""

from __future__ import annotations

from dataclasses import dataclass

from ..strategy.ask import Ask, Told


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial that the tester could judge.

    `duration_s` is RFC 9971's trial duration and its trial effective duration alike: the
    time for which frames were to be sent. A trial that ended early, because its verdict
    could no longer change, counts for all of it. `high_loss` is the goal's verdict: the RFC
    knows loss alone, here whatever breaks one of the goal's criteria is as bad as loss.
    `loss_ratio` is over all directions, without what stalls of the tester explain.
    """

    duration_s: float
    high_loss: bool
    loss_ratio: float


def result_for(goal: str, asked: Ask, told: Told) -> TrialResult | None:
    """The trial as this goal sees it; None where its criteria could not be judged."""
    verdict = told.verdicts.get(goal, "invalid")
    if verdict == "invalid":
        return None
    evidence = told.evidence
    loss_ratio = evidence.lost / evidence.offered if evidence.offered else 0.0
    return TrialResult(asked.duration_s, verdict == "fail", loss_ratio)
