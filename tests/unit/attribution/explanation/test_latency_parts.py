"""Whose a latency is, with absences of both sides written by hand."""

from dataclasses import replace

from plimsoll.attribution.events.trace_reading import TraceCoverage
from plimsoll.attribution.explanation.latency_parts import (
    LatencyParts,
    TimedFrames,
    latency_parts,
)
from plimsoll.attribution.explanation.seen_windows import seen_windows
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from tests.unit.attribution.traces import (
    AT,
    DUT,
    LOOPS,
    MS,
    TESTER,
    WHOLE,
    latency,
    seen,
    stall,
    visit,
)

OWN_PID = 4242


def _parts(
    begin: int,
    end: int,
    events: list[KernelEvent],
    *stalls: Incident,
    loops: tuple[PollingLoop, ...] = LOOPS,
    coverage: TraceCoverage = WHOLE,
) -> LatencyParts:
    """Of a frame sent at `begin` and received at `end`, in ns after AT."""
    frames = TimedFrames("probe/0-1", 1, AT + begin, AT + end, across_stall=True)
    incidents = [latency(begin, end), *stalls]
    observed = seen(incidents, events, loops=loops, coverage=coverage, own_threads={OWN_PID})
    (found,) = latency_parts([frames], list(seen_windows(observed)), observed)
    return found


def _split(found: LatencyParts) -> tuple[int, int, int]:
    assert found.tester_ns + found.dut_ns + found.undecided_ns == found.latency_ns
    return found.tester_ns, found.dut_ns, found.undecided_ns


def test_a_frame_sent_while_the_dut_was_away_was_held_until_it_was_back() -> None:
    # Away for 10 ms, sent 1 ms into that, received half a millisecond after it.
    found = _parts(1 * MS, 10 * MS + MS // 2, visit(0, 10 * MS, DUT, 812, "java"))
    assert found.held_by_dut_ns == 9 * MS
    assert _split(found) == (0, 9 * MS, MS // 2)


def test_time_in_which_the_tester_was_away_too_is_unattributed_and_proves_nothing() -> None:
    events = [*visit(0, 10 * MS, DUT, 812, "java"), *visit(2 * MS, 5 * MS, TESTER, 813, "cc1")]
    found = _parts(1 * MS, 11 * MS, events)
    assert found.held_by_dut_ns == 6 * MS
    assert _split(found) == (0, 6 * MS, 4 * MS)


def test_a_stall_after_the_dut_was_back_is_the_testers() -> None:
    events = [*visit(0, 6 * MS, DUT, 812, "java"), *visit(6 * MS, 9 * MS, TESTER, 813, "cc1")]
    found = _parts(1 * MS, 9 * MS, events)
    assert found.held_by_dut_ns == 5 * MS
    assert _split(found) == (3 * MS, 5 * MS, 0)


def test_a_frame_sent_before_the_dut_went_may_have_waited_with_the_tester() -> None:
    found = _parts(-1 * MS, 10 * MS, visit(0, 10 * MS, DUT, 812, "java"))
    assert found.held_by_dut_ns == 0
    assert _split(found) == (0, 10 * MS, 1 * MS)


def test_a_stall_that_only_the_loop_itself_saw_is_the_testers() -> None:
    found = _parts(0, 5 * MS, [], stall(1 * MS, 4 * MS))
    assert found.held_by_dut_ns == 0
    assert _split(found) == (3 * MS, 0, 2 * MS)


def test_without_the_kernels_events_nothing_is_proven_of_the_dut() -> None:
    away = visit(0, 10 * MS, DUT, 812, "java")
    found = _parts(1 * MS, 10 * MS, away, stall(3 * MS, 4 * MS), coverage=TraceCoverage({}))
    assert found.held_by_dut_ns == 0
    assert _split(found) == (1 * MS, 0, 8 * MS)


def test_events_lost_on_the_testers_cpu_leave_the_parts_and_take_the_proof() -> None:
    only_dut = TraceCoverage({DUT.cpu: (0, 2**62)})
    found = _parts(1 * MS, 10 * MS, visit(0, 10 * MS, DUT, 812, "java"), coverage=only_dut)
    assert found.held_by_dut_ns == 0
    assert _split(found) == (0, 9 * MS, 0)


def test_what_plimsoll_takes_of_the_duts_cpu_is_the_testers() -> None:
    ours = _parts(1 * MS, 10 * MS, visit(0, 10 * MS, DUT, OWN_PID, "python3"))
    assert (ours.held_by_dut_ns, _split(ours)) == (0, (9 * MS, 0, 0))
    named_alike = _parts(1 * MS, 10 * MS, visit(0, 10 * MS, DUT, 812, "plimsoll-observe"))
    assert (named_alike.held_by_dut_ns, _split(named_alike)) == (9 * MS, (0, 9 * MS, 0))


def test_where_several_loops_may_have_had_the_frame_all_must_be_away() -> None:
    other = replace(DUT, cpu=2, thread_id=201)
    coverage = TraceCoverage(dict.fromkeys((0, 1, 2), (0, 2**62)))
    loops = (*LOOPS, other)
    one_away = visit(0, 10 * MS, DUT, 812, "java")
    found = _parts(1 * MS, 10 * MS, one_away, loops=loops, coverage=coverage)
    assert (found.held_by_dut_ns, found.dut_ns) == (0, 0)
    both_away = [*one_away, *visit(0, 7 * MS, other, 813, "java")]
    found = _parts(1 * MS, 10 * MS, both_away, loops=loops, coverage=coverage)
    assert (found.held_by_dut_ns, found.dut_ns) == (6 * MS, 6 * MS)


def test_a_loop_of_another_stream_does_not_matter() -> None:
    other = replace(DUT, cpu=2, thread_id=201, streams=("load/1-0",))
    coverage = TraceCoverage(dict.fromkeys((0, 1, 2), (0, 2**62)))
    away = visit(0, 10 * MS, DUT, 812, "java")
    found = _parts(1 * MS, 10 * MS, away, loops=(*LOOPS, other), coverage=coverage)
    assert found.held_by_dut_ns == 9 * MS


def test_a_latency_outside_of_all_windows_is_undecided() -> None:
    frames = TimedFrames("probe/0-1", 2, AT + 900 * MS, AT + 903 * MS, across_stall=True)
    observed = seen([latency(0, MS)], [])
    (found,) = latency_parts([frames], list(seen_windows(observed)), observed)
    assert (found.frames, found.held_by_dut_ns) == (2, 0)
    assert _split(found) == (0, 0, 3 * MS)
