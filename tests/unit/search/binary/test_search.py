"""Binary search: told verdicts, never run; DUTs are functions of what is asked."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.search.binary.bounds import BinaryPlan
from plimsoll.search.binary.search import BinarySearch
from plimsoll.search.strategy.ask import Ask, Finished, JudgedVerdict, RecordedTrial, replay
from plimsoll.search.strategy.question import InvalidAction, TrialPolicy
from tests.unit.search.duts import carries, carries_by, check_resumes, judged, loads, run, told
from tests.worded.says import Says

SEARCH = TrialPolicy("search", 5, retries=3)
VALIDATION = TrialPolicy("validation", 60, retries=3, is_validation=True)
SNIFF = TrialPolicy("sniff", 1, retries=0)
PLAN = BinaryPlan(
    minimum_pps=1000,
    maximum_pps=100_000,
    start_pps=100_000,
    granularity=0.01,
    rise=None,
    sniff=None,
    search=SEARCH,
    validation=VALIDATION,
)


def _steps(asks: list[Ask]) -> list[tuple[str, float]]:
    return [(each.phase, each.load_pps) for each in asks]


def _short_and_long(short_pps: float, long_pps: float, asked: Ask) -> float:
    return long_pps if asked.phase == "validation" else short_pps


def test_a_dut_that_carries_all_needs_one_trial_and_its_validation() -> None:
    finished, _, asks = run(BinarySearch(PLAN), carries(math.inf))
    assert finished.first.load_line_pps == 100_000
    assert _steps(asks) == [("search", 100_000), ("validation", 100_000)]


def test_the_bisection_by_hand(says: Says) -> None:
    """Between 20 and 100 kpps at 25 %, with a capacity of 50 kpps."""
    plan = replace(PLAN, minimum_pps=20_000, granularity=0.25)
    finished, _, asks = run(BinarySearch(plan), carries(50_000))
    assert _steps(asks) == [
        ("search", 100_000),
        ("search", 60_000),
        ("search", 40_000),
        # 60 - 40 kpps is more than a quarter of 60; 60 - 50 is not.
        ("search", 50_000),
        ("validation", 50_000),
    ]
    assert finished == Finished.only(50_000, says(), "dut")


def test_from_a_start_below_the_maximum_it_goes_up_first() -> None:
    _, _, asks = run(BinarySearch(replace(PLAN, start_pps=30_000)), carries(math.inf))
    assert [each.load_pps for each in asks] == [30_000, 100_000, 100_000]


def test_a_rise_goes_up_in_steps_until_one_fails_and_then_bisects() -> None:
    plan = replace(PLAN, start_pps=10_000, rise=2, granularity=0.5)
    _, _, asks = run(BinarySearch(plan), carries(70_000))
    assert _steps(asks) == [
        ("search", 10_000),
        ("search", 20_000),
        ("search", 40_000),
        # 80 - 40 kpps is just within half of 80.
        ("search", 80_000),
        ("validation", 40_000),
    ]


def test_a_rise_ends_at_the_maximum() -> None:
    plan = replace(PLAN, start_pps=40_000, rise=2)
    _, _, asks = run(BinarySearch(plan), carries(math.inf))
    assert [each.load_pps for each in asks] == [40_000, 80_000, 100_000, 100_000]


def test_a_failed_sniff_spares_the_search_trial_and_a_passed_one_does_not() -> None:
    plan = replace(PLAN, sniff=SNIFF, granularity=0.5)
    finished, _, asks = run(BinarySearch(plan), carries(60_000))
    assert _steps(asks) == [
        ("sniff", 100_000),
        ("sniff", 50_500),
        ("search", 50_500),
        # 100 - 50.5 kpps is within half of 100.
        ("validation", 50_500),
    ]
    assert finished.first.load_line_pps == 50_500


def test_a_sniff_that_passed_counts_for_nothing() -> None:
    dut = carries_by(lambda asked: math.inf if asked.phase == "sniff" else 60_000)
    finished, trials, _ = run(BinarySearch(replace(PLAN, sniff=SNIFF)), dut)
    found = finished.first.load_line_pps
    assert found is not None
    assert 59_000 <= found <= 60_000
    assert found in loads(trials, "search", "pass")


def test_an_invalid_sniff_is_no_reason_against_the_search_trial() -> None:
    def dut(asked: Ask) -> JudgedVerdict:
        return "invalid" if asked.phase == "sniff" else "pass"

    finished, _, asks = run(BinarySearch(replace(PLAN, sniff=SNIFF)), judged(dut))
    assert _steps(asks) == [("sniff", 100_000), ("search", 100_000), ("validation", 100_000)]
    assert finished.first.load_line_pps == 100_000


def test_all_repetitions_have_to_pass() -> None:
    """The third search trial at each load fails above 50 kpps, the second validation above 20."""
    plan = replace(
        PLAN,
        granularity=0.25,
        search=replace(SEARCH, repeat=3),
        validation=replace(VALIDATION, repeat=2),
    )

    def capacity(asked: Ask) -> float:
        last = {"search": (3, 50_000.0), "validation": (2, 20_000.0)}[asked.phase]
        return last[1] if asked.repetition == last[0] else math.inf

    finished, _, asks = run(BinarySearch(plan), carries_by(capacity))
    assert finished.first.load_line_pps is not None
    assert finished.first.load_line_pps <= 20_000
    # 100 kpps fails at its third repetition, and its fourth trial is another load's first.
    assert [(each.load_pps, each.repetition) for each in asks[:4]] == [
        (100_000, 1),
        (100_000, 2),
        (100_000, 3),
        (50_500, 1),
    ]
    assert {each.repetition for each in asks if each.phase == "validation"} == {1, 2}


def test_a_repetition_that_fails_is_the_last_of_its_load() -> None:
    plan = replace(PLAN, minimum_pps=100_000, search=replace(SEARCH, repeat=3))
    _, _, asks = run(BinarySearch(plan), judged(lambda asked: "fail"))
    assert [each.repetition for each in asks] == [1]


def test_only_the_last_validation_is_final() -> None:
    plan = replace(PLAN, search=replace(SEARCH, repeat=2), validation=replace(VALIDATION, repeat=2))
    _, _, asks = run(BinarySearch(plan), carries(math.inf))
    assert [(each.phase, each.comes_again) for each in asks] == [
        ("search", True),
        ("search", True),
        ("validation", True),
        ("validation", False),
    ]


def test_an_invalid_repetition_alone_is_asked_for_again() -> None:
    search = BinarySearch(replace(PLAN, search=replace(SEARCH, repeat=2)))
    first = search.ask()
    assert isinstance(first, Ask)
    search.tell(told(first, "pass"))
    search.tell(told(first, "invalid"))
    assert search.ask() == replace(first, repetition=2, attempt=2)
    search.tell(told(first, "pass"))
    assert search.ask() == Ask("validation", 100_000, 60)


def test_nothing_passes(says: Says) -> None:
    finished, _, asks = run(BinarySearch(PLAN), carries(0))
    assert finished.first.load_line_pps is None
    assert finished.first.reason == says("1")
    assert _steps(asks)[-1] == ("search", 1000)


def test_a_minimum_that_passed_and_failed_its_validation_is_told_so(says: Says) -> None:
    dut = judged(lambda asked: "pass" if asked.phase == "search" else "fail")
    finished, _, asks = run(BinarySearch(PLAN), dut)
    assert _steps(asks)[-1] == ("validation", 1000)
    assert finished.first.reason == says("search", "validation", "1")


def test_a_validation_failed_above_the_minimum_is_not_blamed_for_it(says: Says) -> None:
    """At the minimum itself the search trial fails."""

    def dut(asked: Ask) -> JudgedVerdict:
        passes = asked.phase == "search" and asked.load_pps > 1000
        return "pass" if passes else "fail"

    finished, _, _ = run(BinarySearch(PLAN), judged(dut))
    assert finished.first.reason == says("1")


def test_a_minimum_that_the_tester_cannot_test_is_told_so(says: Says) -> None:
    plan = replace(
        PLAN,
        minimum_pps=5000,
        maximum_pps=5000,
        start_pps=5000,
        search=replace(SEARCH, retries=0),
    )
    finished, _, _ = run(BinarySearch(plan), judged(lambda _: "invalid"))
    assert finished.first.reason == says("5")


def test_the_minimum_itself_can_be_the_answer() -> None:
    finished, _, _ = run(BinarySearch(PLAN), carries(1000))
    assert finished.first.load_line_pps == 1000


@pytest.mark.parametrize(("capacity", "found"), [(5000, 5000), (4999, None)])
def test_one_load_is_a_search_too(capacity: float, found: float | None) -> None:
    plan = replace(PLAN, minimum_pps=5000, maximum_pps=5000, start_pps=5000)
    assert run(BinarySearch(plan), carries(capacity))[0].first.load_line_pps == found


def test_durations_are_those_of_the_phase() -> None:
    search = BinarySearch(replace(PLAN, sniff=SNIFF))
    for expected in (
        Ask("sniff", 100_000, 1, comes_again=True),
        Ask("search", 100_000, 5, comes_again=True),
        Ask("validation", 100_000, 60),
    ):
        assert search.ask() == expected
        search.tell(told(expected, "pass"))


def test_after_a_failed_validation_it_falls_back_on_what_passed_and_bisects_there(
    says: Says,
) -> None:
    """By hand: 10 to 90 kpps at 10 %; short trials pass up to 88 kpps, long ones up to 60."""
    plan = replace(PLAN, minimum_pps=10_000, maximum_pps=90_000, start_pps=90_000, granularity=0.1)
    dut = carries_by(lambda asked: _short_and_long(88_000, 60_000, asked))
    finished, trials, asks = run(BinarySearch(plan), dut)
    assert _steps(asks) == [
        ("search", 90_000),
        ("search", 50_000),
        ("search", 70_000),
        ("search", 80_000),
        # 90 - 80 is more than a tenth of 90.
        ("search", 85_000),
        ("validation", 85_000),
        # 80 is within a tenth of 85, which just failed; 70 is the next that passed.
        ("validation", 70_000),
        ("validation", 50_000),
        # Between what passed validation and what failed it, each step is proved at once.
        ("search", 60_000),
        ("validation", 60_000),
        ("search", 65_000),
        ("validation", 65_000),
    ]
    assert finished == Finished.only(60_000, says(), "dut")
    assert loads(trials, "validation", "pass") == [50_000, 60_000]


def test_failed_validations_fall_back_ever_further() -> None:
    """Stepping down by the width would take dozens of them; the passed loads take a few."""
    dut = carries_by(lambda asked: _short_and_long(73_000, 59_000, asked))
    finished, trials, _ = run(BinarySearch(PLAN), dut)
    found = finished.first.load_line_pps
    assert found is not None
    assert 59_000 * 0.99 <= found <= 59_000
    # Passed: 50.5, 62.9, 69.1, 72.2 and a few within 1 % of 73; those above 59 fail.
    first_pass = loads(trials, "validation", "pass")[0]
    assert first_pass == 50_500
    assert len([load for load in loads(trials, "validation", "fail") if load > 62_000]) <= 4


def test_an_invalid_trial_is_asked_for_again_and_moves_nothing() -> None:
    search = BinarySearch(PLAN)
    first = search.ask()
    assert isinstance(first, Ask)
    search.tell(told(first, "fail"))
    before, bounds = search.ask(), search.bounds
    assert isinstance(before, Ask)
    search.tell(told(before, "invalid"))
    assert search.ask() == replace(before, attempt=2)
    assert search.bounds == bounds
    assert (bounds.lower_pps, bounds.failed_pps) == (None, 100_000)


def test_a_validation_that_stays_invalid_ends_the_search(says: Says) -> None:
    plan = replace(PLAN, validation=replace(VALIDATION, retries=1))
    dut = judged(lambda asked: "invalid" if asked.phase == "validation" else "pass")
    finished, trials, _ = run(BinarySearch(plan), dut)
    assert len(loads(trials, "validation", "invalid")) == 2
    assert finished == Finished.only(
        None,
        says("2", "100 kpps"),
    )


def test_a_later_validation_that_stays_invalid_leaves_what_was_validated(says: Says) -> None:
    """Validations above 60 kpps fail, those at 50 pass, between the tester cannot tell."""

    def dut(asked: Ask) -> JudgedVerdict:
        if asked.phase == "search":
            return "pass" if asked.load_pps <= 88_000 else "fail"
        if asked.load_pps > 60_000:
            return "fail"
        return "pass" if asked.load_pps <= 50_000 else "invalid"

    plan = replace(PLAN, minimum_pps=10_000, maximum_pps=90_000, start_pps=90_000, granularity=0.1)
    finished, _, _ = run(BinarySearch(plan), judged(dut))
    assert finished.first.load_line_pps == 50_000
    assert finished.first.limited_by == "tester"
    assert finished.first.reason == says("search")
    (note,) = finished.first.notes
    assert note == says("4", "60", "invalid")


def test_what_the_tester_cannot_test_is_a_ceiling_and_no_bound() -> None:
    """The tester reaches 60 kpps; the DUT would carry anything."""
    plan = replace(PLAN, search=replace(SEARCH, retries=2))
    dut = judged(lambda asked: "invalid" if asked.load_pps > 60_000 else "pass")
    finished, trials, _ = run(BinarySearch(plan), dut)
    assert loads(trials, "search", "invalid")[:3] == [100_000] * 3
    assert finished.first.load_line_pps is not None
    assert 59_000 <= finished.first.load_line_pps <= 60_000
    assert finished.first.limited_by == "tester"


def test_a_dut_limit_below_the_testers_is_the_duts() -> None:
    def both(asked: Ask) -> JudgedVerdict:
        if asked.load_pps > 60_000:
            return "invalid"
        return "pass" if asked.load_pps <= 40_000 else "fail"

    plan = replace(PLAN, search=replace(SEARCH, retries=0))
    finished, _, _ = run(BinarySearch(plan), judged(both))
    assert finished.first.limited_by == "dut"
    assert finished.first.load_line_pps is not None
    assert 39_000 <= finished.first.load_line_pps <= 40_000


def test_a_load_line_at_the_maximum_says_so() -> None:
    assert run(BinarySearch(PLAN), carries(math.inf))[0].first.limited_by == "maximum"


def test_a_tester_that_cannot_test_anything_gives_up(says: Says) -> None:
    plan = replace(PLAN, search=replace(SEARCH, retries=1))
    finished, trials, _ = run(BinarySearch(plan), judged(lambda _: "invalid"))
    assert finished.first.load_line_pps is None
    assert finished.first.reason == says("1")
    # Four loads, and then the minimum, each once more.
    assert len(trials) == 10
    assert trials[-1].load_pps == trials[-2].load_pps == 1000


def _acting(action: InvalidAction) -> BinaryPlan:
    actions: dict[str, InvalidAction] = {"offered-rate": action}
    return replace(
        PLAN,
        search=replace(SEARCH, retries=1, actions=actions),
        validation=replace(VALIDATION, actions=actions),
    )


def test_a_missed_rate_can_count_as_a_failure() -> None:
    """Above 60 kpps the tester falls short; a ceiling would be the tester's, this is not."""

    def dut(asked: Ask) -> JudgedVerdict:
        return "invalid" if asked.load_pps > 60_000 else "pass"

    search = BinarySearch(_acting("fail"))
    finished, trials, _ = run(search, lambda asked: told(asked, dut(asked), "offered-rate"))
    assert finished.first.limited_by == "dut"
    assert finished.first.load_line_pps is not None
    assert 59_000 <= finished.first.load_line_pps <= 60_000
    # Once more each, as with any invalid trial.
    assert loads(trials, "search", "invalid")[:2] == [100_000, 100_000]


