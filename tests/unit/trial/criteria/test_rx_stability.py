"""How steadily frames come back, by hand: 1,000 of them a second, or a few less."""

from dataclasses import replace
from statistics import fmean, pstdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from plimsoll.generator.interface import Interval
from plimsoll.traffic.plan import Pacing
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.registry import CriterionSettings
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.steadiness import rx_seconds
from tests.unit.trial.seconds import ONE_STREAM, second, trial_of
from tests.unit.trial.trial_builder import interval, outcome
from tests.worded.says import Says

MS = 1_000_000


def _criterion(**settings: Any) -> Criterion:
    criterion: Criterion = TypeAdapter(CriterionSettings).validate_python(
        {"kind": "rx-stability"} | settings
    )
    return criterion


def _finding(judged: Outcome, **settings: Any) -> Finding:
    (finding,) = _criterion(**settings).evaluate(judged)
    return finding


def _losing(*lost: int) -> Outcome:
    """The first second is not judged, so it comes before these."""
    return trial_of([second(0), *(second(1 + n, lost=each) for n, each in enumerate(lost))])


def test_the_deviation_is_that_of_whole_seconds(says: Says) -> None:
    """900, 1000, 1100 of 1000: the standard deviation is 81.65, the mean 1000."""
    judged = _losing(100, 0, -100)
    kept = _finding(judged, deviation="8.2%")
    assert (kept.rule, kept.subject, kept.outcome) == ("rx-stability-deviation", "0-1", "ok")
    assert kept.value == pytest.approx(0.08165, rel=1e-4)
    broken = _finding(judged, deviation="8%")
    assert broken.outcome == "fail"
    assert broken.text == says("0-1", "8.165", "3")


def test_a_loss_that_stays_the_same_is_steady() -> None:
    assert _finding(_losing(*[300] * 5), deviation="0%").outcome == "ok"


@given(st.lists(st.integers(0, 900), min_size=3, max_size=20))
def test_the_deviation_is_the_relative_one_of_what_came(lost: list[int]) -> None:
    came = [1000 - each for each in lost]
    found = _finding(_losing(*lost), deviation=1)
    assert found.value == pytest.approx(pstdev(came) / fmean(came), abs=1e-9)


def test_a_second_in_which_the_tester_sent_less_is_not_held_against_the_dut() -> None:
    seconds = [second(n, sent=1000 if n != 2 else 800) for n in range(5)]
    found = _finding(trial_of(seconds), deviation="0.1%")
    assert (found.outcome, found.value) == ("ok", 0)


def test_frames_that_the_dut_left_no_room_for_are_held_against_it() -> None:
    seconds = [second(n, sent=800, refused=200 if n == 2 else 0) for n in range(5)]
    assert _finding(trial_of(seconds, drained_by="dut"), deviation="1%").outcome == "fail"
    assert _finding(trial_of(seconds), deviation="1%").outcome == "ok"


def test_frames_lost_in_a_stall_have_come() -> None:
    """20 ms at 100 kpps: 2,000 frames came, of which the queue held 101."""
    stream = replace(ONE_STREAM.streams[0], rate_pps=100_000)
    seconds = [
        second(n, sent=100_000, lost=1899 if n == 2 else 0, stall_ns=20 * MS if n == 2 else 0)
        for n in range(5)
    ]
    judged = trial_of(seconds, plan=replace(ONE_STREAM, streams=(stream,)))
    assert _finding(judged, deviation="0%").value == 0


def test_frames_that_a_stall_may_have_moved_into_the_next_second_are_uncertain() -> None:
    """30 frames late: 30 ms at the end of a second explain them, 10 ms do not."""
    for stall_ms, verdict in ((30, "invalid"), (10, "fail")):
        seconds = [second(n) for n in range(6)]
        seconds[2] = second(2, received=970, stall_ns=stall_ms * MS)
        seconds[3] = second(3, received=1030)
        found = _finding(trial_of(seconds), deviation="0.5%")
        assert found.outcome == verdict
        assert ("no more than the tester's stalls explain" in found.text) == (verdict == "invalid")
        window = _finding(trial_of(seconds), worst_window="2%", window="1s")
        assert window.outcome == verdict


def test_a_stall_in_the_second_after_is_one_at_the_end_of_this_one() -> None:
    seconds = [second(n) for n in range(6)]
    seconds[2] = second(2, received=970)
    seconds[3] = second(3, received=1030, stall_ns=30 * MS)
    assert _finding(trial_of(seconds), deviation="0.5%").outcome == "invalid"


