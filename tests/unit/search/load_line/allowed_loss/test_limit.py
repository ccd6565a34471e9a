"""What trials of a DUT that is away now and then say of a goal that allows some loss."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from plimsoll.search.load_line.allowed_loss.allowed_loss_limit import (
    allowed_loss_limit,
    allowed_phases_limit,
    terms_of,
)
from plimsoll.search.load_line.goal_record import GoalRecord
from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.plan import GoalPlan, LoadLinePlan
from plimsoll.search.load_line.search import LoadLineSearch
from plimsoll.search.load_line.stalls.stall_limit import stall_limit
from plimsoll.search.load_line.tried import Tried
from plimsoll.search.strategy.ask import Phase
from tests.unit.search.load_line.fluid_dut import FluidDut, search_all
from tests.unit.search.load_line.trials import tried
from tests.worded.says import Says

ALLOWED = 2e-5
GOAL = GoalPlan("load-line", ALLOWED)
PLAN = LoadLinePlan(
    minimum_pps=1e4,
    maximum_pps=2e6,
    width=0.005,
    duration_s=2.0,
    watch_s=60.0,
    validation_s=10_800.0,
    bursts=True,
    confidence=0.95,
    retries=3,
    validation_retries=3,
    attempts=20,
    goals=(GOAL,),
)
LOAD_PPS, BUFFER = 3e5, 1000.0


def _watch(seconds: int = 900, every: int = 9, phase: Phase = "watch") -> Tried:
    """Away for 3 to 9 ms every so many s; what a buffer of 1000 frames does not hold is lost."""
    chance = random.Random(4)  # noqa: S311 - a simulation
    lengths_s = {at: chance.uniform(3e-3, 9e-3) for at in range(5, seconds, every)}
    peaks_ns = {at: round(length * 1e9) for at, length in lengths_s.items()}
    losses = {
        at: round(LOAD_PPS * length - BUFFER)
        for at, length in lengths_s.items()
        if LOAD_PPS * length > BUFFER + 1.0
    }
    others_ns = {at: 1000 for at in range(seconds) if at not in peaks_ns}
    return tried(
        LOAD_PPS,
        seconds,
        peaks_ns=dict(sorted((peaks_ns | others_ns).items())),
        losses=losses,
        phase=phase,
    )


def _overloaded() -> Tried:
    """A megapacket a second is carried, and 1000 frames wait all the time."""
    return tried(
        2e6,
        2,
        intervals=10,
        peaks_ns=dict.fromkeys(range(10), 1_000_000),
        losses=dict.fromkeys(range(10), 200_000),
        p50_ns=1_010_000,
        p99_ns=1_010_000,
        phase="search",
    )


def _knowledge(*trials: Tried, plan: LoadLinePlan = PLAN) -> Knowledge:
    knowledge = Knowledge(plan)
    for each in trials:
        knowledge.learn(each)
    return knowledge


def _load(knowledge: Knowledge, allowed: float) -> float:
    limit = allowed_loss_limit(knowledge, allowed, 1e6)
    assert limit is not None
    assert limit.kind == "stalls"
    return limit.load_pps


def test_with_no_loss_allowed_it_is_the_forecast_for_no_loss() -> None:
    knowledge = _knowledge(_overloaded(), _watch())
    assert allowed_loss_limit(knowledge, 0.0, 1e6) == stall_limit(knowledge)


def test_the_more_is_allowed_the_higher_from_that_forecast_on() -> None:
    knowledge = _knowledge(_overloaded(), _watch())
    no_loss = stall_limit(knowledge)
    assert no_loss is not None
    loads = [_load(knowledge, allowed) for allowed in (1e-9, 2e-5, 2e-4)]
    assert loads == sorted(loads)
    assert no_loss.load_pps <= loads[0] < 1.03 * no_loss.load_pps
    assert loads[-1] > 1.5 * no_loss.load_pps


def test_it_says_how_much_may_be_lost(says: Says) -> None:
    limit = allowed_loss_limit(_knowledge(_overloaded(), _watch()), ALLOWED, 1e6)
    assert limit is not None
    frames = ALLOWED * limit.load_pps * PLAN.validation_s
    assert limit.text == says("0.002", f"{frames:,.0f}")


def test_where_all_that_absences_lose_is_allowed_they_are_no_limit() -> None:
    assert allowed_loss_limit(_knowledge(_overloaded(), _watch()), 0.01, 9e5) is None


def test_windows_of_a_validation_are_harder_to_keep_to_than_the_whole() -> None:
    windows = replace(PLAN, window_s=300.0)
    trials = (_overloaded(), _watch())
    assert terms_of(windows, ALLOWED).pieces == 36.0
    assert _load(_knowledge(*trials, plan=windows), 1e-4) < _load(_knowledge(*trials), 1e-4)
    # One is all of a short validation, which is judged as a whole.
    short = replace(windows, validation_s=500.0)
    assert terms_of(short, ALLOWED).pieces == 1.0


def test_a_stall_that_fails_a_watch_bars_no_load_of_a_goal_that_allows_some_loss() -> None:
    """What a minute loses by one stall may be little of hours."""
    knowledge = _knowledge(_overloaded())
    record = GoalRecord(GOAL, knowledge)
    record.learn(_overloaded(), 1)
    watch = _watch()
    knowledge.learn(watch)
    record.learn(watch, 2)
    assert record.watches == 1
    assert record.watch_limit is None
    assert record.bracket.carried(LOAD_PPS)


def test_a_failed_validation_says_by_its_stalls_how_far_down(says: Says) -> None:
    failed = _watch(2400, 4, "validation")
    knowledge = _knowledge(_overloaded())
    record = GoalRecord(GOAL, knowledge)
    knowledge.learn(failed)
    record.learn(failed, 1)
    assert record.failure_limit is not None
    assert record.failure_limit.text == says("300", "5s")
    assert record.failure_limit.load_pps == pytest.approx(LOAD_PPS, rel=0.005)
    assert _load(knowledge, ALLOWED) < 0.95 * LOAD_PPS


def _sustained_pps(allowed: float, period_s: float) -> float:
    """Lengths are even from 3 to 9 ms: by the normal distribution, of so many in three hours."""
    count = PLAN.validation_s / period_s

    def fits(load_pps: float) -> bool:
        beyond_s = 9e-3 - max(3e-3, BUFFER / load_pps)
        mean = load_pps * beyond_s**2 / 2.0 / 6e-3
        square = load_pps**2 * beyond_s**3 / 3.0 / 6e-3
        spread = 1.645 * math.sqrt(count * (square - mean**2))
        return count * mean + spread <= allowed * load_pps * PLAN.validation_s

    low, high = BUFFER / 9e-3, BUFFER / 3e-3
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@pytest.mark.parametrize("allowed", [5e-6, 2e-5])
def test_a_stall_every_37_s_is_no_more_than_what_it_loses_of_hours(
    allowed: float, says: Says
) -> None:
    dut = FluidDut(period_s=37.0, stall_s=6e-3, jitter=0.5, tolerance=allowed)
    plan = replace(PLAN, goals=(GoalPlan("load-line", allowed),))
    finished, _, asks = search_all(LoadLineSearch(plan), dut)
    load_pps = finished.first.load_line_pps
    assert load_pps is not None
    assert 0.93 < load_pps / _sustained_pps(allowed, 37.0) < 1.02
    assert sum(each.phase == "validation" for each in asks) <= 3
    assert finished.first.notes[0] == says()


def test_slow_phases_may_take_the_share_of_time_that_their_losses_are_allowed() -> None:
    """Every 600 s, 2 s in which 400 of 500 kpps are left: at 410 kpps that loses 8e-5."""
    peak_ns, lost = 2_500_000, 100_000 * 2 - 1000
    phases = range(100, 3600, 600)
    watch = tried(
        5e5,
        3600,
        peaks_ns=dict(
            sorted(
                (
                    dict.fromkeys(range(3600), 1000)
                    | dict.fromkeys(phases, peak_ns)
                    | dict.fromkeys((at + 1 for at in phases), peak_ns)
                ).items()
            )
        ),
        losses=dict(
            sorted(
                (
                    dict.fromkeys(phases, lost // 2)
                    | dict.fromkeys((at + 1 for at in phases), lost // 2)
                ).items()
            )
        ),
    )
    knowledge = _knowledge(_overloaded(), watch)
    assert knowledge.is_explained_by_phases(watch)
    limit = allowed_phases_limit(knowledge, 1e-4)
    assert limit is not None
    # 1 / 300 of the time, and of 18 in the mean no more than 25 with 95 %.
    mean_pps = 400e3 / (1.0 - 1e-4 * 300.0)
    likely_pps = 400e3 / (1.0 - 1e-4 * 300.0 * 18.0 / 26.0)
    assert likely_pps * 0.97 < limit.load_pps < mean_pps
    assert limit.load_pps > 400e3