def test_a_missed_rate_can_end_the_search(says: Says) -> None:
    finished, trials, _ = run(
        BinarySearch(_acting("quit")), lambda asked: told(asked, "invalid", "stall", "offered-rate")
    )
    assert len(trials) == 2
    assert finished == Finished.only(
        None,
        says("100 kpps", "stall", "offered-rate"),
    )


def test_another_rule_than_the_missed_rate_does_not_end_the_search() -> None:
    _, trials, _ = run(BinarySearch(_acting("quit")), lambda asked: told(asked, "invalid", "stall"))
    assert {each.load_pps for each in trials} > {100_000}


def test_a_missed_rate_can_fail_a_validation() -> None:
    """Only validations above 30 kpps miss it; with `retry` they would end the search."""

    def dut(asked: Ask) -> JudgedVerdict:
        short = asked.phase == "validation" and asked.load_pps > 30_000
        return "invalid" if short else "pass"

    search = BinarySearch(_acting("fail"))
    finished, _, _ = run(search, lambda asked: told(asked, dut(asked), "offered-rate"))
    assert finished.first.load_line_pps is not None
    assert 29_700 <= finished.first.load_line_pps <= 30_000


def test_only_invalid_trials_in_a_row_count() -> None:
    """Every trial is invalid twice, then valid."""
    plan = replace(
        PLAN, search=replace(SEARCH, retries=2), validation=replace(VALIDATION, retries=2)
    )

    def dut(asked: Ask) -> JudgedVerdict:
        if asked.attempt <= 2:
            return "invalid"
        return "pass" if asked.load_pps <= 40_000 else "fail"

    finished, trials, _ = run(BinarySearch(plan), judged(dut))
    plain, plain_trials, _ = run(BinarySearch(plan), carries(40_000))
    assert finished == plain
    assert len(trials) == 3 * len(plain_trials)


