"""A trial that fails by losses which fall on absences of the tester's own loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from plimsoll.record.trials.loss_blame_record import LossBlameRecord
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.judging.verdict import Judgement
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


def without_tester_losses(
    judgement: Judgement,
    outcome: Outcome,
    criteria: Sequence[Criterion],
    blame: LossBlameRecord | None,
) -> Judgement:
    """The judgement; invalid where a failure is of losses alone, and those are the tester's.

    That is where less than any loss criterion allows is left of the lost frames when those
    are taken away that were lost while the tester's loop was seen to be away, or a process of
    its own to have the DUT's CPU.
    """
    if judgement.verdict != "fail" or blame is None or blame.tester <= 0:
        return judgement
    budgets = [budget for each in criteria for budget in each.losses_allowed(outcome.plan)]
    bounding = {_kind(each) for each in criteria if each.losses_allowed(outcome.plan)}
    if not budgets or not _only(judgement, bounding):
        return judgement
    lost = sum(outcome.lost(plan.stream) for plan in outcome.judged)
    # Which of them they were is known by stream, but a criterion may bound any part of all.
    left = lost - blame.tester
    allowed = min(budget.frames for budget in budgets)
    if left > allowed:
        return judgement
    text = (
        f"{blame.tester:,.0f} of {lost:,} lost frames were lost while the tester's own loop was "
        f"away or a process of its own had the DUT's CPU, and without them no loss criterion is "
        f"broken. {blame.sentence}"
    )
    share = blame.tester / lost
    finding = Finding("tester-losses", "trial", share, 1.0, "ratio", "invalid", text, spoils=True)
    return Judgement("invalid", (finding, *judgement.findings))


def _kind(criterion: Criterion) -> str:
    return str(criterion.model_dump(include={"kind"})["kind"])


def _only(judgement: Judgement, kinds: Collection[str]) -> bool:
    return all(
        any(f"{reason.rule}-".startswith(f"{kind}-") for kind in kinds)
        for reason in judgement.reasons
    )
