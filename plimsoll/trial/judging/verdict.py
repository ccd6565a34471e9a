"""The verdict on a trial: pass, fail, or invalid, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plimsoll.dut.sight import Hop
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.search.strategy.ask import JudgedVerdict
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.judging.dut_agreement import dut_agreement, returned_lengths
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

HOPS_RULE = "hops"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and every finding that was considered, the tester's first."""

    verdict: JudgedVerdict
    findings: tuple[Finding, ...]

    @property
    def reasons(self) -> tuple[Finding, ...]:
        """The findings that made the trial fail or invalid; none for a pass."""
        return tuple(each for each in self.findings if each.outcome == self.verdict)

    @property
    def undecided(self) -> bool:
        """Whether it is invalid for nothing but samples that stalls of the tester may have delayed.

        What else was judged, losses for one, was kept.
        """
        if self.verdict != "invalid" or not self.reasons:
            return False
        return all(each.undecided for each in self.reasons)

    def spoiled_by(self, findings: Sequence[Finding]) -> Judgement:
        """With findings about the test bed first, any of which makes the trial invalid."""
        verdict: JudgedVerdict = "invalid" if findings else self.verdict
        return Judgement(verdict, (*findings, *self.findings))

    def joined_by(self, findings: Sequence[Finding]) -> Judgement:
        """With further findings about the DUT, which fail a trial that would pass."""
        broken = self.verdict == "pass" and any(each.outcome == "fail" for each in findings)
        return Judgement("fail" if broken else self.verdict, (*self.findings, *findings))


def judge(outcome: Outcome, criteria: Sequence[Criterion], limits: TesterLimits) -> Judgement:
    """Judge the tester first, then the DUT.

    A tester at fault makes the trial invalid whatever the criteria say, and so does a
    criterion's finding that spoils it. Otherwise a broken criterion fails it, even where
    another could not be evaluated: no frame came back, say, so there is no latency. A
    criterion that could not be evaluated, and a trial stopped early without a broken
    criterion, are invalid.
    """
    return _judge(outcome, criteria, limits, _tester(outcome, limits))


def judge_goals(
    outcome: Outcome, goals: Mapping[str, Sequence[Criterion]], limits: TesterLimits
) -> dict[str, Judgement]:
    """Judge one trial by the criteria of each goal, as `judge` does; the tester only once.

    A trial that was stopped as soon as one goal's criteria were broken is invalid for a
    goal whose criteria were not, yet: how they would have ended is unknown.
    """
    tester = _tester(outcome, limits)
    return {goal: _judge(outcome, criteria, limits, tester) for goal, criteria in goals.items()}


def _tester(outcome: Outcome, limits: TesterLimits) -> list[Finding]:
    return [
        *limits.findings(outcome),
        *dut_agreement(outcome),
        *dut_sight(outcome),
        *returned_lengths(outcome),
    ]


def _judge(
    outcome: Outcome, criteria: Sequence[Criterion], limits: TesterLimits, tester: list[Finding]
) -> Judgement:
    if outcome.host is not None:
        about_hosts = [each for each in criteria if isinstance(each, HostCriterion)]
        outcome.host.ask([each.bound.question for each in about_hosts])
    judged = [each for criterion in criteria for each in criterion.evaluate(outcome)]
    judged += unfiltered(outcome)
    if not _spoiled(tester, judged) and not _any(judged, "fail"):
        judged += _stopped_early(outcome, limits)
    return Judgement(_verdict(tester, judged), (*tester, *judged))


def _verdict(tester: list[Finding], judged: list[Finding]) -> JudgedVerdict:
    if _spoiled(tester, judged):
        return "invalid"
    if _any(judged, "fail"):
        return "fail"
    return "invalid" if _any(judged, "invalid") else "pass"


def _spoiled(tester: list[Finding], judged: list[Finding]) -> bool:
    return _any(tester, "invalid") or any(each.invalidates_trial for each in judged)


def _any(findings: list[Finding], outcome: JudgedVerdict) -> bool:
    return any(each.outcome == outcome for each in findings)


def _stopped_early(outcome: Outcome, limits: TesterLimits) -> list[Finding]:
    ran, planned = outcome.report.sending_s, outcome.plan.duration_s
    if ran >= planned * (1 - limits.runtime_tolerance):
        return []
    text = f"stopped after {ran:.4g} s of {planned:.4g} s with no criterion broken"
    return [Finding("runtime", "trial", ran, planned, "s", "invalid", text)]


# Findings of what the DUT saw itself: at which hop frames were lost, and what it remarks.
def dut_sight(outcome: Outcome) -> list[Finding]:
    """One for each direction whose hops the DUT counts, and one for each remark.

    They say where, and judge nothing: that the DUT's ends agree with the tester to the frame is
    what `dut_agreement` is for.
    """
    sight = outcome.dut_sight
    directions = dict.fromkeys(hop.direction for hop in sight.hops)
    return [
        *(
            _finding(direction, [hop for hop in sight.hops if hop.direction == direction])
            for direction in directions
        ),
        *(
            Finding(
                rule=each.rule,
                subject=each.subject,
                value=each.value,
                limit=each.limit,
                unit=each.unit,
                outcome="ok",
                text=each.text,
            )
            for each in sight.remarks
        ),
    ]


def losses_between(hops: Sequence[Hop]) -> list[tuple[str, int]]:
    """Where the hops of one direction counted fewer frames than the hop before, and how many.

    Negative where there are more than before: frames that came from elsewhere.
    """
    return [
        (f"between {before.place} and {after.place}", before.frames - after.frames)
        for before, after in pairwise(hops)
        if before.frames != after.frames
    ]


def _finding(direction: int, hops: Sequence[Hop]) -> Finding:
    first, last = hops[0], hops[-1]
    lost = losses_between(hops)
    where = "; ".join(f"{frames:,} {place}" for place, frames in lost)
    said = f"lost on the way: {where}" if lost else "none was lost on the way"
    return Finding(
        rule=HOPS_RULE,
        subject=f"direction {direction}",
        value=last.frames,
        limit=first.frames,
        unit="frames",
        outcome="ok",
        text=f"direction {direction}: {first.frames:,} frames at {first.place}, "
        f"{last.frames:,} at {last.place}; {said}",
    )


# Whether the DUT dropped the frames that it is to drop.
def unfiltered(outcome: Outcome) -> Iterable[Finding]:
    """A finding for each stream to be filtered, of which no frame may come back.

    As trafficgen has it of its streams of type ddos. Frames that came in damaged or on
    another port have passed the DUT as well.
    """
    for plan in outcome.plan.streams:
        if plan.filtered:
            counts = outcome.counts(plan.stream)
            came = counts.received + counts.corrupt + counts.misdirected
            text = (
                f"{plan.name}: {came:,} of {outcome.offered(plan.stream):,} frames passed the "
                "DUT, which is to drop all of them"
            )
            verdict: FindingOutcome = "ok" if came == 0 else "fail"
            yield Finding("unfiltered", plan.name, came, 0, "frames", verdict, text)
