"""Nobody is blamed whom the events do not show."""

from plimsoll.attribution.events.trace_reading import NO_TRACE, TraceCoverage
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.observations import PathLoad
from tests.unit.attribution.traces import (
    AT,
    DUT,
    MS,
    TESTER,
    US,
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


def test_a_quiet_window_stays_unexplained() -> None:
    (cause,) = explained(stall(0, 4 * MS), []).causes
    assert (cause.kind, cause.confidence) == ("unexplained", "unexplained")
    assert "no kernel event on CPU 0" in cause.name


def test_events_of_another_cpu_explain_no_stall_of_this_one() -> None:
    (cause,) = explained(stall(0, 4 * MS), visit(0, 4 * MS, DUT, 812, "java")).causes
    assert cause.kind == "unexplained"


def test_the_tick_after_a_long_stall_is_not_what_made_it() -> None:
    # What a virtual machine sees that was not run for 4 ms: one late tick, and no more.
    events = [
        event(3_990 * US, 0, "local_timer_entry", vector=236),
        event(3_996 * US, 0, "local_timer_exit", vector=236),
    ]
    (cause,) = explained(stall(0, 4 * MS), events).causes
    assert (cause.kind, cause.length_ns) == ("unexplained", 3_994 * US)


def test_a_visit_outside_the_stall_is_not_its_cause() -> None:
    (cause,) = explained(stall(0, 4 * MS), visit(5 * MS, 6 * MS, TESTER, 812, "java")).causes
    assert cause.kind == "unexplained"


def test_where_events_were_lost_no_one_is_named() -> None:
    lost = TraceCoverage({0: (AT + 2 * MS, 2**62)})
    (cause,) = explained(
        stall(0, 4 * MS), visit(0, 4 * MS, TESTER, 812, "java"), coverage=lost
    ).causes
    assert cause.kind == "unexplained"
    assert "not complete" in cause.name


def test_without_a_trace_counters_speak_and_say_so() -> None:
    counters = (move("task", "java", 0), move("interrupt", "irq 30", 1))
    (cause,) = explained(stall(0, 4 * MS), [], counters, NO_TRACE).causes
    assert (cause.kind, cause.name, cause.confidence) == ("task", "java", "counter")


def test_without_a_trace_no_one_says_that_it_had_gaps() -> None:
    (cause,) = explained(stall(0, 4 * MS), [], (), NO_TRACE).causes
    assert (cause.kind, "were not recorded" in cause.name) == ("unexplained", True)


def test_with_a_whole_trace_a_counter_of_tasks_explains_nothing() -> None:
    (cause,) = explained(stall(0, 4 * MS), [], (move("task", "java", 0),)).causes
    assert cause.kind == "unexplained"


def test_a_counter_that_moved_in_another_second_explains_nothing() -> None:
    later = stall(2_000 * MS, 2_004 * MS)
    (cause,) = explained(later, [], (move("hypervisor-steal", "steal", 0),)).causes
    assert cause.kind == "unexplained"


def test_a_visit_whose_end_is_missing_is_blamed_for_no_frame_sent_later() -> None:
    # The switch back to the loop at 30 us is missing; at 4 ms the loop is seen on its CPU.
    events = [
        switch(0, 1, 200, 75, comm="tokio-rt-worker"),
        event(4 * MS, 1, "local_timer_entry", vector=236, common_pid=200),
        event(4 * MS + 5 * US, 1, "local_timer_exit", vector=236, common_pid=200),
    ]
    (cause, *_) = explained(latency(2 * MS, 2_100 * US), events).causes
    assert cause.kind == "unexplained"


def test_a_stall_is_only_partly_explained_by_a_visit_whose_end_is_missing() -> None:
    events = [
        switch(0, 0, 100, 75, comm="tokio-rt-worker"),
        event(4 * MS, 0, "local_timer_entry", vector=236, common_pid=100),
        event(4 * MS + 5 * US, 0, "local_timer_exit", vector=236, common_pid=100),
    ]
    (cause,) = explained(stall(0, 4 * MS), events).causes
    assert (cause.name, cause.confidence) == ("tokio-rt-worker", "partial")


def test_a_short_tick_does_not_explain_a_long_latency() -> None:
    events = [
        event(10 * US, 1, "local_timer_entry", vector=236),
        event(15 * US, 1, "local_timer_exit", vector=236),
    ]
    first, second = explained(latency(0, 100 * US), events).causes
    assert (first.kind, first.length_ns) == ("unexplained", 95 * US)
    assert (second.kind, second.length_ns, second.confidence) == ("timer-tick", 5 * US, "partial")


def test_a_loop_that_does_not_carry_the_stream_is_not_blamed() -> None:
    other = type(DUT)("dut", "dpdk-testpmd", 1, 200, streams=("load/1-0",))
    events = visit(0, 4 * MS, DUT, 812, "java")
    (cause,) = explained(latency(0, 4 * MS), events, loops=(TESTER, other)).causes
    assert cause.kind == "unexplained"


def test_an_absence_shorter_than_the_queue_takes_to_overflow_lost_nothing() -> None:
    # 1024 frames at 1 Mpps: 1.024 ms; the visit took 0.1 ms.
    load = PathLoad(offered_pps=1e6, queue_frames=1024)
    events = visit(0, 100 * US, DUT, 812, "java")
    (cause,) = explained(loss(0, 100 * US), events, load=load).causes
    assert cause.kind == "unexplained"


def test_hostile_fields_are_survived() -> None:
    events = [
        event(0, 0, "sched_switch", prev_pid="x", next_pid="y", prev_state="?", next_comm=5),
        event(1, 0, "sched_waking", pid="z"),
        event(2, 0, "softirq_entry", vec=-1),
        event(3, 0, "softirq_exit", vec=99),
        event(4, 0, "ipi_send_cpumask", cpumask="zz" * 4000),
        event(5, 0, "ipi_send_cpu", cpu="one"),
        event(6, 0, "signal_generate", sig="KILL", pid=1),
        event(7, 0, "workqueue_execute_start"),
        event(8, 9999, "hrtimer_expire_entry", function=2**70),
    ]
    assert explained(stall(0, 4 * MS), events).causes


def test_no_incidents_have_no_explanations() -> None:
    assert explain(seen([], [])) == ()
