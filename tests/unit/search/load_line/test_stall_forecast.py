"""Forecasts by cause, against what the stalls were drawn from."""

from __future__ import annotations

import random

import pytest

from plimsoll.search.load_line.stalls.arrivals import RANDOM, Arrivals
from plimsoll.search.load_line.stalls.cause import StallCause
from plimsoll.search.load_line.stalls.stall_forecast import CauseSeen, StallForecast, forecast_of
from plimsoll.search.load_line.stalls.tail import tail_of
from plimsoll.search.load_line.tried import Tried
from tests.unit.search.load_line.disturbed import Times, disturbed
from tests.unit.search.load_line.trials import tried

HOURS_S = 10_800
STUDY_S = 1350
LOGROTATE = StallCause("task", "logrotate", 1)
JAVA = StallCause("task", "java", 1)


def _forecast(*trials: Tried) -> StallForecast:
    found = forecast_of(trials)
    assert found is not None
    return found


def _housekeeping(chance: random.Random, seconds: int) -> Times:
    """Every 37 s, for 3 to 9 ms."""
    return [(at, chance.uniform(3e-3, 9e-3)) for at in range(5, seconds, 37)]


def _at_random(chance: random.Random, seconds: int, every_s: float, length_s: float) -> Times:
    """With exponential gaps; all within a tenth of one length."""
    times, at_s = [], chance.expovariate(1 / every_s)
    while at_s < seconds - 1:
        times.append((at_s, length_s * chance.uniform(0.9, 1.1)))
        at_s += chance.expovariate(1 / every_s)
    return times


def _two_causes(seconds: int) -> Tried:
    chance = random.Random(5)  # noqa: S311
    by_name = {
        "logrotate": _housekeeping(chance, seconds),
        "java": _at_random(chance, seconds, 41.0, 1e-3),
    }
    return disturbed(1e5, seconds, by_name)


def test_without_causes_all_stalls_are_foretold_together() -> None:
    trial = tried(1e5, 60, peaks_ns={at: 1_000_000 + 7_000 * at for at in range(60)})
    (only,) = _forecast(trial).groups
    tail = tail_of([trial])
    assert tail is not None
    assert only.tail == tail
    assert only.causes == (CauseSeen(None, 1.0, None, None),)
    assert not _forecast(trial).knows_causes
    assert _forecast(trial).length_s(HOURS_S, 0.95) == tail.length_s(HOURS_S, 0.95)
    assert _forecast(trial).chance(2e-3, HOURS_S) == tail.chance(2e-3, HOURS_S)


def test_without_stalls_there_is_nothing_to_foretell() -> None:
    assert forecast_of([tried(1e5, 60)]) is None


def test_causes_whose_stalls_differ_have_a_rate_and_lengths_of_their_own() -> None:
    logrotate, java = _forecast(_two_causes(STUDY_S)).groups
    assert 8.5e-3 <= logrotate.tail.longest_s <= 9e-3
    assert java.tail.longest_s <= 1.1e-3
    # 37 of 6 ms in the mean and 25 of 1 ms.
    (of_logrotate,), (of_java,) = logrotate.causes, java.causes
    assert (of_logrotate.cause, of_logrotate.share) == (LOGROTATE, 1.0)
    assert of_logrotate.every_s == pytest.approx(STUDY_S / 37)
    assert (of_java.cause, of_java.share) == (JAVA, 1.0)
    assert of_java.every_s == pytest.approx(STUDY_S / 25)


def test_what_comes_every_37_s_is_seen_as_regular_and_what_comes_at_random_is_not() -> None:
    logrotate, java = _forecast(_two_causes(STUDY_S)).groups
    assert logrotate.causes[0].period_s == pytest.approx(37.0)
    assert logrotate.tail.arrivals == Arrivals(logrotate.causes[0].period_s)
    assert java.causes[0].period_s is None
    assert java.tail.arrivals == RANDOM


