"""Which repetitions are left out, and why."""

from dataclasses import dataclass

from plimsoll.errors import MachineError
from plimsoll.methods.matrix.result import SampleResult
from plimsoll.methods.matrix.settings import Sample, in_order
from plimsoll.methods.plugfest.plan import PlugfestCourse
from tests.worded.says import Says


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def course(clock: Clock, budget_s: float | None, **changed: object) -> PlugfestCourse:
    made = PlugfestCourse(refused={}, settled=0.02, budget_s=budget_s, clock=clock)
    for name, value in changed.items():
        setattr(made, name, value)
    return made


def found(number: int, load_pps: float | None, error: str | None = None) -> SampleResult:
    return SampleResult(
        number=number,
        directory=f"sample-{number}",
        load_line_pps=load_pps,
        limited_by=None,
        reason=None,
        error=error,
    )


def test_rounds_have_each_iteration_once_in_orders_of_their_own() -> None:
    order = list(in_order(20, 3, "rounds", 9))
    rounds = [order[start : start + 20] for start in (0, 20, 40)]
    for number, samples in enumerate(rounds, start=1):
        assert {each.number for each in samples} == {number}
        assert sorted(each.iteration for each in samples) == list(range(1, 21))
    drawn = [[each.iteration for each in samples] for samples in rounds]
    assert drawn[0] != drawn[1] != drawn[2]
    assert order == list(in_order(20, 3, "rounds", 9))
    assert order != list(in_order(20, 3, "rounds", 10))


def test_what_is_refused_is_not_tried(says: Says) -> None:
    error = MachineError("no such switch", remedy="install it")
    reason = course(Clock(), None, refused={2: error}).reason_to_skip(Sample(2, 1), {})
    assert reason == says()


def test_an_error_that_came_twice_is_not_asked_for_again() -> None:
    results = {Sample(1, n): found(n, None, "it died") for n in (1, 2)}
    made = course(Clock(), None)
    assert made.reason_to_skip(Sample(1, 2), {Sample(1, 1): results[Sample(1, 1)]}) is None
    assert "it died" in (made.reason_to_skip(Sample(1, 3), results) or "")
    assert made.reason_to_skip(Sample(2, 3), results) is None


def test_a_settled_cell_is_repeated_no_further() -> None:
    narrow = {Sample(1, n): found(n, 1000.0 + n) for n in range(1, 7)}
    made = course(Clock(), None)
    assert (made.reason_to_skip(Sample(1, 7), narrow) or "").startswith("settled")
    five = {sample: each for sample, each in narrow.items() if sample.number < 6}
    assert made.reason_to_skip(Sample(1, 6), five) is None


def test_repetitions_end_with_the_budget_and_cells_do_not(says: Says) -> None:
    clock = Clock()
    made = course(clock, 100.0)
    made.ended(Sample(1, 1), 30.0)
    made.ended(Sample(2, 1), 10.0)
    clock.now += 75.0
    # 25 s are left.
    assert (made.reason_to_skip(Sample(1, 2), {}) or "") == says()
    assert made.reason_to_skip(Sample(2, 2), {}) is None
    clock.now += 1000.0
    assert made.reason_to_skip(Sample(3, 1), {}) is None
    assert (made.reason_to_skip(Sample(2, 2), {}) or "") == says()


def test_what_earlier_sessions_took_counts(says: Says) -> None:
    made = course(Clock(), 100.0, spent_s=95.0)
    made.ended(Sample(1, 1), 10.0)
    assert (made.reason_to_skip(Sample(1, 2), {}) or "") == says()