def test_a_finished_search_takes_no_more_verdicts() -> None:
    search = BinarySearch(PLAN)
    _, trials, _ = run(search, carries(math.inf))
    with pytest.raises(RuntimeError):
        search.tell(trials[-1].told)


_plans = st.builds(
    lambda minimum, spread, start, **others: replace(
        PLAN,
        minimum_pps=minimum,
        maximum_pps=minimum * spread,
        start_pps=min(minimum * spread, max(minimum, minimum * spread * start)),
        **others,
    ),
    minimum=st.floats(1, 1e7),
    spread=st.floats(1, 1e4),
    start=st.floats(0, 1),
    granularity=st.floats(1e-4, 0.5),
    rise=st.none() | st.floats(1.1, 10),
    sniff=st.sampled_from([None, SNIFF]),
)


@given(_plans, st.floats(0, 2), st.floats(0.1, 1))
def test_a_monotone_duts_load_line_is_found_within_the_width(
    plan: BinaryPlan, share: float, endurance: float
) -> None:
    """Whatever it carries for long, be it as much as for short or less."""
    short = share * plan.maximum_pps
    capacity = short * endurance
    dut = carries_by(lambda asked: _short_and_long(short, capacity, asked))
    finished, _, _ = run(BinarySearch(plan), dut)
    found = finished.first.load_line_pps
    if capacity < plan.minimum_pps:
        assert found is None
        return
    assert found is not None
    assert found <= capacity
    best = min(capacity, plan.maximum_pps)
    # The bounds enclose the capacity and are at most granularity * upper apart.
    assert best - found <= plan.granularity * found / (1 - plan.granularity) * (1 + 1e-9)