def test_stalls_elsewhere_explain_nothing() -> None:
    seconds = [second(n, stall_ns=30 * MS if n == 5 else 0) for n in range(7)]
    seconds[2] = second(2, received=970)
    assert _finding(trial_of(seconds), deviation="0.5%").outcome == "fail"


def test_the_worst_window_is_the_one_that_strays_furthest(says: Says) -> None:
    """Of 12 s with 40 frames missing in seconds 5 and 6, 2 s have a mean of 980 of 1000."""
    lost = [0] * 12
    lost[5] = lost[6] = 20
    mean = 1 - 40 / 12_000
    for length, worst in (("2s", 980 / 1000), ("1s", 980 / 1000), ("4s", 990 / 1000)):
        found = _finding(_losing(*lost), worst_window="1%", window=length)
        assert found.value == pytest.approx(abs(worst - mean) / mean)
        assert found.rule == "rx-stability-window"
    assert _finding(_losing(*lost), worst_window="1%", window="2s").text == says(
        "0-1", "1.672", "2s", "12"
    )


def test_a_window_may_stray_upwards() -> None:
    found = _finding(_losing(*[100] * 9, 0), worst_window="5%", window="1s")
    assert found.value == pytest.approx((1 - 0.91) / 0.91)
    assert found.outcome == "fail"


@given(st.lists(st.integers(0, 900), min_size=6, max_size=20))
def test_the_worst_window_against_all_windows(lost: list[int]) -> None:
    came = [1000 - each for each in lost]
    mean = fmean(came)
    windows = [fmean(came[n : n + 3]) for n in range(len(came) - 2)]
    found = _finding(_losing(*lost), worst_window=1, window="3s")
    worst = max(abs(each - mean) / mean for each in windows)
    assert found.value == pytest.approx(worst, abs=1e-9)


def test_both_bounds_at_once() -> None:
    found = _criterion(deviation="1%", worst_window="1%", window="2s").evaluate(_losing(*[0] * 5))
    assert [each.rule for each in found] == ["rx-stability-deviation", "rx-stability-window"]


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"deviation": "1%"}, ("2", "3")),
        ({"worst_window": "1%", "window": "2s"}, ("2", "4")),
    ],
)
def test_too_few_seconds_cannot_be_evaluated(
    settings: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    found = _finding(_losing(0, 0), **settings)
    assert (found.outcome, found.value) == ("invalid", None)
    assert found.text == says(*facts)


def test_seconds_without_frames_cannot_be_evaluated(says: Says) -> None:
    silent = trial_of([second(n, sent=0 if n == 2 else 1000) for n in range(6)])
    found = _finding(silent, deviation="1%")
    assert found.outcome == "invalid"
    assert found.text == says("0-1", "5")
    dead = trial_of([second(n, received=0) for n in range(6)])
    assert _finding(dead, deviation="1%").outcome == "invalid"


@pytest.mark.parametrize(
    "changes",
    [{"rate_pps": None, "pacing": Pacing("back-to-back")}, {"frame_count": 500}],
)
def test_streams_of_no_steady_rate_are_not_judged(changes: dict[str, Any], says: Says) -> None:
    plan = replace(ONE_STREAM, streams=(replace(ONE_STREAM.streams[0], **changes),))
    judged = trial_of([second(n) for n in range(6)], plan=plan)
    found = _finding(judged, deviation="1%")
    assert (found.subject, found.outcome) == ("trial", "invalid")
    assert found.text == says()


def test_each_direction_is_judged() -> None:
    """The way out loses a tenth of its frames every other second."""
    seconds = [interval(n, lost=10_000 * (n % 2)) for n in range(7)]
    found = _criterion(deviation="1%").evaluate(outcome(intervals=seconds))
    assert [(each.subject, each.outcome) for each in found] == [("0-1", "fail"), ("1-0", "ok")]


def _lengths(seconds: list[Interval]) -> list[float]:
    return [pytest.approx(each.length_s) for each in rx_seconds(trial_of(seconds), [0])]


def test_short_intervals_are_put_together_to_seconds() -> None:
    """Ten of 100 ms each, after the first; the last five are no second."""
    seconds = [second(n, sent=100, length_s=0.1) for n in range(26)]
    assert _lengths(seconds) == [1.0, 1.0]


def test_the_drain_and_what_is_left_at_the_end_are_no_seconds() -> None:
    seconds = [
        second(0),
        second(1),
        second(2, length_s=0.4, begin_s=2.0),
        second(3, length_s=2.0, begin_s=2.4, drain=True),
    ]
    assert _lengths(seconds) == [1.0]
    assert _lengths([]) == []
