"""The search itself: told verdicts, never run; DUTs are functions of the load."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.mlrsearch.goal import Goal, LoadSpan, MlrPlan, ValidationPlan
from plimsoll.search.mlrsearch.search import MlrSearch
from plimsoll.search.strategy.ask import Ask, JudgedVerdict, Told
from plimsoll.search.strategy.goal_end import GoalEnd
from tests.unit.search.duts import (
    Dut,
    carries,
    carries_by,
    check_resumes,
    evidence,
    judged,
    loads,
    run,
    told,
)
from tests.unit.search.mlrsearch.goals import goal
from tests.worded.says import Says

STRICT = goal("strict", final_s=60, sum_s=60, exceed=0, width=0.01)
NDR, PDR = goal("ndr"), goal("pdr")
VALIDATION = ValidationPlan(duration_s=600, retries=3, back_off=0.005)


def plan(
    *goals: Goal,
    minimum_pps: float = 1000,
    maximum_pps: float = 100_000,
    retries: int = 3,
    early_abort: bool = True,
    validation: ValidationPlan | None = VALIDATION,
) -> MlrPlan:
    return MlrPlan(goals, LoadSpan(minimum_pps, maximum_pps), retries, early_abort, validation)


def end_of(search: MlrSearch, dut: Dut) -> GoalEnd:
    return run(search, dut)[0].first


def by_verdict(verdict_of: dict[str, JudgedVerdict], lost: float = 0.0) -> Dut:
    """Every trial gets these verdicts, by goal."""
    return lambda asked: Told(verdict_of, evidence(asked, lost), {})


def test_the_search_by_hand() -> None:
    """A DUT that forwards 50 kpps tells so when it is overloaded; the bounds close at 1 %."""
    finished, _, asks = run(MlrSearch(plan(STRICT)), carries(50_000, {STRICT.name: 0.0}))
    assert [(each.phase, each.duration_s, each.goal) for each in asks] == [
        *[("search", 60, "strict")] * 3,
        ("validation", 600, "strict"),
    ]
    # The maximum, what it forwarded, a width above, and half a percent back. From 1 kpps on,
    # 50 kpps are 389.2 widths.
    lower_pps = 1000 / 0.99**389
    assert [each.load_pps for each in asks] == pytest.approx(
        [100_000, lower_pps, lower_pps / 0.99, lower_pps * 0.995]
    )
    assert finished.first == GoalEnd(
        "strict",
        asks[-1].load_pps,
        "passed validation",
        "dut",
        conditional_pps=asks[1].load_pps,
        notes=(
            "RFC 9971: relevant lower bound 49.88 kpps, relevant upper bound 50.38 kpps, "
            "conditional throughput 49.88 kpps",
        ),
    )


def test_a_goal_that_begins_short_spends_long_trials_only_on_the_last_bounds() -> None:
    begins_short = goal("strict", initial_s=1, final_s=60, sum_s=60, exceed=0)
    _, _, asks = run(MlrSearch(plan(begins_short)), carries(31_415, {"strict": 0.0}))
    long = [each.load_pps for each in asks if each.phase == "search" and each.duration_s == 60]
    # What fails in a short trial is an upper bound for long ones too: one load that holds,
    # and one halving on the way to it.
    assert len(long) <= 2


def test_the_maximum_is_enough_and_the_result_irregular(says: Says) -> None:
    end = end_of(MlrSearch(plan(NDR)), carries(math.inf, {"ndr": 0.0}))
    assert (end.load_line_pps, end.limited_by, end.irregular) == (99_500, "maximum", True)
    assert end.notes[1] == says()


def test_nothing_holds(says: Says) -> None:
    end = end_of(MlrSearch(plan(NDR)), carries(500, {"ndr": 0.0}))
    assert end.load_line_pps is None
    assert end.reason == says("1")
    assert end.limited_by is None
    assert end.notes[1] == says()


def test_one_load_is_a_search_too() -> None:
    one = plan(NDR, minimum_pps=5000, maximum_pps=5000)
    assert end_of(MlrSearch(one), carries(5000, {"ndr": 0.0})).load_line_pps == 5000
    assert end_of(MlrSearch(one), carries(4999, {"ndr": 0.0})).load_line_pps is None


def test_eleven_good_seconds_are_enough_and_each_is_numbered() -> None:
    _, _, asks = run(MlrSearch(plan(NDR)), carries(math.inf, {"ndr": 0.0}))
    assert [each.repetition for each in asks if each.phase == "search"] == list(range(1, 12))


def test_half_of_the_trials_may_fail() -> None:
    """At 40 kpps and above all do, below it one in three: not even 10.5 of 21 s."""
    count = itertools.count(1)

    def verdict(asked: Ask) -> JudgedVerdict:
        if asked.phase == "validation":
            return "pass"
        return "fail" if asked.load_pps > 40_000 or next(count) % 3 == 0 else "pass"

    end = end_of(MlrSearch(plan(NDR)), judged(verdict))
    assert end.load_line_pps is not None
    assert 39_000 < end.load_line_pps <= 40_000


def test_a_trial_counts_for_every_goal() -> None:
    """Two goals alike but in name need no more trials than one."""
    twin = goal("twin")
    _, _, one = run(MlrSearch(plan(NDR)), carries(31_415, {"ndr": 0.0}))
    finished, _, two = run(MlrSearch(plan(NDR, twin)), carries(31_415, {"ndr": 0.0, "twin": 0.0}))
    searched = [each.load_pps for each in one if each.phase == "search"]
    assert [each.load_pps for each in two if each.phase == "search"] == searched
    assert [each.goal for each in finished.ends] == ["ndr", "twin"]
    assert finished.ends[0].load_line_pps == finished.ends[1].load_line_pps


def test_a_drop_rate_with_some_loss_lies_above_the_one_without() -> None:
    """50 kpps forwarded is 0.5 % lost at 50.25 kpps; the conditional throughput says 50."""
    finished, _, _ = run(MlrSearch(plan(NDR, PDR)), carries(50_000, {"ndr": 0.0, "pdr": 0.005}))
    ndr, pdr = finished.ends
    assert ndr.load_line_pps is not None
    assert pdr.load_line_pps is not None
    assert ndr.conditional_pps == pytest.approx(50_000, rel=0.005)
    assert ndr.conditional_pps <= 50_000
    assert pdr.conditional_pps == pytest.approx(50_000, rel=1e-4)
    assert pdr.load_line_pps == pytest.approx(pdr.conditional_pps * 0.995)


def test_with_several_goals_only_validations_end_early() -> None:
    _, _, asks = run(MlrSearch(plan(NDR, PDR)), carries(50_000, {"ndr": 0, "pdr": 0}))
    assert {(each.phase, each.early_abort) for each in asks} == {
        ("search", False),
        ("validation", True),
    }
    _, _, asks = run(MlrSearch(plan(NDR)), carries(50_000, {"ndr": 0}))
    assert all(each.early_abort for each in asks)


def test_full_trials_can_be_asked_for() -> None:
    asked = MlrSearch(plan(NDR, early_abort=False)).ask()
    assert isinstance(asked, Ask)
    assert not asked.early_abort


def test_failed_validations_back_off_by_half_a_percent_each(says: Says) -> None:
    """The lower bound is 389 widths above 1 kpps; long trials hold to 49 kpps."""
    lower_pps = 1000 / 0.99**389

    def capacity(asked: Ask) -> float:
        return 50_000 if asked.phase == "search" else 49_000

    finished, trials, _ = run(MlrSearch(plan(STRICT)), carries_by(capacity, {"strict": 0.0}))
    failed = loads(trials, "validation", "fail", "strict")
    assert failed == pytest.approx([lower_pps * 0.995**n for n in (1, 2, 3)])
    assert finished.first.load_line_pps == pytest.approx(lower_pps * 0.995**4)
    assert finished.first.limited_by == "dut"
    assert finished.first.notes[-1] == says("3", "49.63", "49.13")


def test_validation_ends_at_the_minimum(says: Says) -> None:
    def verdict(asked: Ask) -> JudgedVerdict:
        return "fail" if asked.phase == "validation" or asked.load_pps > 1010 else "pass"

    finished, trials, _ = run(MlrSearch(plan(STRICT)), judged(verdict))
    assert trials[-1].load_pps == 1000
    assert finished.first.reason == says("validation", "1")


def test_without_validation_the_lower_bound_is_the_load_line() -> None:
    finished, trials, _ = run(
        MlrSearch(plan(STRICT, validation=None)), carries(50_000, {"strict": 0.0})
    )
    assert {each.phase for each in trials} == {"search"}
    assert finished.first.load_line_pps == pytest.approx(1000 / 0.99**389)
    assert finished.first.proved_by == "search"


def test_a_low_failure_undoes_what_held_above_it() -> None:
    """For the strict goal, short trials at 40 kpps; the lax one then has a look at 30 kpps."""
    strict = goal("strict", exceed=0, final_s=1, sum_s=1)
    lax = goal("lax", exceed=0, final_s=5, sum_s=5)

    def dut(asked: Ask) -> Told:
        held = asked.load_pps <= 40_000
        lax_held = asked.load_pps <= 20_000
        # A hole in what the strict goal takes, where only the lax goal looks.
        strict_held = held and not 19_000 < asked.load_pps <= 21_000
        verdicts: dict[str, JudgedVerdict] = {
            "strict": "pass" if strict_held else "fail",
            "lax": "pass" if lax_held else "fail",
        }
        lost = 0.0 if lax_held else 1 - 20_000 / asked.load_pps
        return Told(verdicts, evidence(asked, lost), {})

    strict_end, _ = run(MlrSearch(plan(strict, lax)), dut)[0].ends
    assert strict_end.load_line_pps is not None
    assert strict_end.load_line_pps <= 21_000


def test_each_question_has_retries_of_its_own() -> None:
    """The first trial is for all goals; one that stays invalid sends all of them lower."""
    search = MlrSearch(plan(NDR, PDR, retries=1))
    first = search.ask()
    assert isinstance(first, Ask)
    verdicts: dict[str, JudgedVerdict] = {"ndr": "invalid", "pdr": "fail"}
    search.tell(by_verdict(verdicts)(first))
    again = search.ask()
    assert isinstance(again, Ask)
    assert (again.goal, again.load_pps, again.attempt) == (first.goal, first.load_pps, 2)
    search.tell(by_verdict(verdicts)(again))
    lower = search.ask()
    assert isinstance(lower, Ask)
    assert (lower.load_pps < first.load_pps, lower.attempt) == (True, 1)
    search.tell(told(lower, "invalid"))
    last = search.ask()
    assert isinstance(last, Ask)
    assert (last.goal, last.load_pps, last.attempt) == (lower.goal, lower.load_pps, 2)


def test_an_invalid_trial_moves_nothing_and_is_asked_again() -> None:
    search = MlrSearch(plan(STRICT))
    first = search.ask()
    assert isinstance(first, Ask)
    search.tell(told(first, "invalid"))
    second = search.ask()
    assert isinstance(second, Ask)
    assert (second.load_pps, second.attempt, second.repetition) == (first.load_pps, 2, 1)


def test_what_the_tester_cannot_test_bounds_the_search(says: Says) -> None:
    """Above 60 kpps it stalls; the DUT would carry anything."""

    def verdict(asked: Ask) -> JudgedVerdict:
        return "invalid" if asked.load_pps > 60_000 else "pass"

    finished, trials, _ = run(MlrSearch(plan(STRICT, retries=1)), judged(verdict))
    end = finished.first
    assert end.limited_by == "tester"
    assert end.load_line_pps is not None
    assert 59_000 < end.load_line_pps <= 60_000
    assert end.irregular
    assert end.notes[0] == says("9971", "59")
    # Twice each, and never again above what could not be tested.
    invalid = loads(trials, "search", "invalid", "strict")
    assert invalid[::2] == invalid[1::2] == sorted(set(invalid), reverse=True)


def test_a_tester_that_can_test_nothing_gives_up(says: Says) -> None:
    finished, trials, _ = run(MlrSearch(plan(NDR, PDR, retries=0)), judged(lambda _: "invalid"))
    # Four loads, and then the minimum.
    assert len(trials) == 5
    assert trials[-1].load_pps == 1000
    assert [each.load_line_pps for each in finished.ends] == [None, None]
    assert finished.first.reason == says("1")


def test_a_minimum_that_cannot_be_tested_is_told_so(says: Says) -> None:
    only = plan(NDR, minimum_pps=5000, maximum_pps=5000, retries=0)
    end = end_of(MlrSearch(only), judged(lambda _: "invalid"))
    assert end.reason == says("5")


def test_a_validation_that_stays_invalid_ends_the_goal_and_not_the_others(says: Says) -> None:
    def dut(asked: Ask) -> Told:
        bad = asked.phase == "validation" and asked.goal == "ndr"
        verdicts: dict[str, JudgedVerdict] = {"ndr": "invalid" if bad else "pass", "pdr": "pass"}
        return Told(verdicts, evidence(asked), {})

    ndr, pdr = run(MlrSearch(plan(NDR, PDR)), dut)[0].ends
    assert ndr.load_line_pps is None
    assert ndr.reason == says("4", "99.5", "invalid")
    assert pdr.load_line_pps == 99_500


def test_a_goal_that_could_not_judge_a_trial_does_without() -> None:
    """The other one asked for it, and had what it needs."""
    verdicts: dict[str, JudgedVerdict] = {"ndr": "pass", "pdr": "invalid"}
    search = MlrSearch(plan(NDR, PDR))
    asked = search.ask()
    assert isinstance(asked, Ask)
    assert asked.goal == "ndr"
    search.tell(by_verdict(verdicts)(asked))
    assert len(search.log.at(NDR, asked.load_pps)) == 1
    assert not search.log.at(PDR, asked.load_pps)


def test_a_search_that_has_finished_takes_no_more() -> None:
    search = MlrSearch(plan(NDR))
    _, trials, _ = run(search, carries(50_000, {"ndr": 0.0}))
    with pytest.raises(RuntimeError, match="finished"):
        search.tell(trials[0].told)


def test_latency_that_grows_with_load_is_found_by_halving() -> None:
    """Nothing is lost at all, so nothing tells where the goal is broken but the verdicts."""

    def dut(asked: Ask) -> Told:
        verdict: JudgedVerdict = "pass" if asked.load_pps <= 4321 else "fail"
        return Told({"strict": verdict}, evidence(asked), {})

    finished, trials, _ = run(MlrSearch(plan(STRICT, validation=None)), dut)
    assert finished.first.load_line_pps is not None
    assert 4321 * 0.99 <= finished.first.load_line_pps <= 4321
    # From 1 to 100 kpps are 459 widths: nine halvings, and the two ends.
    assert len(trials) <= 12


# --- what holds for any DUT -------------------------------------------------------------

SECONDS = st.sampled_from([0.5, 1.0, 2.0, 10.0])


@st.composite
def any_goal(draw: st.DrawFn, name: str) -> Goal:
    initial_s = draw(SECONDS)
    final_s = initial_s * draw(st.sampled_from([1, 2, 10]))
    return goal(
        name,
        initial_s=initial_s,
        final_s=final_s,
        sum_s=final_s * draw(st.sampled_from([1, 2, 5])),
        exceed=draw(st.sampled_from([0.0, 0.2, 0.5, 0.75])),
        width=draw(st.sampled_from([0.005, 0.02, 0.1])),
    )


@st.composite
def any_plan(draw: st.DrawFn) -> MlrPlan:
    goals = [draw(any_goal(f"goal{number}")) for number in range(draw(st.integers(1, 3)))]
    minimum_pps = draw(st.sampled_from([1000.0, 20_000.0, 99_900.0, 100_000.0]))
    back_off = draw(st.sampled_from([0.05, 0.5]))
    validation = draw(st.sampled_from([None, ValidationPlan(60, 1, back_off)]))
    return plan(*goals, minimum_pps=minimum_pps, retries=1, validation=validation)


def whimsical(seed: int, names: list[str]) -> Dut:
    """Each trial fares as it likes, with what it lost; likelier badly at higher loads."""
    source = random.Random(seed)  # noqa: S311
    knee = source.uniform(0, 120_000)
    invalid = source.choice([0.0, 0.02, 0.3])

    def verdict(asked: Ask) -> JudgedVerdict:
        if source.random() < invalid:
            return "invalid"
        steep = source.choice([2, 8, 100])
        return "fail" if source.random() < min(1.0, asked.load_pps / knee) ** steep else "pass"

    def dut(asked: Ask) -> Told:
        lost = source.choice([0.0, 1e-6, 0.01, 0.7, 1.0])
        return Told({name: verdict(asked) for name in names}, evidence(asked, lost), {})

    return dut


@given(any_plan(), st.integers(0, 2**32), st.data())
def test_any_search(asked: MlrPlan, seed: int, data: st.DataObject) -> None:
    """It ends, stays in bounds, reports only what passed, and resumes from anywhere."""
    names = [each.name for each in asked.goals]
    finished, trials, asks = run(MlrSearch(asked), whimsical(seed, names), most=20_000)
    assert [end.goal for end in finished.ends] == names
    for each in trials:
        assert asked.span.minimum_pps <= each.load_pps <= asked.span.maximum_pps
    for end in finished.ends:
        if end.load_line_pps is not None:
            assert end.load_line_pps in loads(trials, end.proved_by, "pass", end.goal)
    after = data.draw(st.integers(0, len(trials)))
    again = check_resumes(lambda: MlrSearch(asked), trials, asks, after)
    assert again.ask() == finished


@given(any_plan(), st.floats(0, 120_000), st.lists(st.sampled_from([0.0, 0.005, 0.1]), min_size=3))
def test_a_monotone_dut_is_found_within_the_width(
    asked: MlrPlan, capacity_pps: float, allowed: list[float]
) -> None:
    goals = {each.name: most for each, most in zip(asked.goals, allowed, strict=False)}
    finished, _, _ = run(MlrSearch(asked), carries(capacity_pps, goals))
    back_off = asked.validation.back_off if asked.validation else 0
    for wanted, end in zip(asked.goals, finished.ends, strict=True):
        edge_pps = capacity_pps / (1 - goals[wanted.name])
        if end.load_line_pps is None:
            assert edge_pps < asked.span.minimum_pps * (1 + 1e-9)
            continue
        assert end.load_line_pps <= edge_pps * (1 + 1e-9)
        best_pps = min(edge_pps, asked.span.maximum_pps)
        # What was lost at the lower bound is not part of the conditional throughput.
        least_pps = best_pps * (1 - wanted.width) * (1 - goals[wanted.name]) * (1 - back_off)
        # These trials offer a thousand frames and more, and lose whole ones.
        assert end.load_line_pps >= least_pps * 0.999
        assert end.irregular == (edge_pps >= asked.span.maximum_pps)
