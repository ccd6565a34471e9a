"""Chains: spikes and losses followed to what had a CPU of the path."""

import pytest

from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.observations import PathLoad, StreamLoad
from plimsoll.attribution.explanation.sentence import sentence
from plimsoll.attribution.incidents.incident import Incident, weights
from plimsoll.attribution.incidents.loops import PollingLoop
from tests.unit.attribution.traces import (
    AT,
    DUT,
    LOOPS,
    MS,
    TESTER,
    US,
    WHOLE,
    event,
    explained,
    latency,
    loss,
    move,
    seen,
    stall,
    switch,
    visit,
)


def test_the_chain_of_a_spike_in_the_duts_queue_reads_as_one_sentence() -> None:
    events = [
        event(-3 * US, 1, "irq_handler_entry", irq=24, name="virtio0-input.0"),
        event(-2 * US, 1, "sched_waking", pid=41, comm="kworker/1:2"),
        event(-1 * US, 1, "irq_handler_exit", irq=24),
        *visit(0, 4_100 * US, DUT, 41, "kworker/1:2"),
        event(50, 1, "workqueue_execute_start", function="mm_update_vmstat"),
    ]
    found = explained(latency(-100 * US, 4_200 * US), events)
    assert sentence(found, LOOPS) == (
        "spike of probe/0-1, 4.3 ms: frames waited in the DUT's queue because CPU 1 was taken "
        "from dpdk-testpmd for 4.1 ms by kworker/1:2 (mm_update_vmstat) [41], woken by "
        "irq 24 virtio0-input.0"
    )
    assert [cause.confidence for cause in found.causes] == ["exact"]


def test_a_spike_across_a_stall_of_the_tester_names_the_stall_and_then_its_cause() -> None:
    spike, events = latency(0, 4 * MS), visit(0, 4 * MS, TESTER, 812, "python3")
    found, _ = explain(seen([spike, stall(0, 4 * MS)], events, own_threads={812}))
    link, root = found.causes
    assert (link.kind, link.cpu, link.length_ns) == ("tester-stall", 0, 4 * MS)
    assert (root.kind, root.name, root.owner) == ("task", "python3", "tester")
    assert found.roots == (root,)
    assert "Plimsoll's own" in sentence(found, LOOPS)


def test_without_a_trace_a_spike_is_the_testers_where_its_loop_was_away() -> None:
    spike, away = latency(0, 4 * MS), stall(0, 4 * MS)
    found, _ = explain(seen([spike, away], [], coverage=type(WHOLE)({})))
    link, root = found.causes
    assert (link.kind, link.confidence) == ("tester-stall", "exact")
    assert root.kind == "unexplained"
    assert found.roots == (root,)


def test_a_stall_in_which_the_kernel_saw_nothing_is_still_why_a_frame_waited() -> None:
    counters = [move("hypervisor-steal", "steal of CPU 0", 0)]
    spike, away = latency(0, 14 * MS), stall(0, 14 * MS)
    found, stalled = explain(seen([spike, away], [], counters=counters))
    link, root = found.causes
    assert (link.kind, link.length_ns, link.confidence) == ("tester-stall", 14 * MS, "exact")
    assert (root.kind, root.confidence) == ("hypervisor-steal", "counter")
    assert found.roots == (root,)
    assert [cause.kind for cause in stalled.causes] == ["hypervisor-steal"]


def test_a_frame_sent_after_the_loops_return_waited_for_the_queue_it_left() -> None:
    # Away 4 ms; sent 1 ms after the return, 2 ms under way: 2 ms <= 4 ms of queue.
    found = explained(latency(5 * MS, 7 * MS), visit(0, 4 * MS, DUT, 812, "java"))
    (cause,) = found.causes
    assert (cause.name, cause.confidence, cause.length_ns) == ("java", "partial", 4 * MS)
    assert "waited in the DUT's queue after CPU 1" in sentence(found, LOOPS)


def test_a_queue_explains_no_latency_longer_than_the_absence_that_left_it() -> None:
    (cause,) = explained(latency(5 * MS, 10 * MS), visit(0, 4 * MS, DUT, 812, "java")).causes
    assert cause.kind == "unexplained"


def test_an_absence_too_long_ago_is_not_followed() -> None:
    found = explained(latency(40 * MS, 41 * MS), visit(0, 4 * MS, DUT, 812, "java"))
    assert [cause.kind for cause in found.causes] == ["unexplained"]


def test_what_is_known_of_other_incidents_makes_no_queue_last_longer() -> None:
    # Stalls of the tester all the way: one window, in which the absence 36 ms before is known.
    stalls = [stall(at * MS, at * MS + 100 * US) for at in range(0, 40, 5)]
    incidents = [*stalls, latency(40 * MS, 41 * MS)]
    events = visit(0, 4 * MS, DUT, 812, "java")
    *_, found = explain(seen(incidents, events))
    assert [cause.kind for cause in found.causes] == ["unexplained"]