def test_causes_whose_stalls_are_alike_are_foretold_together_as_if_none_was_known() -> None:
    """What the scheduler's tick ends lasts as long, whoever had the CPU."""
    chance = random.Random(13)  # noqa: S311
    times = _at_random(chance, STUDY_S, 30.0, 4e-3)
    by_name = {f"task-{of}": times[of::3] for of in range(3)}
    unnamed = _forecast(disturbed(1e5, STUDY_S, {}, unnamed=times))
    named = _forecast(disturbed(1e5, STUDY_S, by_name))
    (group,) = named.groups
    assert len(group.causes) == 3
    assert sum(each.share for each in group.causes) == pytest.approx(1.0)
    assert named.length_s(HOURS_S, 0.95) == unnamed.length_s(HOURS_S, 0.95)


def test_a_cause_that_some_stalls_have_no_trace_of_is_foretold_with_these() -> None:
    chance = random.Random(17)  # noqa: S311
    times = _housekeeping(chance, HOURS_S)
    traced = disturbed(1e5, HOURS_S, {"logrotate": times[::5] + times[1::5]}, unnamed=times)
    (group,) = _forecast(traced).groups
    assert {each.cause for each in group.causes} == {LOGROTATE, None}
    assert group.tail == tail_of([traced])


def test_the_longest_stall_is_the_longest_of_any_cause() -> None:
    """Of 292 lengths spread evenly up to 9 ms the longest is just below that."""
    forecast = _forecast(_two_causes(HOURS_S), _two_causes(STUDY_S))
    longest_s = forecast.length_s(HOURS_S, 0.95)
    assert 8.9e-3 <= longest_s <= 9.6e-3
    assert [each.cause for each in forecast.leading(HOURS_S, 0.95).causes] == [LOGROTATE]
    again = forecast.chance(longest_s, 2 * HOURS_S) / forecast.chance(longest_s, HOURS_S)
    assert again == pytest.approx(0.95, abs=0.001)


def test_the_chance_is_that_of_no_longer_stall_by_any_cause() -> None:
    chance = random.Random(9)  # noqa: S311
    by_name = {
        "java": _at_random(chance, HOURS_S, 400.0, 2e-3),
        "perl": [(100.0 + 500 * at, 1.1e-3 + 5e-5 * at) for at in range(21)],
    }
    forecast = _forecast(disturbed(1e5, HOURS_S, by_name))
    java, perl = (each.tail.chance(2.3e-3, HOURS_S) for each in forecast.groups)
    assert 0 < java < 1
    assert 0 < perl < 1
    assert forecast.chance(2.3e-3, HOURS_S) == pytest.approx(java * perl)


def test_foretold_from_less_than_a_validation_it_is_the_middle_of_what_is_likely() -> None:
    """As for one cause alone: where the other cause is far shorter it changes nothing."""
    chance = random.Random(11)  # noqa: S311
    times = _housekeeping(chance, STUDY_S)
    alone = _forecast(disturbed(1e5, STUDY_S, {"logrotate": times}))
    tiny = [(at_s + 20, 2e-5) for at_s, _ in times]
    both = _forecast(disturbed(1e5, STUDY_S, {"logrotate": times}, unnamed=tiny))
    assert (len(alone.groups), len(both.groups)) == (1, 2)
    foretold_s = alone.length_s(HOURS_S, 0.95)
    assert both.length_s(HOURS_S, 0.95) == pytest.approx(foretold_s, rel=1e-3)


def test_a_cause_seen_four_times_is_foretold_with_the_one_seen_most() -> None:
    rare = [(10.0 * at, 3e-3) for at in range(1, 5)]
    unnamed = [(10.0 * at + 5, 2e-3 + 1e-5 * at) for at in range(1, 20)]
    (only,) = _forecast(disturbed(1e5, 300, {"cron": rare}, unnamed=unnamed)).groups
    assert [each.cause for each in only.causes] == [None, StallCause("task", "cron", 1)]
    assert only.tail.longest_s == pytest.approx(3e-3)


def test_the_same_trials_say_the_same_again() -> None:
    first, second = _forecast(_two_causes(STUDY_S)), _forecast(_two_causes(STUDY_S))
    assert first == second
    assert first.length_s(HOURS_S, 0.95) == second.length_s(HOURS_S, 0.95)
