"""Trials that tell nothing of the DUT: the tester's losses, a CPU that both have, other noise."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from plimsoll.neighbours.neighbour import NeighbourRun
from plimsoll.record.trials.trial_parts import LossBlameRecord, PollingThreadRecord, ScheduleRecord
from plimsoll.text.units import format_ns
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
    finding = Finding(
        "tester-losses", "trial", share, 1.0, "ratio", "invalid", text, invalidates_trial=True
    )
    return Judgement("invalid", (finding, *judgement.findings))


def _kind(criterion: Criterion) -> str:
    return str(criterion.model_dump(include={"kind"})["kind"])


def _only(judgement: Judgement, kinds: Collection[str]) -> bool:
    return all(
        any(f"{reason.rule}-".startswith(f"{kind}-") for kind in kinds)
        for reason in judgement.reasons
    )


SHARED_CPU_RULE = "dut-on-tester-cpu"
_TESTER = "tester"
# Less is the kernel moving a thread about before it polls.
_MIN_NS = 500_000


def shared_cpu(schedule: ScheduleRecord | None, seen_ns: Mapping[int, int]) -> list[Finding]:
    """A finding for each loop of the DUT that had a CPU of the tester's; it spoils the trial.

    `seen_ns` is how long the kernel's trace saw threads on such CPUs, by their ids: at least.
    """
    if schedule is None:
        return []
    polled = {each.cpu for each in schedule.threads if each.process == _TESTER}
    found = (
        _finding(each, polled, seen_ns.get(each.tid, 0))
        for each in schedule.threads
        if each.process != _TESTER
    )
    return [each for each in found if each is not None]


def _finding(loop: PollingThreadRecord, polled: set[int], seen_ns: int) -> Finding | None:
    cpus = sorted(polled & {loop.cpu, loop.last_cpu})
    # On one CPU from begin to end all of its time was there; else what was seen.
    stayed = loop.cpu in polled and loop.last_cpu in (loop.cpu, None)
    ran_ns = loop.run_ns if stayed else seen_ns
    if ran_ns < _MIN_NS and not (cpus and loop.run_ns >= _MIN_NS):
        return None
    place = f"CPU {', '.join(map(str, cpus))}, which" if cpus else "a CPU that"
    length = f" for {'' if stayed else 'at least '}{format_ns(ran_ns)}" if ran_ns else ""
    return Finding(
        rule=SHARED_CPU_RULE,
        subject=f"{loop.process}, thread {loop.tid}",
        value=ran_ns,
        limit=0,
        unit="ns",
        outcome="invalid",
        text=f"the DUT's loop {loop.tid} of {loop.process} ran{length} on {place} the tester polls",
        invalidates_trial=True,
    )


_RULE = "noise"


def noise_findings(runs: Sequence[NeighbourRun]) -> Iterator[Finding]:
    """A finding for each neighbour that ended before the trial did."""
    for run in runs:
        if run.ended_early is not None:
            yield Finding(
                rule=_RULE,
                subject=run.name,
                value=None,
                limit=None,
                unit="",
                outcome="invalid",
                text=f"the neighbour {run.name} {run.ended_early} before the trial was over",
                invalidates_trial=True,
            )