def test_absences_in_a_row_add_up_to_the_queue_they_left() -> None:
    # Twice 2 ms with 1 ms between: a frame that waited 3 ms after them needs both.
    events = [*visit(0, 2 * MS, DUT, 812, "java"), *visit(3 * MS, 5 * MS, DUT, 41, "cc1")]
    causes = explained(latency(5 * MS, 8 * MS), events).causes
    assert {(cause.name, cause.length_ns) for cause in causes} == {
        ("java", 2 * MS),
        ("cc1", 2 * MS),
    }
    (alone,) = explained(latency(5 * MS, 6 * MS), events).causes
    assert alone.name == "cc1"


def test_both_loops_are_named_the_longer_absence_first() -> None:
    events = [*visit(0, 1 * MS, TESTER, 7, "python3"), *visit(1 * MS, 4 * MS, DUT, 8, "java")]
    found, _ = explain(seen([latency(0, 4 * MS), stall(0, 1 * MS)], events))
    causes = found.causes
    assert [cause.name for cause in causes if cause.kind == "task"] == ["java", "python3"]
    assert {cause.confidence for cause in causes} == {"exact"}


def test_steal_may_be_what_held_a_frame_when_the_kernel_saw_nothing() -> None:
    found = explained(latency(0, 14 * MS), [], (move("hypervisor-steal", "steal of CPU 1", 1),))
    (cause,) = found.causes
    assert (cause.kind, cause.cpu, cause.confidence) == ("hypervisor-steal", 1, "counter")


def test_frames_sent_while_the_loop_was_away_too_long_are_lost_to_it() -> None:
    # 1024 frames at 512 kpps: the queue overflows after 2 ms.
    load = PathLoad(offered_pps=512_000, queue_frames=1024)
    events = visit(0, 4 * MS, DUT, 812, "java")
    found = explained(loss(2 * MS, 4 * MS), events, load=load)
    (cause,) = found.causes
    assert (cause.name, cause.confidence, cause.length_ns) == ("java", "exact", 4 * MS)
    assert sentence(found, LOOPS).startswith(
        "loss of 512 frames of load/0-1: the DUT's queue overflowed because CPU 1 was taken from "
        "dpdk-testpmd for 4 ms by java [812]"
    )


def test_frames_lost_just_after_the_return_are_partly_explained() -> None:
    found = explained(loss(4_200 * US, 4_300 * US), visit(0, 4 * MS, DUT, 812, "java"))
    assert [(c.name, c.confidence) for c in found.causes] == [("java", "partial")]


def test_a_gap_between_frames_with_one_stamp_is_explained_by_what_ran_then() -> None:
    found = explained(loss(2 * MS, 2 * MS), visit(0, 4 * MS, DUT, 812, "java"))
    assert [cause.name for cause in found.causes] == ["java"]


def test_frames_lost_while_the_tester_was_away_are_the_testers() -> None:
    events = visit(0, 4 * MS, TESTER, 812, "java")
    found, _ = explain(seen([loss(-10 * US, 4_010 * US), stall(0, 4 * MS)], events))
    assert [cause.kind for cause in found.causes] == ["tester-stall", "task"]
    assert "the tester's own loop did not poll" in sentence(found, LOOPS)


def test_a_stop_reads_as_one() -> None:
    events = [
        switch(-5 * MS, 0, 100, 666, comm="bash"),
        event(-2 * US, 0, "signal_generate", sig=19, comm="dpdk-testpmd", pid=99),
        switch(0, 1, 200, 0, "T"),
        switch(4 * MS, 1, 0, 200, "R"),
    ]
    found = explained(latency(0, 4 * MS), events)
    assert "dpdk-testpmd on CPU 1 was stopped by SIGSTOP for 4 ms, sent by bash (666)" in sentence(
        found, LOOPS
    )


@pytest.mark.parametrize("incident", [latency(0, 4 * MS), loss(0, 4 * MS), stall(0, 4 * MS)])
def test_without_loops_on_this_host_nothing_is_blamed(incident: object) -> None:
    found = explained(incident, visit(0, 4 * MS, DUT, 812, "java"), loops=())  # type: ignore[arg-type]
    assert [cause.kind for cause in found.causes] == ["unexplained"]


FORWARDER = PollingLoop("dut", "ovs-vswitchd", 1, 200, sleeps=True)


def test_a_dut_that_sleeps_while_no_frame_comes_is_away_only_once_it_was_woken() -> None:
    events = [
        switch(0, 1, 200, 812, "S", comm="stress-ng"),
        event(3 * MS, 0, "sched_waking", pid=200, comm="ovs-vswitchd"),
        switch(4 * MS, 1, 812, 200, "R", comm="stress-ng"),
    ]
    (cause,) = explained(loss(0, 5 * MS), events, loops=(TESTER, FORWARDER)).causes
    assert (cause.kind, cause.name, cause.owner) == ("task", "stress-ng", "dut")
    assert cause.length_ns == 1 * MS


