"""What took the DUT's CPUs, summed up from explanations: each absence once."""

from plimsoll.attribution.events.trace_reading import NO_TRACE
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.incidents.incident import Explanation
from plimsoll.attribution.incidents.loops import LoopOwner
from plimsoll.attribution.ranking.rank import dut_disturbances
from plimsoll.record.causes.causes_record import Confidence
from plimsoll.search.evidence.trial_evidence import Disturbance
from tests.unit.attribution.cause_records import a_cause
from tests.unit.attribution.traces import (
    AT,
    DUT,
    HZ,
    MS,
    TESTER,
    explained,
    latency,
    loss,
    move,
    seen,
    stall,
    visit,
)

FIRST_FRAME = AT - 500 * MS


def _of(*explanations: Explanation) -> tuple[Disturbance, ...]:
    return dut_disturbances(explanations, FIRST_FRAME, HZ)


def _taken(
    begin_ms: int,
    length_ms: float,
    name: str = "java",
    *,
    owner: LoopOwner = "dut",
    confidence: Confidence = "exact",
) -> Explanation:
    """A latency that one task explains."""
    begin, length_ns = AT + begin_ms * MS, round(length_ms * MS)
    cause = a_cause(
        name=name, owner=owner, pid=812, begin_tsc=begin, length_ns=length_ns, confidence=confidence
    )
    return Explanation(latency(begin_ms * MS, begin_ms * MS + length_ns), (cause,))


def test_an_absence_that_delayed_several_frames_and_lost_some_is_one() -> None:
    incidents = [latency(0, 4 * MS), latency(1 * MS, 4 * MS), loss(2 * MS, 3 * MS)]
    events = visit(0, 4 * MS, DUT, 812, "java")
    found = explain(seen(incidents, events))
    (java,) = dut_disturbances(found, FIRST_FRAME, HZ)
    assert (java.kind, java.name, java.cpu, java.count) == ("task", "java", 1, 1)
    (absence,) = java.absences
    assert (absence.at_s, absence.length_ns, absence.confidence) == (0.5, 4 * MS, "exact")


def test_two_absences_are_two_by_time() -> None:
    (java,) = _of(_taken(90, 2), _taken(0, 4), _taken(0, 3))
    assert java.count == 2
    assert [(each.at_s, each.length_ns) for each in java.absences] == [
        (0.5, 4 * MS),
        (0.59, 2 * MS),
    ]


def test_a_frame_that_came_in_the_middle_saw_the_rest_of_the_same_absence() -> None:
    # An interrupt parted the visit: for this frame it begins with its second part.
    (java,) = _of(_taken(0, 4), _taken(2, 2))
    assert [(each.at_s, each.length_ns) for each in java.absences] == [(0.5, 4 * MS)]


def test_interchangeable_workers_are_one_cause() -> None:
    found = _of(_taken(0, 4, "kworker/1:2"), _taken(50, 4, "kworker/1:0"))
    assert [(each.name, each.count) for each in found] == [("kworker", 2)]


def test_what_takes_the_testers_cpu_is_no_disturbance_of_the_dut() -> None:
    events = visit(0, 4 * MS, TESTER, 812, "java")
    assert _of(explained(stall(0, 4 * MS), events), explained(latency(0, 4 * MS), events)) == ()


def test_what_only_a_counter_says_and_what_nothing_explains_is_left_out() -> None:
    by_counter = explained(latency(0, 4 * MS), [], (move("task", "java", 1),), NO_TRACE)
    assert [cause.confidence for cause in by_counter.causes] == ["counter"]
    assert _of(by_counter, explained(latency(0, 4 * MS), [])) == ()


def test_the_first_absences_are_kept_and_the_longest_of_the_rest() -> None:
    # From the 50th on they last 10 ms and more, each a little longer than the one before.
    lengths_ms = [1.0] * 50 + [10.0 + number / 100 for number in range(80)]
    (java,) = _of(*[_taken(100 * at, ms) for at, ms in enumerate(lengths_ms)])
    assert java.count == 130
    kept = [*range(32), *range(66, 130)]
    assert [each.at_s for each in java.absences] == [round(0.5 + 0.1 * at, 6) for at in kept]
    # Between the first ones none is left out.
    assert java.consecutive_s == tuple(each.at_s for each in java.absences[:32])


def test_sixteen_causes_are_kept_those_that_took_most() -> None:
    found = _of(*[_taken(100 * number, 1 + number, f"task-{number}") for number in range(20)])
    assert [each.name for each in found] == [f"task-{number}" for number in range(19, 3, -1)]
