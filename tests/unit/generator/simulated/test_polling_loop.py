"""A tester that is away now and then, and what its counters and the judge make of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from plimsoll.generator.simulated.trial_run import SimulatedLoop
from plimsoll.search.simulated.away_times import Away, AwayTimes
from plimsoll.trial.outcome.due_frames import StallExcuses
from tests.unit.generator.simulated.driving import (
    chance_of,
    check,
    generator_of,
    load_stream,
    plan_of,
    probe_stream,
    run,
)

ALMOST_FIXED: dict[str, Any] = {"length_deviation": 0.0001, "capacity_deviation": 0.0}


def test_being_away_does_not_depend_on_how_time_is_cut() -> None:
    times = AwayTimes(0.5, 0.3, 1.0)
    whole = SimulatedLoop(0, times, chance_of(1)).away_within(0.0, 60.0)
    cut = SimulatedLoop(0, times, chance_of(1))
    pieces = [away for second in range(60) for away in cut.away_within(second, second + 1.0)]
    assert list(dict.fromkeys(pieces)) == whole
    assert all(one.end_s < other.begin_s for one, other in pairwise(whole))


def test_away_times_are_as_often_and_as_long_as_set() -> None:
    away = SimulatedLoop(0, AwayTimes(1.0, 0.01, 0.5), chance_of(2)).away_within(0.0, 10_000.0)
    assert len(away) == pytest.approx(10_000 / 1.0113, rel=0.05)
    lengths = sorted(each.length_s for each in away)
    assert lengths[len(lengths) // 2] == pytest.approx(0.01, rel=0.05)


def test_a_loop_that_is_never_away() -> None:
    assert SimulatedLoop(0, None, chance_of(3)).away_within(0.0, 1e6) == []
    assert Away(1.0, 3.0).length_s == 2.0


def test_the_loops_see_their_own_stalls() -> None:
    generator = generator_of("stalling-tester", period="1s", length="3ms", **ALMOST_FIXED)
    watched = run(generator, plan_of(load_stream(1e5), probe_stream(), duration_s=100.0))
    check(watched)
    for worker in watched.report.workers:
        assert 60 <= worker.stalls <= 140
        assert worker.worst_stall_ns == pytest.approx(3e6, rel=0.01)
        assert worker.stalled_ns == pytest.approx(worker.stalls * 3e6, rel=0.01)
        assert worker.gaps.max_ns == worker.worst_stall_ns
        assert len(worker.longest) == min(64, worker.stalls)
    for number in (0, 1):
        counts = [interval.workers[number] for interval in watched.intervals]
        assert sum(each.stalls for each in counts) == watched.report.workers[number].stalls
        for each, interval in zip(counts, watched.intervals, strict=True):
            assert len(each.longest) == each.stalls
            assert all(interval.begin_s < s.at_s <= interval.end_s for s in each.longest)


def test_a_sender_that_was_away_skips_what_is_too_late_and_sends_the_rest_at_once() -> None:
    generator = generator_of("stalling-tester", period="1s", length="3ms", **ALMOST_FIXED)
    watched = run(generator, plan_of(load_stream(1e5), probe_stream(), duration_s=100.0))
    sending = [each for each in watched.intervals if each.phase == "send"]
    stalls = sum(interval.workers[0].stalls for interval in sending)
    total = watched.total(0)
    # Of 3 ms each, all but the 1 ms that the plan lets it catch up on.
    assert total.skipped == pytest.approx(stalls * 200, abs=stalls)
    assert total.sent + total.skipped == pytest.approx(1e7, abs=400)
    late = watched.total(1).lateness
    assert late.max_ns is not None
    assert late.max_ns > 500_000
    assert late.count == watched.total(1).sent


def test_what_comes_while_the_receiver_is_away_waits_or_is_lost_and_is_excused() -> None:
    # 20 ms at 400 kpps are 8,000 frames; the tester's queue has room for 4,096.
    generator = generator_of("stalling-tester", period="5s", length="20ms", **ALMOST_FIXED)
    plan = plan_of(load_stream(4e5), duration_s=100.0)
    watched = run(generator, plan)
    check(watched)
    stalls = watched.report.workers[1].stalls
    assert stalls > 5
    assert watched.lost(0) == pytest.approx(stalls * (8000 - 4096), rel=0.01)
    assert watched.total(0).latency_across_stalls.count == pytest.approx(stalls * 4096, rel=0.01)
    assert watched.total(0).latency_across_stalls.max_ns == pytest.approx(20e6, rel=0.01)
    excuses = StallExcuses(plan.streams, "wire", 4096)
    for interval in watched.intervals:
        excuses.add(interval)
    # But for what a stall of the sender did not send meanwhile.
    assert excuses.unexcused(0) <= 0.002 * watched.lost(0)


def test_a_quiet_tester_has_no_stalls() -> None:
    watched = run(generator_of("fixed-capacity"), plan_of(load_stream(1e5), probe_stream()))
    for worker in watched.report.workers:
        assert (worker.stalls, worker.worst_stall_ns, worker.longest) == (0, 0, ())
        assert worker.gaps.max_ns is not None
        assert worker.gaps.max_ns < 20_000
    assert watched.total(0).skipped == 0
