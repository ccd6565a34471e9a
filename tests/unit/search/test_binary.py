"""Binary search: told verdicts, never run; DUTs are functions of the load."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.search.ask import Ask, Finished, Phase, RecordedTrial, replay
from plimsoll.search.binary import BinarySearch
from plimsoll.search.binary_settings import BinaryPlan
from plimsoll.trial.verdict import Verdict

Dut = Callable[[Ask], Verdict]


def _plan(
    *,
    minimum_pps: float = 1000,
    maximum_pps: float = 100_000,
    start_pps: float | None = None,
    granularity: float = 0.01,
    retries: int = 3,
    validation_retries: int = 3,
) -> BinaryPlan:
    return BinaryPlan(
        minimum_pps=minimum_pps,
        maximum_pps=maximum_pps,
        start_pps=maximum_pps if start_pps is None else start_pps,
        granularity=granularity,
        duration_s=5,
        retries=retries,
        validation_duration_s=60,
        validation_retries=validation_retries,
    )


def _run(plan: BinaryPlan, dut: Dut, most: int = 10_000) -> tuple[Finished, list[RecordedTrial]]:
    search, trials = BinarySearch(plan), list[RecordedTrial]()
    for _ in range(most):
        asked = search.ask()
        if isinstance(asked, Finished):
            return asked, trials
        verdict = dut(asked)
        trials.append(RecordedTrial(asked.phase, asked.load_pps, verdict))
        search.tell(verdict)
    raise AssertionError("the search does not end")


def _carries(capacity_pps: float) -> Dut:
    return lambda asked: "pass" if asked.load_pps <= capacity_pps else "fail"


def _loads(trials: list[RecordedTrial], phase: Phase, verdict: Verdict) -> list[float]:
    return [each.load_pps for each in trials if (each.phase, each.verdict) == (phase, verdict)]


def test_a_dut_that_carries_all_needs_one_trial_and_its_validation() -> None:
    finished, trials = _run(_plan(), _carries(math.inf))
    assert finished.load_line_pps == 100_000
    assert [(each.phase, each.load_pps) for each in trials] == [
        ("search", 100_000),
        ("validation", 100_000),
    ]


def test_the_bisection_by_hand() -> None:
    """Between 20 and 100 kpps at 25 %, with a capacity of 50 kpps."""
    plan = _plan(minimum_pps=20_000, granularity=0.25)
    finished, trials = _run(plan, _carries(50_000))
    assert [(each.phase, each.load_pps, each.verdict) for each in trials] == [
        ("search", 100_000, "fail"),
        ("search", 60_000, "fail"),
        ("search", 40_000, "pass"),
        # 60 - 40 kpps is more than a quarter of 60; 60 - 50 is not.
        ("search", 50_000, "pass"),
        ("validation", 50_000, "pass"),
    ]
    assert finished == Finished(50_000, "passed search and validation", "dut")


def test_from_a_start_below_the_maximum_it_goes_up_first() -> None:
    _, trials = _run(_plan(start_pps=30_000), _carries(math.inf))
    assert [each.load_pps for each in trials] == [30_000, 100_000, 100_000]


def test_nothing_passes() -> None:
    finished, trials = _run(_plan(), _carries(0))
    assert finished.load_line_pps is None
    assert finished.reason == "even at the minimum, 1 kpps, no trial passed"
    assert trials[-1] == RecordedTrial("search", 1000, "fail")


def test_a_minimum_that_passed_and_failed_its_validation_is_told_so() -> None:
    finished, trials = _run(_plan(), lambda asked: "pass" if asked.phase == "search" else "fail")
    assert trials[-1] == RecordedTrial("validation", 1000, "fail")
    assert finished.reason == (
        "no load passed both search and validation; even at the minimum, 1 kpps, validation failed"
    )


def test_a_validation_failed_above_the_minimum_is_not_blamed_for_it() -> None:
    """At the minimum itself the search trial fails."""

    def dut(asked: Ask) -> Verdict:
        passes = asked.phase == "search" and asked.load_pps > 1000
        return "pass" if passes else "fail"

    assert _run(_plan(), dut)[0].reason == "even at the minimum, 1 kpps, no trial passed"


def test_a_minimum_that_the_tester_cannot_test_is_told_so() -> None:
    plan = _plan(minimum_pps=5000, maximum_pps=5000, retries=0)
    finished, _ = _run(plan, lambda _: "invalid")
    assert finished.reason == "even at the minimum, 5 kpps, no trial could be tested"


def test_the_minimum_itself_can_be_the_answer() -> None:
    finished, _ = _run(_plan(), _carries(1000))
    assert finished.load_line_pps == 1000


def test_one_load_is_a_search_too() -> None:
    plan = _plan(minimum_pps=5000, maximum_pps=5000)
    assert _run(plan, _carries(5000))[0].load_line_pps == 5000
    assert _run(plan, _carries(4999))[0].load_line_pps is None


def test_durations_are_those_of_the_phase() -> None:
    search = BinarySearch(_plan())
    assert search.ask() == Ask("search", 100_000, 5, attempt=1)
    search.tell("pass")
    assert search.ask() == Ask("validation", 100_000, 60, attempt=1)


def test_after_a_failed_validation_the_search_goes_on_below_it() -> None:
    """Short trials pass up to 80 kpps, long ones up to 50."""

    def dut(asked: Ask) -> Verdict:
        capacity = 80_000 if asked.phase == "search" else 50_000
        return "pass" if asked.load_pps <= capacity else "fail"

    finished, trials = _run(_plan(), dut)
    assert finished.load_line_pps is not None
    assert finished.load_line_pps <= 50_000
    failed = _loads(trials, "validation", "fail")
    assert failed == sorted(failed, reverse=True)
    first_failure = trials.index(RecordedTrial("validation", failed[0], "fail"))
    assert all(each.load_pps < failed[0] for each in trials[first_failure + 1 :])


def test_an_invalid_trial_is_asked_for_again_and_moves_nothing() -> None:
    search = BinarySearch(_plan())
    search.tell("fail")
    before = search.ask()
    bounds = (search.lower_pps, search.upper_pps)
    search.tell("invalid")
    again = search.ask()
    assert isinstance(before, Ask)
    assert again == Ask(before.phase, before.load_pps, before.duration_s, attempt=2)
    assert (search.lower_pps, search.upper_pps) == bounds == (None, 100_000)


def test_a_validation_that_stays_invalid_ends_the_search() -> None:
    plan = _plan(validation_retries=1)
    finished, trials = _run(
        plan, lambda asked: "invalid" if asked.phase == "validation" else "pass"
    )
    assert len(_loads(trials, "validation", "invalid")) == 2
    assert finished == Finished(
        None,
        "2 validations in a row at 100 kpps were invalid: the tester could not tell whether "
        "the load holds",
    )


def test_what_the_tester_cannot_test_is_a_ceiling_and_no_bound() -> None:
    """The tester reaches 60 kpps; the DUT would carry anything."""
    finished, trials = _run(
        _plan(retries=2), lambda asked: "invalid" if asked.load_pps > 60_000 else "pass"
    )
    assert _loads(trials, "search", "invalid")[:3] == [100_000] * 3
    assert finished.load_line_pps is not None
    assert 59_000 <= finished.load_line_pps <= 60_000
    assert finished.limited_by == "tester"


def test_a_dut_limit_below_the_testers_is_the_duts() -> None:
    def both(asked: Ask) -> Verdict:
        return "invalid" if asked.load_pps > 60_000 else _carries(40_000)(asked)

    finished, _ = _run(_plan(retries=0), both)
    assert finished.limited_by == "dut"
    assert finished.load_line_pps is not None
    assert 39_000 <= finished.load_line_pps <= 40_000


def test_a_load_line_at_the_maximum_says_so() -> None:
    assert _run(_plan(), _carries(math.inf))[0].limited_by == "maximum"


def test_a_tester_that_cannot_test_anything_gives_up() -> None:
    finished, trials = _run(_plan(retries=1), lambda _: "invalid")
    assert finished.load_line_pps is None
    assert finished.reason.endswith("had only invalid trials: this tester cannot test here")
    assert len(trials) == 8


def test_only_invalid_trials_in_a_row_count() -> None:
    """Every trial is invalid twice, then valid."""
    attempts: dict[tuple[str, float], int] = {}

    def dut(asked: Ask) -> Verdict:
        key = (asked.phase, asked.load_pps)
        attempts[key] = attempts.get(key, 0) + 1
        assert asked.attempt == attempts[key]
        return "invalid" if asked.attempt <= 2 else _carries(40_000)(asked)

    plan = _plan(retries=2, validation_retries=2)
    assert _run(plan, dut)[0] == _run(plan, _carries(40_000))[0]


def test_a_finished_search_takes_no_more_verdicts() -> None:
    search = BinarySearch(_plan())
    search.tell("pass")
    search.tell("pass")
    assert isinstance(search.ask(), Finished)
    with pytest.raises(RuntimeError):
        search.tell("pass")


_plans = st.builds(
    lambda minimum, spread, start, granularity: _plan(
        minimum_pps=minimum,
        maximum_pps=minimum * spread,
        start_pps=min(minimum * spread, max(minimum, minimum * spread * start)),
        granularity=granularity,
    ),
    minimum=st.floats(1, 1e7),
    spread=st.floats(1, 1e4),
    start=st.floats(0, 1),
    granularity=st.floats(1e-4, 0.5),
)


@given(_plans, st.floats(0, 2))
def test_a_monotone_duts_load_line_is_found_within_the_width(
    plan: BinaryPlan, share: float
) -> None:
    capacity = share * plan.maximum_pps
    finished, _ = _run(plan, _carries(capacity))
    if capacity < plan.minimum_pps:
        assert finished.load_line_pps is None
        return
    found = finished.load_line_pps
    assert found is not None
    assert found <= capacity
    best = min(capacity, plan.maximum_pps)
    # The bounds enclose the capacity and are at most granularity * upper apart.
    assert best - found <= plan.granularity * found / (1 - plan.granularity) * (1 + 1e-9)


_wide_plans = st.builds(
    lambda granularity, start: _plan(granularity=granularity, start_pps=start),
    granularity=st.floats(0.02, 0.5),
    start=st.floats(1000, 100_000),
)


@given(_wide_plans, st.data())
def test_whatever_the_verdicts_it_ends_and_reports_only_what_passed_both(
    plan: BinaryPlan, data: st.DataObject
) -> None:
    verdicts: st.SearchStrategy[Verdict] = st.sampled_from(["pass", "fail", "invalid"])
    finished, trials = _run(plan, lambda _: data.draw(verdicts))
    assert all(plan.minimum_pps <= each.load_pps <= plan.maximum_pps for each in trials)
    passed = set(_loads(trials, "search", "pass"))
    assert {each.load_pps for each in trials if each.phase == "validation"} <= passed
    if finished.load_line_pps is not None:
        assert finished.load_line_pps in _loads(trials, "validation", "pass")
    else:
        assert not _loads(trials, "validation", "pass")


@given(_wide_plans, st.data())
def test_a_search_resumes_by_replay_from_anywhere(plan: BinaryPlan, data: st.DataObject) -> None:
    capacity = data.draw(st.floats(0, 120_000))
    finished, trials = _run(plan, _carries(capacity))
    half = data.draw(st.integers(0, len(trials)))
    search = replay(BinarySearch(plan), trials[:half])
    for record in trials[half:]:
        asked = search.ask()
        assert isinstance(asked, Ask)
        assert (asked.phase, asked.load_pps) == (record.phase, record.load_pps)
        search.tell(record.verdict)
    assert search.ask() == finished


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([RecordedTrial("search", 90_000, "pass")], "search at 100000 pps"),
        ([RecordedTrial("validation", 100_000, "pass")], "search at 100000 pps"),
        (
            [
                RecordedTrial("search", 100_000, "pass"),
                RecordedTrial("validation", 100_000, "pass"),
                RecordedTrial("search", 100_000, "pass"),
            ],
            "it has finished",
        ),
    ],
)
def test_a_journal_of_another_experiment_is_refused(
    records: list[RecordedTrial], problem: str
) -> None:
    with pytest.raises(InputError, match=f"trial {len(records)} ") as caught:
        replay(BinarySearch(_plan()), records)
    assert problem in str(caught.value)
    assert caught.value.where == "journal"
    assert caught.value.remedy
