"""The whole search, on a DUT of a few lines and on told nonsense."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.search.evidence.trial_evidence import LatencyPeak, LossSample, TrialEvidence
from plimsoll.search.load_line.plan import GoalPlan, LoadLinePlan
from plimsoll.search.load_line.search import LoadLineSearch
from plimsoll.search.strategy.ask import Ask, Finished, JudgedVerdict, RecordedTrial, Told, replay
from tests.unit.record.trials.evidence import no_loss
from tests.unit.search.load_line.fluid_dut import FluidDut, search_all
from tests.worded.says import Says


def _plan(
    *,
    minimum_pps: float = 10_000,
    maximum_pps: float = 2e6,
    goals: tuple[GoalPlan, ...] = (GoalPlan("load-line", 0.0),),
    retries: int = 3,
    validation_retries: int = 3,
) -> LoadLinePlan:
    return LoadLinePlan(
        minimum_pps=minimum_pps,
        maximum_pps=maximum_pps,
        width=0.005,
        duration_s=2.0,
        watch_s=60.0,
        validation_s=10_800.0,
        bursts=True,
        confidence=0.95,
        retries=retries,
        validation_retries=validation_retries,
        attempts=20,
        goals=goals,
    )


def test_a_plain_capacity_takes_three_trials_a_second_look_and_the_validation() -> None:
    """The second look, after a rest, is at the load just above, which came after an overload."""
    finished, _, asks = search_all(LoadLineSearch(_plan()), FluidDut())
    assert [each.phase for each in asks] == ["search"] * 5 + ["validation"]
    assert asks[3].load_pps == 10_000
    assert asks[4].load_pps == asks[2].load_pps
    assert finished.first.load_line_pps is not None
    assert 995_000 <= finished.first.load_line_pps <= 1e6
    assert finished.first.limited_by == "dut"


def test_a_dut_that_carries_all_is_validated_at_the_maximum() -> None:
    finished, _, asks = search_all(LoadLineSearch(_plan()), FluidDut(capacity_pps=3e6))
    assert [each.phase for each in asks] == ["search", "validation"]
    assert finished.first.load_line_pps == 2e6
    assert finished.first.limited_by == "maximum"


def test_with_stalls_the_line_is_buffer_by_longest_stall_and_says_so() -> None:
    """Stalls of 2 ms ± 20 % each 5 s, 1000 frames of buffer: 1000 ÷ 2.4 ms is 417 kpps."""
    dut = FluidDut(period_s=5.0, stall_s=2e-3, jitter=0.2)
    finished, told, asks = search_all(LoadLineSearch(_plan()), dut)
    load = finished.first.load_line_pps
    assert load is not None
    assert 0.95 * 1000 / 2.4e-3 <= load <= 1000 / 2.4e-3
    assert any("its buffer holds 1,0" in note for note in finished.first.notes)
    # Short trials showed it, and it was foretold from watching before anything was validated.
    assert [each.phase for each in asks][-3:] == ["watch", "watch", "validation"]
    assert told[-1].told.verdict() == "pass"


def test_named_stalls_end_at_the_same_line_and_the_end_names_their_cause(says: Says) -> None:
    """Every 37 s for 3 to 9 ms, 1000 frames of buffer: 1000 ÷ 9 ms is 111 kpps."""
    dut = FluidDut(period_s=37.0, stall_s=6e-3, jitter=0.5, cause="logrotate")
    finished, told, _ = search_all(LoadLineSearch(_plan()), dut)
    load = finished.first.load_line_pps
    assert load is not None
    assert 0.93 * 1000 / 9e-3 <= load <= 1.01 * 1000 / 9e-3
    limited, cause, _ = finished.first.notes
    assert limited == says("1,001", "95", "3h00m", "9.007")
    assert cause == says("100", "logrotate", "1", "37s")
    _replays_from_anywhere(_plan(), told, len(told) // 2)


def test_the_end_states_the_rules_that_chose_the_trials(says: Says) -> None:
    finished, _, _ = search_all(LoadLineSearch(_plan()), FluidDut())
    assert finished.first.notes[-1] == says("3", "1")


def test_a_goal_that_tolerates_loss_is_found_above_the_one_that_does_not() -> None:
    """A fiftieth of the load lost is 1 ÷ 0.98 times the capacity."""
    goals = (GoalPlan("ndr", 0.0), GoalPlan("pdr", 0.02))

    class Both(FluidDut):
        def answer(self, asked: Ask) -> Told:
            told = super().answer(asked)
            ratio = told.evidence.loss_ratio
            verdicts: dict[str, JudgedVerdict] = {
                "ndr": "fail" if ratio > 0 else "pass",
                "pdr": "fail" if ratio > 0.02 else "pass",
            }
            broken = {name: ("loss-ratio",) for name, each in verdicts.items() if each == "fail"}
            return Told(verdicts, told.evidence, broken)

    finished, _, _ = search_all(LoadLineSearch(_plan(goals=goals)), Both())
    ndr, pdr = (end.load_line_pps for end in finished.ends)
    assert ndr is not None
    assert pdr is not None
    assert 995_000 <= ndr <= 1e6
    assert 1e6 / 0.98 * 0.99 <= pdr <= 1e6 / 0.98


def test_a_latency_bound_is_found_by_bisection() -> None:
    """Above 300 kpps the latency is too long, and no loss says so."""

    class Slow(FluidDut):
        def answer(self, asked: Ask) -> Told:
            told = super().answer(asked)
            if asked.load_pps <= 300_000:
                return told
            return Told({asked.goal: "fail"}, told.evidence, {asked.goal: ("latency-p99",)})

    finished, _, _ = search_all(LoadLineSearch(_plan()), Slow())
    load = finished.first.load_line_pps
    assert load is not None
    assert 300_000 * 0.99 <= load <= 300_000


def test_a_dut_that_carries_nothing_ends_at_the_minimum(says: Says) -> None:
    finished, _, asks = search_all(LoadLineSearch(_plan()), FluidDut(capacity_pps=100))
    assert finished.first.load_line_pps is None
    assert finished.first.reason == says("10")
    assert asks[-1].load_pps == 10_000


def test_an_invalid_trial_is_asked_for_again_and_moves_nothing() -> None:
    search = LoadLineSearch(_plan())
    first = search.ask()
    assert isinstance(first, Ask)
    search.tell(_told(first, "invalid"))
    again = search.ask()
    assert isinstance(again, Ask)
    assert (again.load_pps, again.attempt) == (first.load_pps, 2)


def test_what_the_tester_cannot_test_is_the_testers_ceiling() -> None:
    class Weak(FluidDut):
        def answer(self, asked: Ask) -> Told:
            return super().answer(asked) if asked.load_pps < 5e5 else _told(asked, "invalid")

    finished, _, _ = search_all(LoadLineSearch(_plan(retries=1)), Weak())
    assert finished.first.limited_by == "tester"
    assert finished.first.load_line_pps == pytest.approx(5e5, rel=0.01)


def test_validations_that_stay_invalid_end_the_search(says: Says) -> None:
    class Noisy(FluidDut):
        def answer(self, asked: Ask) -> Told:
            return _told(asked, "invalid") if asked.phase == "validation" else super().answer(asked)

    finished, _, asks = search_all(LoadLineSearch(_plan(validation_retries=1)), Noisy())
    assert finished.first.load_line_pps is None
    assert finished.first.reason == says("2")
    assert [each.attempt for each in asks if each.phase == "validation"] == [1, 2]


def test_a_tester_that_cannot_test_anything_gives_up(says: Says) -> None:
    class Broken(FluidDut):
        def answer(self, asked: Ask) -> Told:
            return _told(asked, "invalid")

    finished, _, asks = search_all(LoadLineSearch(_plan(retries=0)), Broken())
    assert finished.first.reason == says("10")
    # Four loads, and then the minimum.
    assert len(asks) == 5
    assert asks[-1].load_pps == 10_000


def test_a_finished_search_takes_no_more() -> None:
    search = LoadLineSearch(_plan())
    _, told, _ = search_all(search, FluidDut())
    with pytest.raises(RuntimeError):
        search.tell(told[0].told)


@given(st.floats(20_000, 1.9e6), st.floats(64, 100_000))
def test_a_monotone_duts_capacity_is_found_within_the_width(capacity: float, buffer: float) -> None:
    dut = FluidDut(capacity_pps=capacity, buffer=buffer)
    finished, _, _ = search_all(LoadLineSearch(_plan()), dut)
    load = finished.first.load_line_pps
    assert load is not None
    # What the buffer holds is carried beside the capacity.
    assert capacity * (1 - 0.011) <= load <= capacity + buffer / 10_800 + 1


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.3, 0.9]))
@example(seed=2054, passing=0.3)
def test_any_answers_end_and_no_load_is_reported_that_no_validation_passed(
    seed: int, passing: float
) -> None:
    plan = _plan(goals=(GoalPlan("a", 0.0), GoalPlan("b", None), GoalPlan("c", 0.01)))
    search = LoadLineSearch(plan)
    chance = random.Random(seed)  # noqa: S311
    passed: dict[str, set[float]] = {"a": set(), "b": set(), "c": set()}
    told: list[RecordedTrial] = []
    for _ in range(2000):
        asked = search.ask()
        if isinstance(asked, Finished):
            break
        assert plan.minimum_pps <= asked.load_pps <= plan.maximum_pps
        answer = _nonsense(asked, chance, passing)
        told.append(RecordedTrial(asked.phase, asked.load_pps, answer))
        if asked.phase == "validation":
            for goal, loads in passed.items():
                if answer.verdict(goal) == "pass":
                    loads.add(asked.load_pps)
        search.tell(answer)
    assert isinstance(asked, Finished)
    for end in asked.ends:
        assert end.load_line_pps is None or end.load_line_pps in passed[end.goal]
    _replays_from_anywhere(plan, told, chance.randrange(len(told) + 1))


def _replays_from_anywhere(plan: LoadLinePlan, told: list[RecordedTrial], cut: int) -> None:
    again = replay(LoadLineSearch(plan), told[:cut])
    for each in told[cut:]:
        asked = again.ask()
        assert isinstance(asked, Ask)
        assert (asked.phase, asked.load_pps) == (each.phase, each.load_pps)
        again.tell(each.told)
    assert isinstance(again.ask(), Finished)


def _told(asked: Ask, verdict: JudgedVerdict) -> Told:
    evidence = no_loss(sending_s=asked.duration_s)
    return Told({asked.goal: verdict}, evidence, {asked.goal: ()})


def _nonsense(asked: Ask, chance: random.Random, passing: float) -> Told:
    """Verdicts and evidence that have nothing to do with the load, nor with each other."""

    def verdict() -> JudgedVerdict:
        if chance.random() < passing:
            return "pass"
        return chance.choice(["pass", "fail", "fail", "invalid"])

    intervals = chance.randrange(1, 20)
    interval_s = asked.duration_s / intervals
    lossy = sorted(chance.sample(range(intervals), chance.randrange(intervals + 1)))
    offered = max(1, int(asked.load_pps * asked.duration_s))
    each = chance.randrange(1, 2 + offered // intervals)
    lost = each * len(lossy)
    highest_ns = int(10 ** chance.uniform(4, 10))
    known = chance.random() < 0.8
    evidence = TrialEvidence(
        sending_s=asked.duration_s,
        intervals=intervals,
        offered=offered,
        lost=lost,
        loss_ratio=min(1.0, lost / offered),
        forwarded_pps=asked.load_pps * (1 - min(1.0, lost / offered)),
        first_loss_s=lossy[0] * interval_s if lossy else None,
        lossy_intervals=len(lossy),
        losses=tuple(
            LossSample(begin_s=at * interval_s, end_s=(at + 1) * interval_s, frames=each)
            for at in lossy
        ),
        min_ns=1000 if known else None,
        p50_ns=chance.randrange(1000, 2000 + highest_ns) if known else None,
        p99_ns=highest_ns if known else None,
        max_ns=highest_ns if known else None,
        latency_growth=chance.choice([None, 0.0, chance.uniform(-1e6, 1e7)]),
        peaks=tuple(
            LatencyPeak(at_s=at * interval_s, max_ns=chance.randrange(1000, 2000 + highest_ns))
            for at in range(intervals)
        )
        if known
        else (),
    )
    rule = chance.choice(["loss-ratio", "latency-p99"])
    verdicts = {goal: verdict() for goal in ("a", "b", "c")}
    return Told(verdicts, evidence, dict.fromkeys(verdicts, (rule,)))
