"""Every strategy with a tester that cannot offer all loads; the trials are worked out by hand."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import pytest
from pydantic import TypeAdapter

from plimsoll.search.binary.bounds import BinaryPlan
from plimsoll.search.binary.search import BinarySearch, OneShot
from plimsoll.search.checkpoints.search import CheckpointPlan, CheckpointSearch
from plimsoll.search.load_line.plan import GoalPlan, LoadLinePlan
from plimsoll.search.load_line.search import LoadLineSearch
from plimsoll.search.mlrsearch.goal import LoadSpan, MlrPlan, ValidationPlan
from plimsoll.search.mlrsearch.search import MlrSearch
from plimsoll.search.registry import SearchSettings
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Finished, JudgedVerdict, Search, Told
from plimsoll.search.strategy.question import TrialPolicy, reach_of, sustainable_pps, within
from plimsoll.search.strategy.settings import SearchModel
from tests.unit.search.duts import (
    carries,
    check_resumes,
    judged,
    offered_at_most,
    run,
    told,
)
from tests.unit.search.mlrsearch.goals import goal
from tests.unit.search.rates import frames_of_64_bytes
from tests.worded.says import Says

SEARCH = TrialPolicy("search", 5, retries=2)
VALIDATION = TrialPolicy("validation", 60, retries=2, is_validation=True)
BINARY = BinaryPlan(
    minimum_pps=1000,
    maximum_pps=100_000,
    start_pps=100_000,
    granularity=0.25,
    rise=None,
    sniff=None,
    search=SEARCH,
    validation=VALIDATION,
)
CHECKPOINTS = CheckpointPlan(
    (1000.0, 20_000.0, 40_000.0, 60_000.0, 100_000.0),
    replace(SEARCH, run_all_repetitions=True),
    VALIDATION,
)
MLR_GOAL = goal(ONLY_GOAL, final_s=60, sum_s=60, exceed=0, width=0.01)
LOAD_LINE = LoadLinePlan(
    minimum_pps=1000,
    maximum_pps=100_000,
    width=0.005,
    duration_s=2.0,
    watch_s=60.0,
    validation_s=600.0,
    bursts=True,
    confidence=0.95,
    retries=2,
    validation_retries=2,
    attempts=20,
    goals=(GoalPlan(ONLY_GOAL, 0.0),),
)
# Of what a tester offers at most, 2 % are left.
CEILING, REACH = 50_000.0, 49_000.0


def binary(reach_pps: float | None = None) -> Search:
    return BinarySearch(replace(BINARY, reach_pps=reach_pps))


def checkpoints(reach_pps: float | None = None) -> Search:
    return CheckpointSearch(replace(CHECKPOINTS, reach_pps=reach_pps))


def load_line(reach_pps: float | None = None) -> Search:
    return LoadLineSearch(replace(LOAD_LINE, reach_pps=reach_pps))


def mlr(reach_pps: float | None = None) -> Search:
    span = LoadSpan(1000, 100_000, reach_pps=reach_pps)
    return MlrSearch(MlrPlan((MLR_GOAL,), span, 2, True, ValidationPlan(600, 2, 0.005)))


Begin = Callable[[float | None], Search]
ALL: tuple[Begin, ...] = (binary, checkpoints, load_line, mlr)
SEARCHING: tuple[Begin, ...] = (binary, load_line, mlr)


def steps(asks: list[Ask]) -> list[tuple[str, float]]:
    return [(each.phase, each.load_pps) for each in asks]


def end(finished: Finished) -> tuple[float | None, str | None]:
    return finished.first.load_line_pps, finished.first.limited_by


def test_a_little_below_what_was_offered_can_be_sustained() -> None:
    assert sustainable_pps(CEILING) == pytest.approx(REACH)


@pytest.mark.parametrize(
    ("reach_pps", "bound_pps"),
    [(None, None), (200.0, None), (100.0, None), (99.0, 99.0), (10.0, 10.0), (9.0, 10.0)],
)
def test_a_reach_bounds_a_search_between_its_ends(
    reach_pps: float | None, bound_pps: float | None
) -> None:
    assert within(reach_pps, 10.0, 100.0) == bound_pps


@pytest.mark.parametrize(
    ("load_pps", "verdict", "offered_pps", "reach_pps"),
    [
        (100_000.0, "invalid", CEILING, REACH),
        # Not below the minimum, at which a trial is run again like any.
        (100_000.0, "invalid", 500.0, 1000.0),
        (1000.0, "invalid", 500.0, None),
        # A fault that may pass, and a trial that was fit.
        (100_000.0, "invalid", None, None),
        (100_000.0, "fail", CEILING, None),
    ],
)
def test_what_is_a_ceiling(
    load_pps: float, verdict: JudgedVerdict, offered_pps: float | None, reach_pps: float | None
) -> None:
    asked = Ask("search", load_pps, 5)
    came = replace(told(asked, verdict), offered_at_most_pps=offered_pps)
    assert reach_of(asked, came, 1000) == (None if reach_pps is None else pytest.approx(reach_pps))


# A search that knows the reach spends no trial above it.


def test_a_bisection_begins_at_the_reach() -> None:
    finished, _, asks = run(binary(REACH), offered_at_most(CEILING, carries(inf)))
    assert steps(asks) == [("search", REACH), ("validation", REACH)]
    assert end(finished) == (REACH, "tester")


def test_mlrsearch_begins_at_the_reach() -> None:
    finished, _, asks = run(mlr(REACH), offered_at_most(CEILING, carries(inf)))
    assert steps(asks) == [("search", REACH), ("validation", pytest.approx(REACH * 0.995))]
    assert finished.first.limited_by == "tester"


def test_the_load_line_search_begins_at_the_reach(says: Says) -> None:
    finished, _, asks = run(load_line(REACH), offered_at_most(CEILING, carries(inf)))
    assert steps(asks) == [("search", REACH), ("validation", REACH)]
    assert end(finished) == (REACH, "tester")
    assert finished.first.notes[0] == says("tester")


def test_checkpoints_above_the_reach_are_left_out() -> None:
    finished, _, asks = run(checkpoints(REACH), offered_at_most(CEILING, carries(inf)))
    loads = [1000, 20_000, 40_000]
    assert steps(asks) == [*(("search", load) for load in loads), ("validation", 40_000)]
    assert end(finished) == (40_000, "tester")


# One that does not goes down to what was offered, once.


def test_a_bisection_that_meets_the_ceiling_tries_it_once_and_goes_down_to_it() -> None:
    finished, _, asks = run(binary(), offered_at_most(CEILING, carries(inf)))
    assert steps(asks) == [("search", 100_000), ("search", REACH), ("validation", REACH)]
    assert end(finished) == (REACH, "tester")


def test_below_the_ceiling_the_bisection_is_the_duts() -> None:
    finished, _, asks = run(binary(), offered_at_most(CEILING, carries(30_000)))
    assert steps(asks) == [
        ("search", 100_000),
        ("search", REACH),
        # Halfway between 1 and 49 kpps; then 37 - 25 is more than a quarter of 37, 31 - 25 not.
        ("search", 25_000),
        ("search", 37_000),
        ("search", 31_000),
        ("validation", 25_000),
    ]
    assert end(finished) == (25_000, "dut")


def test_mlrsearch_meets_the_ceiling_once() -> None:
    dut = offered_at_most(CEILING, carries(30_000))
    finished, _, asks = run(mlr(), dut)
    assert [each.load_pps for each in asks][:2] == pytest.approx([100_000, REACH])
    assert max(each.load_pps for each in asks[1:]) <= REACH
    assert finished.first.load_line_pps == pytest.approx(30_000, rel=0.015)
    assert finished.first.limited_by == "dut"


def test_checkpoints_meet_the_ceiling_once() -> None:
    finished, _, asks = run(checkpoints(), offered_at_most(CEILING, carries(inf)))
    loads = [1000, 20_000, 40_000, 60_000]
    assert steps(asks) == [*(("search", load) for load in loads), ("validation", 40_000)]
    assert end(finished) == (40_000, "tester")


def test_one_load_that_cannot_be_offered_is_tried_once(says: Says) -> None:
    finished, _, asks = run(OneShot(VALIDATION, 100_000), offered_at_most(CEILING, carries(inf)))
    assert steps(asks) == [("validation", 100_000)]
    assert finished.first.reason == says("100", "49")


@pytest.mark.parametrize("begin", ALL)
def test_a_ceiling_that_only_a_validation_meets_lowers_the_line(begin: Begin) -> None:
    """In a minute the tester turns out not to offer what it offered for seconds."""

    def dut(asked: Ask) -> Told:
        weak = asked.phase == "validation"
        return offered_at_most(CEILING if weak else inf, carries(inf))(asked)

    finished, _, asks = run(begin(None), dut)
    found = finished.first.load_line_pps
    assert found is not None
    assert REACH * 0.8 < found <= CEILING
    assert finished.first.limited_by == "tester"
    validations = [each.load_pps for each in asks if each.phase == "validation"]
    assert [load > CEILING for load in validations] == [True, False]


@pytest.mark.parametrize("begin", ALL)
@pytest.mark.parametrize("capacity_pps", [30_000.0, 70_000.0])
@pytest.mark.parametrize("reach_pps", [None, REACH])
def test_a_killed_search_asks_the_same_again(
    begin: Begin, capacity_pps: float, reach_pps: float | None
) -> None:
    _, trials, asks = run(begin(reach_pps), offered_at_most(CEILING, carries(capacity_pps)))
    for after in range(len(trials) + 1):
        check_resumes(lambda: begin(reach_pps), trials, asks, after)


# Where nothing can be tested, the minimum is tried before giving up.


def sinking(asked: Ask) -> Told:
    """A tester that offers half of what is asked, whatever that is."""
    return offered_at_most(asked.load_pps / 2, carries(inf))(asked)


@pytest.mark.parametrize("begin", SEARCHING)
def test_four_ceilings_in_a_row_and_then_the_minimum(begin: Begin, says: Says) -> None:
    finished, _, asks = run(begin(None), sinking)
    loads = [100_000 * 0.49**step for step in range(4)]
    # The minimum is asked for as often as any load that may be testable later.
    assert [each.load_pps for each in asks] == pytest.approx([*loads, 1000, 1000, 1000])
    assert finished.first.load_line_pps is None
    assert finished.first.reason == says("1")


@pytest.mark.parametrize(
    ("begin", "testable_pps"),
    # The first two halve the load four times, the third its logarithm.
    [(binary, 5000.0), (load_line, 5000.0), (mlr, 1500.0)],
)
def test_from_a_minimum_that_can_be_tested_the_search_goes_up_again(
    begin: Begin, testable_pps: float
) -> None:
    """Above so much all trials are invalid, and nothing says what the tester could offer."""
    finished, _, asks = run(begin(None), judged(lambda a: _stalled_above(testable_pps, a)))
    found = finished.first.load_line_pps
    assert found is not None
    assert 0.6 * testable_pps < found <= testable_pps
    assert finished.first.limited_by == "tester"
    assert min(each.load_pps for each in asks) == 1000


@pytest.mark.parametrize("begin", SEARCHING)
def test_what_has_passed_is_proved_rather_than_given_up(begin: Begin) -> None:
    """From the second trial that passed on, only validations can be tested."""
    passed: list[float] = []

    def verdict(asked: Ask) -> JudgedVerdict:
        if asked.phase == "validation":
            return "pass"
        if asked.load_pps == 100_000:
            return "fail"
        if passed and asked.load_pps not in passed:
            return "invalid"
        passed.append(asked.load_pps)
        return "pass"

    finished, _, _ = run(begin(None), judged(verdict))
    assert finished.first.load_line_pps is not None


def _stalled_above(load_pps: float, asked: Ask) -> JudgedVerdict:
    return "invalid" if asked.load_pps > load_pps else "pass"


# The settings hand the reach to the plan.


@pytest.mark.parametrize("strategy", ["binary", "checkpoints", "load-line", "mlrsearch"])
def test_every_strategy_takes_the_reach(strategy: str) -> None:
    settings: SearchModel = TypeAdapter(SearchSettings).validate_python(
        {"strategy": strategy, "minimum": "1000pps", "maximum": "100000pps"}
    )
    goals = dict.fromkeys(settings.loss_ratios, 0.0)
    search = settings.begin(frames_of_64_bytes(), REACH)
    _, _, asks = run(search, offered_at_most(CEILING, carries(inf, goals)))
    assert max(each.load_pps for each in asks) <= REACH
