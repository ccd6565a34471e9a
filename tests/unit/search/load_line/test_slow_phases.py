"""Whole searches on DUTs that serve more slowly now and then."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from plimsoll.search.evidence.trial_evidence import LatencyPeak, LossSample, TrialEvidence
from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.overload import Spent
from plimsoll.search.load_line.plan import GoalPlan, LoadLinePlan
from plimsoll.search.load_line.search import LoadLineSearch
from plimsoll.search.load_line.slow_phases.overlap import PhasesSeen
from plimsoll.search.load_line.slow_phases.slow_phase_limit import slow_phase_limit
from plimsoll.search.strategy.ask import Ask, Finished, Told
from tests.unit.search.load_line.trials import MIN_NS, tried
from tests.worded.says import Says

CAPACITY, BUFFER = 1e6, 4096.0


def _plan(budget_s: float | None = None) -> LoadLinePlan:
    return LoadLinePlan(
        minimum_pps=10_000,
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
        goals=(GoalPlan("load-line", 0.0),),
        budget_s=budget_s,
    )


@dataclass
class SlowDut:
    """Serves 70 % for 10 s of each 200 s; with `hot_pps`, only above that load, and to its end.

    Then it stays slow until it has rested for `cooling_s`.
    """

    hot_pps: float | None = None
    heating_s: float = 600.0
    cooling_s: float = 300.0
    left: float = 0.7
    heat_s: float = 0.0
    throttled: bool = False
    now_s: float = 0.0

    def answer(self, asked: Ask) -> Told:
        """Run a trial in steps of a second, or tenths of a short one."""
        step_s = 1.0 if asked.duration_s >= 10 else asked.duration_s / 10
        queue, steps = 0.0, round(asked.duration_s / step_s)
        losses: list[LossSample] = []
        waits: list[float] = []
        for number in range(steps):
            served = CAPACITY * (self.left if self._is_slow(asked.load_pps, step_s) else 1.0)
            queue = max(0.0, queue + (asked.load_pps - served) * step_s)
            lost = max(0.0, queue - BUFFER)
            queue = min(queue, BUFFER)
            waits.append(queue / served)
            if lost >= 1:
                begin_s = number * step_s
                losses.append(LossSample(begin_s=begin_s, end_s=begin_s + step_s, frames=int(lost)))
            if asked.early_abort and len(losses) > 1:
                break
        return _told(asked, step_s, losses, waits)

    def _is_slow(self, load_pps: float, step_s: float) -> bool:
        self.now_s += step_s
        if self.hot_pps is None:
            return self.now_s % 200.0 > 190.0
        if load_pps > self.hot_pps:
            self.heat_s = min(self.heating_s, self.heat_s + step_s)
        else:
            self.heat_s = max(0.0, self.heat_s - step_s * self.heating_s / self.cooling_s)
        if self.heat_s in (0.0, self.heating_s):
            self.throttled = self.heat_s > 0.0
        return self.throttled


def _told(asked: Ask, step_s: float, losses: list[LossSample], waits: list[float]) -> Told:
    sending_s = len(waits) * step_s
    lost, offered = sum(each.frames for each in losses), int(asked.load_pps * sending_s)
    ns = [MIN_NS + round(each * 1e9) for each in waits]
    ranked = sorted(ns)
    peaks = sorted(enumerate(ns), key=lambda each: -each[1])[:64]
    evidence = TrialEvidence(
        sending_s=sending_s,
        intervals=len(waits),
        offered=offered,
        lost=lost,
        loss_ratio=lost / offered,
        forwarded_pps=(offered - lost) / sending_s,
        first_loss_s=losses[0].begin_s if losses else None,
        lossy_intervals=len(losses),
        losses=tuple(losses[:128] + sorted(losses[128:], key=lambda each: each.frames)[-128:]),
        min_ns=MIN_NS,
        p50_ns=ranked[len(ranked) // 2],
        p99_ns=ranked[len(ranked) * 99 // 100],
        max_ns=ranked[-1],
        latency_growth=None,
        peaks=tuple(LatencyPeak(at_s=at * step_s, max_ns=each) for at, each in sorted(peaks)),
    )
    rules = ("loss-ratio",) if lost else ()
    return Told({asked.goal: "fail" if lost else "pass"}, evidence, {asked.goal: rules})


def _searched(dut: SlowDut, plan: LoadLinePlan) -> tuple[Finished, list[tuple[Ask, bool]]]:
    search, done = LoadLineSearch(plan), list[tuple[Ask, bool]]()
    for _ in range(300):
        asked = search.ask()
        if isinstance(asked, Finished):
            return asked, done
        told = dut.answer(asked)
        done.append((asked, told.verdict() == "pass"))
        search.tell(told)
    raise AssertionError("the search does not end")


def test_slow_phases_are_no_stalls_and_the_line_is_what_they_leave() -> None:
    """700 kpps are left for 10 s of each 200: nothing above that holds for hours."""
    finished, done = _searched(SlowDut(), _plan())
    load = finished.first.load_line_pps
    assert load is not None
    assert 0.97 * 700_000 <= load <= 700_410
    assert sum(ask.phase == "validation" and passed for ask, passed in done) == 1
    assert any("forwards only 70" in note for note in finished.first.notes)
    assert not any("stalls of the DUT" in note for note in finished.first.notes)


def test_what_heat_throttles_is_rested_and_found_below_the_load_that_heats() -> None:
    """Above 900 kpps it is throttled to 700 after ten minutes; below never."""
    finished, done = _searched(SlowDut(hot_pps=900_000), _plan())
    load = finished.first.load_line_pps
    assert load is not None
    assert 0.95 * 900_000 <= load <= 900_000
    assert sum(ask.phase == "validation" and passed for ask, passed in done) == 1


@pytest.mark.parametrize("budget_h", [3.05, 3.5, 6.0])
def test_a_budget_is_kept_and_the_end_says_so_where_it_ended_the_search(
    budget_h: float, says: Says
) -> None:
    dut = SlowDut(hot_pps=900_000)
    finished, _ = _searched(dut, _plan(budget_s=budget_h * 3600))
    assert dut.now_s <= budget_h * 3600
    if finished.first.load_line_pps is None:
        assert finished.first.reason == says("3h03m", "11m07s")


def _at_once(phases: PhasesSeen, at_random: float = 1.0) -> int:
    return phases.at_once(10_800, 0.95, phases.odds_of_overlap(at_random))


def test_many_short_phases_without_an_overlap_are_borne_one_at_a_time() -> None:
    assert _at_once(PhasesSeen(400, 10.0, 80_000.0)) == 1


def test_long_phases_of_which_few_were_seen_may_come_together() -> None:
    """One an hour, of forty minutes: the next will likely begin before it has ended."""
    assert _at_once(PhasesSeen(2, 2400.0, 7200.0)) > 1


def test_what_something_else_than_chance_sets_off_does_not_come_together() -> None:
    assert _at_once(PhasesSeen(2, 2400.0, 7200.0), at_random=0.01) == 1


def test_that_a_single_phase_may_have_others_beside_it_is_survived_by_itself() -> None:
    """One of half an hour after an hour: three an hour or one in three hours, who knows."""
    once = PhasesSeen(1, 1800.0, 3600.0)
    assert once.at_once(10_800, 0.95, 0.13) == once.at_once(10_800, 0.95, 1.0) > 1
    assert once.at_once(10_800, 0.95, 0.04) == 1


def test_of_several_phases_that_met_no_other_the_odds_decide() -> None:
    several = PhasesSeen(4, 1800.0, 14_400.0)
    assert several.at_once(10_800, 0.95, 0.03) == 1
    assert several.at_once(10_800, 0.95, 0.13) < several.at_once(10_800, 0.95, 1.0)


def test_how_often_few_phases_come_is_not_taken_for_known() -> None:
    """The same rate, known by one phase and by a hundred."""
    few, many = PhasesSeen(1, 1200.0, 3600.0), PhasesSeen(100, 1200.0, 360_000.0)
    assert few.at_once(10_800, 0.95, 1.0) > many.at_once(10_800, 0.95, 1.0)


def test_a_spent_dut_rests_twice_as_long_each_time_and_next_time_as_long_as_it_took() -> None:
    spent = Spent()
    assert spent.next() is None
    spent.begin(9e5)
    rests = list[float]()
    for _ in range(2):
        assert spent.next() == ("check", 9e5)
        assert spent.judge(tried(9e5, 2, losses={0: 9}), is_overloaded=True)
        step = spent.next()
        assert step is not None
        assert step[0] == "rest"
        rests.append(step[1])
        assert not spent.judge(tried(1e4, step[1]), is_overloaded=False)
    assert rests == [60.0, 120.0]
    assert spent.next() == ("check", 9e5)
    assert not spent.judge(tried(9e5, 2), is_overloaded=False)
    assert spent.next() is None
    spent.begin(9e5)
    assert spent.next() == ("check", 9e5)
    spent.judge(tried(9e5, 2, losses={0: 9}), is_overloaded=True)
    assert spent.next() == ("rest", 180.0)


def test_a_dut_that_did_not_come_back_in_an_hour_is_waited_for_once_the_next_time() -> None:
    spent = Spent()
    assert _rests_in_vain(spent) == [60.0, 120.0, 240.0, 480.0, 960.0, 1920.0]
    assert _rests_in_vain(spent) == [60.0]


def _rests_in_vain(spent: Spent) -> list[float]:
    spent.begin(9e5)
    rests = list[float]()
    while (step := spent.next()) is not None:
        what, value = step
        if what == "rest":
            rests.append(value)
            spent.judge(tried(1e4, value), is_overloaded=False)
        else:
            spent.judge(tried(9e5, 2, losses={0: 9}), is_overloaded=True)
    return rests


def _limit_after_one_phase(left_pps: float, came_s: int) -> float:
    """One phase of 15 minutes at 1 Mpps; 960 kpps had none for three hours."""
    full_ns = round(BUFFER / left_pps * 1e9)
    phase = range(came_s, came_s + 900)
    knowledge = Knowledge(_plan())
    overload = dict.fromkeys(range(2), 1_000_000)
    waits_ns = {"p50_ns": 4_096_000, "p99_ns": 4_096_000}
    knowledge.learn(tried(2e6, 2, losses=overload, phase="search", **waits_ns))
    knowledge.learn(
        tried(
            1e6,
            5400,
            losses=dict.fromkeys(phase, round(1e6 - left_pps)),
            peaks_ns=dict.fromkeys(phase, full_ns),
            p99_ns=full_ns,
        )
    )
    knowledge.learn(tried(960_000, 10_800, phase="validation"))
    limit = slow_phase_limit(knowledge)
    assert limit is not None
    return limit.load_pps


def test_hours_without_a_phase_are_believed_sooner_where_phases_leave_far_less() -> None:
    """Where 960 kpps pass again by 0.91, 30 % are too much to forgo; by 0.92, 3 % are not."""
    assert _limit_after_one_phase(700_000, came_s=600) == pytest.approx(960_000)
    assert _limit_after_one_phase(930_000, came_s=3600) == pytest.approx(930_000, rel=0.01)
