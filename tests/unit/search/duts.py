"""DUTs for searches: functions from what was asked to what came of it, and what runs them.

They are told, never run: no frame is sent, no time passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from plimsoll.search.evidence.trial_evidence import LossSample, TrialEvidence
from plimsoll.search.strategy.ask import (
    ONLY_GOAL,
    Ask,
    Finished,
    JudgedVerdict,
    Phase,
    RecordedTrial,
    Search,
    Told,
    replay,
)

Dut = Callable[[Ask], Told]
# By goal, the loss ratio that it allows.
Goals = Mapping[str, float]
LOSSLESS: Goals = MappingProxyType({ONLY_GOAL: 0.0})

_LATENCY_NS = 20_000


def carries(capacity_pps: float, goals: Goals = LOSSLESS) -> Dut:
    """Forwards up to its capacity and loses all that is more, however long the trial."""
    return carries_by(lambda _: capacity_pps, goals)


def carries_by(capacity_pps: Callable[[Ask], float], goals: Goals = LOSSLESS) -> Dut:
    """The same with a capacity that depends on what is asked: its phase, say, or its length."""

    def dut(asked: Ask) -> Told:
        capacity = capacity_pps(asked)
        verdicts = {goal: _held(asked.load_pps, capacity, most) for goal, most in goals.items()}
        lost = max(0.0, 1 - capacity / asked.load_pps)
        return Told(verdicts, evidence(asked, lost), _rules(verdicts))

    return dut


def judged(verdict_of: Callable[[Ask], JudgedVerdict]) -> Dut:
    """By any rule; its evidence is that of a trial without loss where it does not fail."""
    return lambda asked: told(asked, verdict_of(asked))


def told(asked: Ask, verdict: JudgedVerdict, *rules: str) -> Told:
    """What is told of a trial with this verdict for its goal; failing means half was lost."""
    verdicts = {asked.goal: verdict}
    lost = 0.5 if verdict == "fail" else 0.0
    return Told(verdicts, evidence(asked, lost), {asked.goal: rules} if rules else _rules(verdicts))


def evidence(asked: Ask, loss_ratio: float = 0.0, **changed: object) -> TrialEvidence:
    """Of a trial of full length in two directions that loses this share from its first second on.

    `changed` are fields of TrialEvidence that are to be different.
    """
    offered = max(1, round(2 * asked.load_pps * asked.duration_s))
    lost = max(1, round(offered * loss_ratio)) if loss_ratio else 0
    whole = LossSample(begin_s=0.0, end_s=asked.duration_s, frames=lost)
    plain = TrialEvidence(
        sending_s=asked.duration_s,
        intervals=max(1, round(asked.duration_s)),
        offered=offered,
        lost=lost,
        loss_ratio=loss_ratio,
        forwarded_pps=asked.load_pps * (1 - loss_ratio),
        first_loss_s=0.0 if lost else None,
        lossy_intervals=1 if lost else 0,
        losses=(whole,) if lost else (),
        min_ns=_LATENCY_NS,
        p50_ns=_LATENCY_NS,
        p99_ns=_LATENCY_NS,
        max_ns=_LATENCY_NS,
        latency_growth=0.0,
        peaks=(),
    )
    return plain.model_copy(update=changed)


def run(
    search: Search, dut: Dut, most: int = 10_000
) -> tuple[Finished, list[RecordedTrial], list[Ask]]:
    """Ask and tell to the end: how it ended, what a journal has of it, and what was asked.

    Raises AssertionError where that takes more than `most` trials.
    """
    trials, asks = list[RecordedTrial](), list[Ask]()
    for _ in range(most):
        asked = search.ask()
        if isinstance(asked, Finished):
            return asked, trials, asks
        came = dut(asked)
        trials.append(RecordedTrial(asked.phase, asked.load_pps, came))
        asks.append(asked)
        search.tell(came)
    raise AssertionError(f"the search did not end in {most} trials")


def loads(
    trials: Sequence[RecordedTrial], phase: Phase, verdict: JudgedVerdict, goal: str = ONLY_GOAL
) -> list[float]:
    """The loads of the trials with this verdict, in order."""
    wanted = [each for each in trials if each.phase == phase]
    return [each.load_pps for each in wanted if each.told.verdicts.get(goal) == verdict]


def check_resumes(
    begin: Callable[[], Search], trials: Sequence[RecordedTrial], asks: Sequence[Ask], after: int
) -> Search:
    """Replay the first trials into a fresh search, and see it ask for the rest as the first did.

    Returns it, so that the caller can compare the end.
    """
    search = replay(begin(), trials[:after])
    for asked, record in zip(asks[after:], trials[after:], strict=True):
        assert search.ask() == asked
        search.tell(record.told)
    return search


def _held(load_pps: float, capacity_pps: float, allowed: float) -> JudgedVerdict:
    return "pass" if load_pps * (1 - allowed) <= capacity_pps else "fail"


def _rules(verdicts: Mapping[str, JudgedVerdict]) -> dict[str, tuple[str, ...]]:
    rules: dict[JudgedVerdict, tuple[str, ...]] = {
        "pass": (),
        "fail": ("loss-ratio",),
        "invalid": ("stall",),
    }
    return {goal: rules[verdict] for goal, verdict in verdicts.items()}


def offered_at_most(ceiling_pps: float, dut: Dut) -> Dut:
    """Before this DUT, a tester that cannot offer more, and says what it offered."""

    def weak(asked: Ask) -> Told:
        came = dut(asked)
        if asked.load_pps <= ceiling_pps:
            return came
        names = came.verdicts
        return Told(
            dict.fromkeys(names, "invalid"),
            came.evidence,
            dict.fromkeys(names, ("offered-rate",)),
            offered_at_most_pps=ceiling_pps,
        )

    return weak
