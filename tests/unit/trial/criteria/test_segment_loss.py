"""Losses judged segment by segment."""

from collections.abc import Sequence

import pytest

from plimsoll.trial.criteria.segment_loss import SegmentLoss
from plimsoll.trial.outcome.finding import Finding
from tests.unit.trial.trial_builder import (
    DURATION_S,
    LOAD_BACK,
    LOAD_OUT,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    interval,
    outcome,
    stream_counts,
)
from tests.worded.says import Says, passage

# Load and probe, in the five seconds of one of two segments.
OFFERED_IN_FIVE_SECONDS = 5 * (RATE_PPS + PROBE_PPS)


def _judge(lost: Sequence[int], segments: int = 2, stalls_ns: Sequence[int] = ()) -> list[Finding]:
    """Ten seconds, of which each loses so many frames on the way out."""
    judged = outcome(
        intervals=[
            interval(second, frames, stalls_ns=stalls_ns if frames else ())
            for second, frames in enumerate(lost)
        ],
        streams=[
            stream_counts(LOAD_OUT, DURATION_S * RATE_PPS, sum(lost)),
            stream_counts(LOAD_BACK, DURATION_S * RATE_PPS),
            stream_counts(PROBE, DURATION_S * PROBE_PPS),
        ],
    )
    return SegmentLoss(at_most=1e-4, segments=segments).evaluate(judged)


def test_a_burst_that_the_whole_trial_would_swallow_fails_its_segment(says: Says) -> None:
    """80 of 1,010,000 frames are 0.008 %, but all are of the second half."""
    out, back = _judge([0] * 7 + [80] + [0] * 2)
    assert (out.outcome, back.outcome) == ("fail", "ok")
    assert (out.rule, out.subject) == ("segment-loss", "0-1")
    assert out.value == pytest.approx(80 / OFFERED_IN_FIVE_SECONDS)
    assert out.text == says("0-1:", "2", "5 s", "10 s", "80", "505,000", "0.01584 %", "0.01 %")


def test_losses_within_the_limit_of_each_segment_pass() -> None:
    out, _ = _judge([10] * DURATION_S)
    assert (out.outcome, out.value) == ("ok", pytest.approx(50 / OFFERED_IN_FIVE_SECONDS))


def test_more_segments_than_intervals_are_one_for_each(says: Says) -> None:
    out, _ = _judge([0] * 9 + [50], segments=1000)
    assert passage(out.text, "10", "9") == says()


def test_what_stalls_of_the_tester_explain_says_nothing_about_the_dut(says: Says) -> None:
    out, _ = _judge([0] * 9 + [80], stalls_ns=[2_000_000])
    assert out.outcome == "invalid"
    assert passage(out.text, "80", "505,000", "0") == says()


def test_a_trial_without_intervals_is_invalid() -> None:
    findings = SegmentLoss().evaluate(outcome())
    assert [finding.outcome for finding in findings] == ["invalid", "invalid"]
