"""Trials whose streams pause: what is due, what is judged, and what is not held against anyone."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.traffic.plan import CapturedGaps, Pacing, Schedule, StreamPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.registry import CriterionSettings
from plimsoll.trial.judging.evidence import evidence_of
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.judging.verdict import judge
from plimsoll.trial.outcome.due_frames import due_frames, most_due_frames, scatter
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.seconds import ONE_STREAM, RATE_PPS, second, trial_of
from tests.unit.trial.trial_builder import series, stream_counts
from tests.worded.says import Says

# Sends in the seconds 2 and 3, 6 and 7, so 4,000 of 10,000 frames.
ON_AND_OFF = Schedule(start_s=2.0, duration_s=2.0, pause_s=2.0)
SENDS_IN = {2, 3, 6, 7}
LATER = Schedule(start_s=60.0)


def _plan(schedule: Schedule) -> TrialPlan:
    return replace(ONE_STREAM, streams=(replace(ONE_STREAM.streams[0], schedule=schedule),))


def _trial(sends_in: Sequence[int] | set[int] = SENDS_IN, lost: int = 0) -> Outcome:
    seconds = [
        second(each, sent=RATE_PPS if each in sends_in else 0, lost=lost if each == 6 else 0)
        for each in range(10)
    ]
    return trial_of(seconds, plan=_plan(ON_AND_OFF))


def _with_another(plan: TrialPlan, seconds: Sequence[Interval], sent: int) -> Outcome:
    """With a second stream that sends and loses nothing else, so many frames a second."""
    both = [replace(each, streams=(*each.streams, stream_counts(1, sent))) for each in seconds]
    outcome = trial_of(seconds, plan=replace(plan, streams=plan.streams[:1]))
    totals = (*outcome.report.streams, stream_counts(1, sent * len(seconds)))
    report = replace(outcome.report, streams=totals)
    return replace(outcome, plan=plan, report=report, series=series(both, plan))


def _criterion(**settings: object) -> Criterion:
    criterion: Criterion = TypeAdapter(CriterionSettings).validate_python(settings)
    return criterion


def _offered_rate(outcome: Outcome) -> list[Finding]:
    return [each for each in TesterLimits().findings(outcome) if each.rule == "offered-rate"]


def test_frames_are_due_while_the_stream_sends() -> None:
    (stream,) = _plan(ON_AND_OFF).streams
    assert due_frames(stream, 10) == 4000
    assert due_frames(stream, 3, begin_s=3) == 1000
    # A stall may fall on any second.
    assert most_due_frames(stream, 3) == 3000


def test_each_repetition_has_whole_frames_and_whole_bursts() -> None:
    (stream,) = _plan(ON_AND_OFF).streams
    assert scatter(stream, 4000, 10) == 1
    bursts = replace(stream, pacing=Pacing("burst", burst_frames=32))
    assert scatter(bursts, 4000, 10) == 63


# Ten frames in the first 2 ms of a second, and then none: at 10 pps as captured.
BUNCHED = Pacing("captured", gaps=CapturedGaps((*[200_000] * 9, 998_200_000)))


def test_captured_frames_are_due_as_they_were_captured() -> None:
    (stream,) = _plan(Schedule()).streams
    stream = replace(stream, rate_pps=10.0, pacing=BUNCHED)
    assert due_frames(stream, 0.0011) == 6
    assert due_frames(stream, 0.9) == 10
    assert due_frames(stream, 5.9) == 60
    assert due_frames(stream, 1.0, begin_s=0.5) == 10
    assert due_frames(stream, 0.4, begin_s=0.5) == 0
    # Twice as fast, the same ten in each half second.
    assert due_frames(replace(stream, rate_pps=20.0), 0.9) == 20
    assert due_frames(replace(stream, frame_count=7), 5.9) == 7


def test_each_repetition_of_a_schedule_begins_the_capture_anew() -> None:
    (stream,) = _plan(ON_AND_OFF).streams
    stream = replace(stream, rate_pps=10.0, pacing=BUNCHED)
    assert due_frames(stream, 10) == 40
    shorter = replace(stream, schedule=replace(ON_AND_OFF, duration_s=1.5))
    assert due_frames(shorter, 10, begin_s=0) == 20 + 20 + 10


def test_a_stall_may_fall_on_what_is_bunched() -> None:
    (stream,) = _plan(Schedule()).streams
    stream = replace(stream, rate_pps=10.0, pacing=BUNCHED)
    assert most_due_frames(stream, 0.0011) == 6
    assert most_due_frames(stream, 0.9) == 10
    assert most_due_frames(stream, 1.0011) == 16
    assert most_due_frames(replace(stream, frame_count=3), 0.9) == 3


def test_what_is_due_within_a_millisecond_of_an_end_may_miss_it() -> None:
    (stream,) = _plan(Schedule()).streams
    assert scatter(replace(stream, rate_pps=10.0, pacing=BUNCHED), 100, 10) == 2 * 6


def test_a_tester_that_keeps_the_schedule_is_fit() -> None:
    (finding,) = _offered_rate(_trial())
    assert (finding.value, finding.outcome) == (0.0, "ok")
    assert "4,000 of 4,000 frames" in finding.text


def test_a_tester_that_sends_in_the_pauses_is_not() -> None:
    (finding,) = _offered_rate(_trial(range(10)))
    assert (finding.value, finding.outcome) == (1.5, "invalid")


def test_a_window_begins_in_the_midst_of_the_schedule() -> None:
    """As in a soak: the seconds 6 to 9, in two of which the stream sends."""
    seconds = [second(each, sent=RATE_PPS if each in SENDS_IN else 0) for each in range(6, 10)]
    (finding,) = _offered_rate(trial_of(seconds, plan=_plan(ON_AND_OFF)))
    assert "2,000 of 2,000 frames" in finding.text


def test_the_loss_ratio_is_of_the_frames_offered() -> None:
    (finding,) = _criterion(kind="loss-ratio", at_most="1%").evaluate(_trial(lost=100))
    assert (finding.value, finding.outcome) == (0.025, "fail")
    (budget,) = _criterion(kind="loss-ratio", at_most="1%").losses_allowed(_plan(ON_AND_OFF))
    assert budget.frames == pytest.approx(40)


def test_segments_in_which_nothing_is_due_are_left_out() -> None:
    criterion = _criterion(kind="segment-loss", at_most="1%", segments=10)
    (kept,) = criterion.evaluate(_trial())
    assert (kept.value, kept.outcome) == (0.0, "ok")
    (broken,) = criterion.evaluate(_trial(lost=100))
    assert (broken.value, broken.outcome) == (0.1, "fail")
    (silent,) = criterion.evaluate(_trial(sends_in={2, 3}))
    assert silent.outcome == "invalid"


def test_a_rate_that_pauses_is_not_judged_as_steady() -> None:
    (finding,) = _criterion(kind="rx-stability", deviation="1%").evaluate(_trial())
    assert (finding.subject, finding.outcome) == ("trial", "invalid")


def test_the_offered_load_is_that_of_the_time_in_which_it_sends() -> None:
    evidence = evidence_of(_trial())
    assert evidence.offered_pps == _trial().plan.load_pps
    assert evidence.forwarded_pps == RATE_PPS
    assert evidence.least_offered is None


def test_a_stream_that_begins_after_the_trial_is_not_judged() -> None:
    early, late = ONE_STREAM.streams[0], StreamPlan(1, "late", "load", 0, 1, (bytes(60),), 1000.0)
    plan = replace(ONE_STREAM, streams=(early, replace(late, schedule=LATER)))
    outcome = _with_another(plan, [second(each) for each in range(10)], 0)
    criteria = [
        _criterion(kind="loss-ratio", per="stream"),
        _criterion(kind="corrupt"),
        _criterion(kind="latency", quantile="p99", at_most="1ms", role="load"),
    ]
    subjects = {finding.subject for each in criteria for finding in each.evaluate(outcome)}
    assert subjects == {early.name}
    assert [each.subject for each in _offered_rate(outcome)] == [early.name]


def test_a_trial_in_which_nothing_is_due_proves_nothing(says: Says) -> None:
    outcome = trial_of([second(each, sent=0) for each in range(10)], plan=_plan(LATER))
    judgement = judge(outcome, [_criterion(kind="loss-ratio")], TesterLimits())
    assert judgement.verdict == "invalid"
    assert judgement.reasons[0].text == says("0.002")


def _filtered(came: int) -> Outcome:
    bad = replace(ONE_STREAM.streams[0], filtered=True)
    good = replace(ONE_STREAM.streams[0], stream=1, name="good/0-1")
    seconds = [second(each, lost=RATE_PPS - came // 10) for each in range(10)]
    return _with_another(replace(ONE_STREAM, streams=(bad, good)), seconds, RATE_PPS)


@pytest.mark.parametrize(("came", "verdict"), [(0, "pass"), (10, "fail")])
def test_what_the_dut_is_to_filter_must_not_come_back(came: int, verdict: str) -> None:
    criteria = [_criterion(kind=kind) for kind in ("loss-ratio", "duplicate", "corrupt")]
    judgement = judge(_filtered(came), criteria, TesterLimits())
    assert judgement.verdict == verdict
    (finding,) = [each for each in judgement.findings if each.rule == "unfiltered"]
    assert (finding.subject, finding.value) == ("load/0-1", came)
    # And its losses are no losses.
    assert {each.subject for each in judgement.findings if each.rule == "corrupt"} == {"good/0-1"}
