"""Losses that fall on the tester's own absences make a failed trial invalid, and no others do."""

import pytest

from plimsoll.record.trials.trial_parts import LossBlameRecord
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.latency_bound import LatencyBound
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.judging.tester import TesterLimits as Limits
from plimsoll.trial.judging.tester_losses import without_tester_losses
from plimsoll.trial.judging.verdict import Judgement, judge
from tests.unit.trial.trial_builder import DURATION_S, RATE_PPS, outcome
from tests.worded.says import Says

# Each direction may lose 0.002 % of 1,000,000 load frames and of the probe's 10,000.
CRITERIA: tuple[Criterion, ...] = (LossRatio(), FrameCount(kind="corrupt"))
SAID = "Of 500 lost frames in 1 event, 90% by java on the tester's CPU 0."


def blame(tester: float, rest: float = 0.0) -> LossBlameRecord:
    return LossBlameRecord(tester=tester, platform=rest, unseen=0.0, sentence=SAID)


def judged(
    lost: int, blamed: LossBlameRecord | None, criteria: tuple[Criterion, ...] = CRITERIA
) -> Judgement:
    trial = outcome(lost=lost)
    return without_tester_losses(judge(trial, criteria, Limits()), trial, criteria, blamed)


def test_a_failure_by_the_testers_losses_is_invalid_with_the_evidence(says: Says) -> None:
    assert RATE_PPS * DURATION_S == 1_000_000
    # 20 frames may be lost in a direction; 490 of 500 were the tester's.
    found = judged(500, blame(490.0, 10.0))
    assert found.verdict == "invalid"
    (reason,) = (each for each in found.reasons if each.rule == "tester-losses")
    assert reason.text == says("490", "500", SAID)


@pytest.mark.parametrize(
    ("lost", "blamed"),
    [
        # 50 frames are left, more than allowed.
        (500, blame(450.0, 50.0)),
        (500, blame(0.0, 500.0)),
        (500, None),
    ],
)
def test_what_is_left_beyond_the_criterion_is_the_duts_failure(
    lost: int, blamed: LossBlameRecord | None
) -> None:
    assert judged(lost, blamed).verdict == "fail"


def test_a_pass_stays_a_pass() -> None:
    assert judged(0, blame(5.0)).verdict == "pass"


def test_another_broken_criterion_is_not_excused() -> None:
    slow = LatencyBound.model_validate({"quantile": "p99", "at_most": "90ns"})
    assert judged(500, blame(500.0), (*CRITERIA, slow)).verdict == "fail"
