"""Checkpoints: told verdicts, never run; DUTs are functions of what is asked."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.checkpoints.search import CheckpointPlan, CheckpointSearch
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Finished, GoalEnd, JudgedVerdict
from plimsoll.search.strategy.question import TrialPolicy
from tests.unit.search.duts import carries, carries_by, check_resumes, judged, loads, run
from tests.worded.says import Says

CHECKPOINT = TrialPolicy("search", 5, retries=1, run_all_repetitions=True, is_validation=True)
VALIDATION = TrialPolicy("validation", 60, retries=1, is_validation=True)
LOADS = (1000.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0)
PLAN = CheckpointPlan(LOADS, CHECKPOINT, validation=None)
VALIDATED = replace(PLAN, validation=VALIDATION)


def test_every_checkpoint_is_measured_to_its_end_though_some_fail() -> None:
    _, _, asks = run(CheckpointSearch(PLAN), carries(15_000))
    assert asks == [Ask("search", load, 5, early_abort=False) for load in LOADS]


def test_the_load_line_is_the_highest_below_the_first_that_failed(says: Says) -> None:
    finished, _, _ = run(CheckpointSearch(PLAN), carries(25_000))
    reason = says()
    assert finished == Finished((GoalEnd(ONLY_GOAL, 20_000, reason, "dut", "search"),))


def test_where_all_pass_the_range_is_the_limit() -> None:
    finished, _, _ = run(CheckpointSearch(PLAN), carries(math.inf))
    assert (finished.first.load_line_pps, finished.first.limited_by) == (40_000, "maximum")


def test_the_first_may_fail() -> None:
    finished, _, _ = run(CheckpointSearch(VALIDATED), carries(999))
    assert finished == Finished.only(None, "the lowest checkpoint, 1 kpps, failed")


def test_each_is_repeated_even_after_a_failure() -> None:
    """The second of three trials at 10 kpps fails, and is enough to fail the load."""

    def dut(asked: Ask) -> JudgedVerdict:
        return "fail" if (asked.load_pps, asked.repetition) == (10_000, 2) else "pass"

    plan = replace(PLAN, loads_pps=LOADS[:2], checkpoint=replace(CHECKPOINT, repeat=3))
    finished, _, asks = run(CheckpointSearch(plan), judged(dut))
    assert [(each.load_pps, each.repetition) for each in asks] == [
        (load, repetition) for load in LOADS[:2] for repetition in (1, 2, 3)
    ]
    assert (finished.first.load_line_pps, finished.first.limited_by) == (1000, "dut")


def test_the_last_trial_of_a_checkpoint_is_final_without_a_validation() -> None:
    plan = replace(PLAN, loads_pps=LOADS[:1], checkpoint=replace(CHECKPOINT, repeat=2))
    _, _, asks = run(CheckpointSearch(plan), carries(math.inf))
    assert [each.comes_again for each in asks] == [True, False]


def test_a_load_that_passed_above_one_that_failed_is_irregular(says: Says) -> None:
    dut = judged(lambda asked: "fail" if asked.load_pps == 20_000 else "pass")
    finished, _, _ = run(CheckpointSearch(PLAN), dut)
    assert finished == Finished(
        (
            GoalEnd(
                ONLY_GOAL,
                10_000,
                says(),
                limited_by="dut",
                proved_by="search",
                irregular=True,
                notes=("20 kpps failed, though 30 kpps, 40 kpps passed",),
            ),
        )
    )


def test_what_the_tester_cannot_test_bars_what_is_above_it_but_is_no_failure() -> None:
    dut = judged(lambda asked: "invalid" if asked.load_pps == 30_000 else "pass")
    finished, _, asks = run(CheckpointSearch(PLAN), dut)
    assert [each.attempt for each in asks if each.load_pps == 30_000] == [1, 2]
    end = finished.first
    assert (end.load_line_pps, end.limited_by, end.irregular) == (20_000, "tester", False)


def test_a_tester_that_cannot_test_the_lowest_says_so(says: Says) -> None:
    finished, _, _ = run(CheckpointSearch(VALIDATED), judged(lambda _: "invalid"))
    assert finished == Finished.only(None, says("1 kpps"))


def test_an_invalid_repetition_after_a_failed_one_leaves_the_failure(says: Says) -> None:
    def dut(asked: Ask) -> JudgedVerdict:
        return "fail" if asked.repetition == 1 else "invalid"

    plan = replace(PLAN, checkpoint=replace(CHECKPOINT, repeat=2))
    finished, _, _ = run(CheckpointSearch(plan), judged(dut))
    assert finished.first.reason == says("1")


def test_a_failed_validation_is_followed_by_that_of_the_next_lower_checkpoint(says: Says) -> None:
    dut = carries_by(lambda asked: 12_000 if asked.phase == "validation" else 35_000)
    finished, _, asks = run(CheckpointSearch(VALIDATED), dut)
    assert asks[len(LOADS) :] == [Ask("validation", load, 60) for load in (30_000, 20_000, 10_000)]
    assert finished == Finished.only(10_000, says(), "dut")


def test_checkpoints_of_which_none_can_be_validated() -> None:
    dut = carries_by(lambda asked: 0 if asked.phase == "validation" else math.inf)
    finished, trials, _ = run(CheckpointSearch(VALIDATED), dut)
    assert loads(trials, "validation", "fail") == [40_000, 30_000, 20_000, 10_000, 1000]
    reason = "no load passed both its checkpoint and validation"
    assert finished == Finished.only(None, reason)


def test_a_failed_validation_below_the_maximum_is_the_duts_limit() -> None:
    """All checkpoints pass, the validation of the highest does not."""
    dut = carries_by(lambda asked: 30_000 if asked.phase == "validation" else math.inf)
    finished, _, _ = run(CheckpointSearch(VALIDATED), dut)
    assert (finished.first.load_line_pps, finished.first.limited_by) == (30_000, "dut")


def test_a_validation_that_stays_invalid_ends_the_search(says: Says) -> None:
    dut = judged(lambda asked: "invalid" if asked.phase == "validation" else "pass")
    finished, _, _ = run(CheckpointSearch(VALIDATED), dut)
    assert finished == Finished.only(
        None,
        says("2", "40 kpps"),
    )


def test_the_end_takes_no_more_verdicts() -> None:
    search = CheckpointSearch(PLAN)
    _, trials, _ = run(search, carries(math.inf))
    with pytest.raises(RuntimeError):
        search.tell(trials[-1].told)


_plans = st.builds(
    lambda loads_pps, repeat, validation: CheckpointPlan(
        tuple(sorted(loads_pps)), replace(CHECKPOINT, repeat=repeat), validation
    ),
    loads_pps=st.sets(st.floats(1, 1e8), min_size=1, max_size=12),
    repeat=st.integers(1, 3),
    validation=st.sampled_from([None, VALIDATION]),
)
_verdicts: st.SearchStrategy[JudgedVerdict] = st.sampled_from(["pass", "fail", "invalid"])


@given(_plans, st.floats(0, 2e8))
def test_of_a_monotone_dut_the_highest_checkpoint_that_it_carries_is_found(
    plan: CheckpointPlan, capacity: float
) -> None:
    end = run(CheckpointSearch(plan), carries(capacity))[0].first
    carried = [load for load in plan.loads_pps if load <= capacity]
    assert end.load_line_pps == max(carried, default=None)
    assert not end.irregular


@given(_plans, st.data())
def test_whatever_the_verdicts_it_ends_and_reports_only_what_passed(
    plan: CheckpointPlan, data: st.DataObject
) -> None:
    # Up to two attempts of each repetition, and of each load's validation.
    most = len(plan.loads_pps) * 2 * (plan.checkpoint.repeat + 1)
    dut = judged(lambda _: data.draw(_verdicts))
    finished, trials, _ = run(CheckpointSearch(plan), dut, most=most)
    assert {each.load_pps for each in trials} == set(plan.loads_pps)
    found = finished.first.load_line_pps
    if found is None:
        return
    below = [load for load in plan.loads_pps if load <= found]
    passed, failed = loads(trials, "search", "pass"), loads(trials, "search", "fail")
    assert all(passed.count(load) == plan.checkpoint.repeat for load in below)
    assert not set(failed) & set(below)
    if plan.validation is not None:
        assert loads(trials, "validation", "pass") == [found]


@given(_plans, st.data())
def test_it_resumes_by_replay_from_anywhere(plan: CheckpointPlan, data: st.DataObject) -> None:
    finished, trials, asks = run(CheckpointSearch(plan), judged(lambda _: data.draw(_verdicts)))
    after = data.draw(st.integers(0, len(trials)))
    assert check_resumes(lambda: CheckpointSearch(plan), trials, asks, after).ask() == finished