_wide_plans = st.builds(
    lambda repeat, **others: replace(
        PLAN,
        search=replace(SEARCH, repeat=repeat),
        validation=replace(VALIDATION, repeat=repeat),
        **others,
    ),
    granularity=st.floats(0.02, 0.5),
    start_pps=st.floats(1000, 100_000),
    rise=st.none() | st.floats(1.1, 10),
    sniff=st.sampled_from([None, SNIFF]),
    repeat=st.integers(1, 3),
)
_verdicts: st.SearchStrategy[JudgedVerdict] = st.sampled_from(["pass", "fail", "invalid"])


def _most_trials(plan: BinaryPlan) -> int:
    """An upper bound of the trials, whatever is told.

    A rise takes log(100) / log(1.1) = 49 loads; then each load halves the bracket of at
    most 100 kpps or is one of the loads that passed before. A bracket narrower than 2 %
    of 1 kpps is narrow anywhere: log2(100_000 / 20) = 13 halvings. Each of those 124 loads
    has a sniff, and up to three repetitions of up to four attempts in either phase.
    """
    return (49 + 13) * 2 * (1 + 2 * plan.search.repeat * (plan.search.retries + 1))


@given(_wide_plans, st.data())
def test_whatever_the_verdicts_it_ends_and_reports_only_what_passed_both(
    plan: BinaryPlan, data: st.DataObject
) -> None:
    dut = judged(lambda _: data.draw(_verdicts))
    finished, trials, _ = run(BinarySearch(plan), dut, most=_most_trials(plan))
    assert all(plan.minimum_pps <= each.load_pps <= plan.maximum_pps for each in trials)
    passed = set(loads(trials, "search", "pass"))
    assert {each.load_pps for each in trials if each.phase == "validation"} <= passed
    found, validated = finished.first.load_line_pps, loads(trials, "validation", "pass")
    if found is not None:
        assert validated.count(found) >= plan.validation.repeat
        assert found not in loads(trials, "validation", "fail")
    elif plan.validation.repeat == 1:
        assert not validated


@given(_wide_plans, st.data())
def test_a_search_resumes_by_replay_from_anywhere(plan: BinaryPlan, data: st.DataObject) -> None:
    finished, trials, asks = run(BinarySearch(plan), judged(lambda _: data.draw(_verdicts)))
    after = data.draw(st.integers(0, len(trials)))
    assert check_resumes(lambda: BinarySearch(plan), trials, asks, after).ask() == finished


_PASSED = told(Ask("search", 100_000, 5), "pass")


@pytest.mark.parametrize(
    ("records", "facts"),
    [
        ([RecordedTrial("search", 90_000, _PASSED)], ("search", "100000")),
        ([RecordedTrial("validation", 100_000, _PASSED)], ("100000",)),
        (
            [
                RecordedTrial("search", 100_000, _PASSED),
                RecordedTrial("validation", 100_000, _PASSED),
                RecordedTrial("search", 100_000, _PASSED),
            ],
            ("journal", "100000"),
        ),
    ],
)
def test_a_journal_of_another_experiment_is_refused(
    records: list[RecordedTrial], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError, match=f"trial {len(records)} ") as caught:
        replay(BinarySearch(PLAN), records)
    assert caught.value == says(*facts)
    assert caught.value.where == "journal"
    assert caught.value.remedy