def test_what_runs_while_such_a_dut_sleeps_lost_nothing() -> None:
    events = [
        switch(0, 1, 200, 812, "S", comm="stress-ng"),
        switch(4 * MS, 1, 812, 0, "S", comm="stress-ng"),
    ]
    (cause,) = explained(loss(0, 4 * MS), events, loops=(TESTER, FORWARDER)).causes
    assert cause.kind == "unexplained"


@pytest.mark.parametrize("incident", [latency(0, 4 * MS), loss(0, 4 * MS)])
def test_what_had_the_testers_cpu_is_no_cause_where_its_loop_saw_no_stall(
    incident: Incident,
) -> None:
    events = visit(0, 4 * MS, TESTER, 812, "java")
    steal = move("hypervisor-steal", "steal of CPU 0", 0)
    (cause,) = explained(incident, events, (steal,)).causes
    assert (cause.kind, cause.frames) == ("unexplained", None)
    # A generator that measures no stalls of its own is known by the kernel's events.
    (alone,) = explain(seen([incident], events, stalls_measured=False))
    assert alone.roots[0].name == "java"


def test_it_is_one_for_no_longer_than_the_stall_that_the_loop_measured() -> None:
    events = visit(0, 14 * MS, TESTER, 812, "java")
    # A stall that is no incident of its own, as the list of these is full.
    (found,) = explain(seen([latency(0, 14 * MS)], events, stalls=[stall(2 * MS, 3 * MS)]))
    java = next(cause for cause in found.causes if cause.name == "java")
    assert (java.begin_tsc, java.length_ns) == (AT + 2 * MS, 1 * MS)
    rest = next(cause for cause in found.causes if cause.kind == "unexplained")
    assert rest.length_ns == 13 * MS


def test_steal_of_the_testers_cpu_lasts_no_longer_than_its_loop_stood_still() -> None:
    """A flipped bit: one frame, 15 us, while nothing stalled; and a stall much shorter."""
    steal = move("hypervisor-steal", "steal of CPU 0", 0)
    spike = latency(0, 14 * MS)
    (found,) = explain(seen([spike], [], counters=(steal,), stalls=[stall(0, 2 * MS)]))
    assert "hypervisor-steal" not in {cause.kind for cause in found.causes}
    (flipped,) = explain(seen([loss(0, 15 * US, 1)], [], counters=(steal,)))
    assert [cause.kind for cause in flipped.causes] == ["unexplained"]


def test_an_absence_explains_no_more_frames_than_came_beyond_what_the_queue_holds() -> None:
    # 1024 frames at 512 kpps are there after 2 ms; 4 ms bring some 1,024 more, and a burst.
    load = PathLoad(offered_pps=512_000, queue_frames=1024)
    events = visit(0, 4 * MS, DUT, 812, "java")
    few = explained(loss(2 * MS, 4 * MS, 1024), events, load=load)
    assert [cause.name for cause in few.causes] == ["java"]
    many = explained(loss(2 * MS, 40 * MS, 19_456), events, load=load)
    java, more = many.causes
    assert (java.name, more.kind) == ("java", "unexplained")
    # By 512,000 x (0.004 x 1.1 - 0.002) + 32.
    assert more.frames == pytest.approx(19_456 - 1_260.8)
    shares = {cause.name: share for cause, share in weights(many)}
    assert shares["java"] == pytest.approx(1_260.8 / 19_456)


def test_a_loop_that_was_not_away_for_long_enough_is_not_named_with_one_that_was() -> None:
    load = PathLoad(offered_pps=512_000, queue_frames=1024)
    events = [*visit(0, 4 * MS, DUT, 812, "java"), *visit(1 * MS, 2 * MS, TESTER, 813, "cc1")]
    stalls = [stall(1 * MS, 2 * MS)]
    (found,) = explain(seen([loss(2 * MS, 4 * MS)], events, load=load, stalls=stalls))
    assert [cause.name for cause in found.causes] == ["java"]


def test_a_stream_fills_its_queue_with_all_that_share_it() -> None:
    # 100 kpps of its own, and 1 Mpps in all: 1024 frames are there after 1.024 ms.
    streams = {"load/0-1": StreamLoad(own_pps=100_000, queue_pps=1_000_000)}
    load = PathLoad(queue_frames=1024, streams=streams)
    events = visit(0, 2 * MS, DUT, 812, "java")
    found = explained(loss(1024 * US, 2 * MS, 97), events, load=load)
    assert [cause.name for cause in found.causes] == ["java"]
