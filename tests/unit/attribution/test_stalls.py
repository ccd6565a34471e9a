"""Each kind of cause, in stalls of the tester's loop on CPU 0, from events written by hand."""

import pytest
from msgspec import structs

from plimsoll.attribution.explanation.explain import explain
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import Cause
from tests.unit.attribution.traces import (
    MS,
    TESTER,
    US,
    event,
    explained,
    move,
    seen,
    stall,
    switch,
    visit,
)


def only(events: list[KernelEvent], **more: object) -> Cause:
    """The one cause of a stall of 4 ms that begins at 0."""
    (cause,) = explained(stall(0, 4 * MS), events, **more).causes  # type: ignore[arg-type]
    return cause


def test_a_task_that_ran_instead_is_named_with_its_length_and_waker() -> None:
    events = [
        event(-2 * US, 0, "irq_handler_entry", irq=24, name="virtio0-input.0"),
        event(-2 * US + 500, 0, "sched_waking", pid=812, comm="java"),
        event(-1 * US, 0, "irq_handler_exit", irq=24, ret=1),
        *visit(10 * US, 3_990 * US, TESTER, 812, "java"),
    ]
    cause = only(events)
    assert (cause.kind, cause.name, cause.pid) == ("task", "java", 812)
    assert (cause.owner, cause.cpu) == ("tester", 0)
    assert cause.length_ns == 3_980 * US
    assert cause.woken_by == "irq 24 virtio0-input.0"
    assert cause.confidence == "exact"


def test_a_kworker_is_named_by_the_work_it_did() -> None:
    events = visit(0, 4 * MS, TESTER, 41, "kworker/0:2")
    events.insert(1, event(5, 0, "workqueue_execute_start", function="mm_update_vmstat+0x0/0x60"))
    cause = only(events)
    assert (cause.kind, cause.name) == ("workqueue", "kworker/0:2 (mm_update_vmstat)")


def test_a_task_on_another_cpu_wakes_by_its_name() -> None:
    events = [
        switch(-3 * MS, 1, 200, 900, comm="stress-ng"),
        event(-1 * US, 1, "sched_waking", pid=812, comm="java"),
        *visit(0, 4 * MS, TESTER, 812, "java"),
    ]
    assert only(events).woken_by == "stress-ng (900)"


@pytest.mark.parametrize(
    ("opening", "closing", "kind", "name"),
    [
        (
            {"name": "irq_handler_entry", "irq": 30, "name_": "nvme0q1"},
            {"name": "irq_handler_exit", "irq": 30},
            "interrupt",
            "irq 30 nvme0q1",
        ),
        ({"name": "softirq_entry", "vec": 9}, {"name": "softirq_exit", "vec": 9}, "softirq",
         "softirq RCU"),
        ({"name": "local_timer_entry", "vector": 236}, {"name": "local_timer_exit", "vector": 236},
         "timer-tick", "local_timer"),
        ({"name": "reschedule_entry", "vector": 253}, {"name": "reschedule_exit", "vector": 253},
         "ipi", "IPI reschedule"),
        ({"name": "thermal_apic_entry", "vector": 250},
         {"name": "thermal_apic_exit", "vector": 250}, "interrupt", "thermal_apic"),
    ],
)  # fmt: skip
def test_what_interrupts_is_named(
    opening: dict[str, object], closing: dict[str, object], kind: str, name: str
) -> None:
    events = [
        KernelEvent(event(at, 0, "").tsc, 0, str(each["name"]), _fields(each))
        for at, each in ((100 * US, opening), (3_900 * US, closing))
    ]
    cause = only(events)
    assert (cause.kind, cause.name, cause.confidence) == (kind, name, "exact")
    assert cause.length_ns == 3_800 * US


def _fields(given: dict[str, object]) -> dict[str, int | str]:
    rest = {key.removesuffix("_"): value for key, value in given.items() if key != "name"}
    return {key: value for key, value in rest.items() if isinstance(value, int | str)}


def test_a_timer_that_is_not_the_tick_is_named_by_its_function() -> None:
    events = [
        event(0, 0, "local_timer_entry", vector=236),
        event(10, 0, "hrtimer_expire_entry", function="my_timer_fn"),
        event(4 * MS, 0, "local_timer_exit", vector=236),
    ]
    cause = only(events)
    assert (cause.kind, cause.name) == ("interrupt", "local_timer (my_timer_fn)")


def test_the_tick_is_known_by_its_function() -> None:
    events = [
        event(0, 0, "local_timer_entry", vector=236),
        event(10, 0, "hrtimer_expire_entry", function="tick_nohz_handler"),
        event(4 * MS, 0, "local_timer_exit", vector=236),
    ]
    assert only(events).kind == "timer-tick"


def test_many_timers_with_a_tick_among_them_are_no_tick() -> None:
    events = [
        event(0, 0, "local_timer_entry", vector=236),
        event(10, 0, "hrtimer_expire_entry", function="timerfd_tmrproc"),
        event(20, 0, "hrtimer_expire_entry", function="tick_nohz_handler"),
        event(30, 0, "hrtimer_expire_entry", function="timerfd_tmrproc"),
        event(4 * MS, 0, "local_timer_exit", vector=236),
    ]
    cause = only(events)
    assert (cause.kind, cause.name) == (
        "interrupt",
        "local_timer (timerfd_tmrproc, tick_nohz_handler)",
    )


def test_a_tlb_shootdown_names_its_sender() -> None:
    events = [
        switch(-5 * MS, 1, 200, 700, comm="mprotect-storm"),
        event(-1 * US, 1, "ipi_send_cpumask", cpumask="0"),
        event(0, 0, "call_function_entry", vector=252),
        event(100, 0, "tlb_flush", pages=1, reason=1),
        event(4 * MS, 0, "call_function_exit", vector=252),
    ]
    cause = only(events)
    assert (cause.kind, cause.woken_by) == ("tlb-shootdown", "mprotect-storm (700)")


def test_an_ipi_to_another_cpu_is_not_taken_for_this_one() -> None:
    events = [
        switch(-5 * MS, 1, 200, 700, comm="mprotect-storm"),
        event(-1 * US, 1, "ipi_send_cpumask", cpumask="1"),
        event(0, 0, "call_function_entry", vector=252),
        event(4 * MS, 0, "call_function_exit", vector=252),
    ]
    assert only(events).woken_by is None


@pytest.mark.parametrize("state", ["R", "R+", 0, 0x100])
def test_a_loop_that_could_run_on_an_idle_cpu_was_throttled(state: int | str) -> None:
    events = [
        switch(0, 0, 100, 0, state),
        switch(1 * MS, 0, 0, 50, "R", comm="cron"),
        switch(2 * MS, 0, 50, 0, "S", comm="cron"),
        switch(4 * MS, 0, 0, 100, "R"),
    ]
    cause = only(events)
    # cron runs because the loop may not: it is no cause.
    assert (cause.kind, cause.length_ns, cause.confidence) == ("throttling", 4 * MS, "partial")


def test_throttling_is_certain_with_its_counter_and_names_the_cgroup() -> None:
    events = [switch(0, 0, 100, 0, "R"), switch(4 * MS, 0, 0, 100, "R")]
    counter = move("throttling", "/pods/tester", None, cgroup="/pods/tester")
    cause = only(events, counters=(counter,))
    assert (cause.kind, cause.confidence) == ("throttling", "exact")
    assert cause.cgroup == "/pods/tester"


def filled_by_others(refill: int, back: int) -> list[KernelEvent]:
    """Another task has the CPU from 0 on; a quota is filled up, and the loop comes back."""
    return [
        switch(0, 0, 100, 50, "R", comm="cc1"),
        event(refill, 0, "local_timer_entry", vector=236),
        event(refill, 0, "hrtimer_expire_entry", function="sched_cfs_period_timer"),
        event(refill + 5 * US, 0, "local_timer_exit", vector=236),
        switch(back, 0, 50, 100, "R", comm="cc1"),
    ]


def test_a_throttled_loop_whose_cpu_others_fill_is_back_with_its_quota() -> None:
    counter = move("throttling", "/pods/tester", None, cgroup="/pods/tester")
    found = explained(stall(0, 15 * MS), filled_by_others(14 * MS, 15 * MS), (counter,))
    # The 14 ms until it may run again; who used the CPU meanwhile is no cause of these.
    cause = max(found.causes, key=lambda each: each.length_ns or 0)
    assert (cause.kind, cause.confidence) == ("throttling", "partial")
    assert (cause.length_ns, cause.cgroup) == (14 * MS, "/pods/tester")


@pytest.mark.parametrize(
    ("refill", "back", "counted"),
    [
        # No counter says that it was throttled.
        (15 * MS, 15 * MS + 20 * US, False),
        # It had to wait for longer after the quota was filled up: for the task.
        (2 * MS, 15 * MS, True),
    ],
)
def test_a_task_that_has_the_cpu_is_named_where_no_quota_explains_it(
    refill: int, back: int, *, counted: bool
) -> None:
    counters = (move("throttling", "/pods/tester", None),) if counted else ()
    found = explained(stall(0, back), filled_by_others(refill, back), counters)
    longest = max(found.causes, key=lambda cause: cause.length_ns or 0)
    assert (longest.kind, longest.name) == ("task", "cc1")


@pytest.mark.parametrize(
    ("state", "by"), [("T", "SIGSTOP"), (4, "SIGSTOP"), ("t", "a tracer"), (8, "a tracer")]
)
def test_a_stop_names_the_signal_and_its_sender(state: int | str, by: str) -> None:
    events = [
        switch(-5 * MS, 1, 200, 666, comm="bash"),
        event(-2 * US, 1, "signal_generate", sig=19, comm="plimsoll-engine", pid=99),
        switch(0, 0, 100, 0, state),
        switch(4 * MS, 0, 0, 100, "R"),
    ]
    cause = only(events)
    assert (cause.kind, cause.name) == ("stopped", by)
    assert cause.woken_by == "bash (666)"


def test_a_signal_to_another_process_stopped_nothing_here() -> None:
    events = [
        switch(-5 * MS, 1, 200, 666, comm="bash"),
        event(-2 * US, 1, "signal_generate", sig=19, comm="java", pid=812),
        switch(0, 0, 100, 0, "T"),
        switch(4 * MS, 0, 0, 100, "R"),
    ]
    cause = only(events)
    assert (cause.kind, cause.name, cause.woken_by) == ("stopped", "a signal", None)


def test_a_page_that_was_read_is_a_major_fault() -> None:
    events = [
        event(-20 * US, 0, "page_fault_user", address=4096),
        switch(0, 0, 100, 0, "D"),
        switch(4 * MS, 0, 0, 100, "R"),
    ]
    assert only(events).kind == "major-fault"


def test_a_wait_for_the_kernel_is_no_major_fault_because_a_counter_of_those_moved() -> None:
    """Whichever process had it: a frozen loop waits like this, too."""
    events = [switch(0, 0, 100, 0, "D"), switch(4 * MS, 0, 0, 100, "R")]
    cause = only(events, counters=(move("major-fault", "plimsoll-engine", None),))
    assert cause.kind == "slept"


def test_memory_that_the_loop_itself_had_to_reclaim_is_memory_pressure() -> None:
    events = [
        event(0, 0, "mm_vmscan_direct_reclaim_begin", order=0),
        event(4 * MS, 0, "mm_vmscan_direct_reclaim_end", nr_reclaimed=32),
    ]
    assert only(events).kind == "memory-pressure"
    visitor = visit(0, 4 * MS, TESTER, 812, "java")
    assert (
        only(
            [
                visitor[0],
                *(structs.replace(e, tsc=e.tsc + n + 1) for n, e in enumerate(events[:1])),
                visitor[1],
            ]
        ).name
        == "java"
    )


@pytest.mark.parametrize("state", ["D", 2, "S", 1])
def test_a_loop_that_went_to_sleep_is_not_blamed_on_what_ran_then(state: int | str) -> None:
    events = visit(0, 4 * MS, TESTER, 812, "java")
    events[0] = switch(0, 0, 100, 812, state, comm="java")
    assert only(events).kind == "slept"


def test_waking_up_from_idle_is_apart_from_the_sleep() -> None:
    events = [
        switch(0, 0, 100, 0, "S"),
        event(1 * MS, 1, "sched_waking", pid=100, comm="rte-worker-1"),
        switch(4 * MS, 0, 0, 100, "R"),
    ]
    idle, sleep = explained(stall(0, 4 * MS), events).causes
    assert (idle.kind, idle.length_ns) == ("idle-exit", 3 * MS)
    assert (sleep.kind, sleep.length_ns) == ("slept", 1 * MS)


def test_an_interrupt_inside_a_visit_is_not_the_visitors_time() -> None:
    events = [
        *visit(0, 4 * MS, TESTER, 812, "java"),
        event(1 * MS, 0, "irq_handler_entry", irq=5, name="disk"),
        event(2 * MS, 0, "irq_handler_exit", irq=5),
    ]
    java, disk = explained(stall(0, 4 * MS), events).causes
    assert (java.name, java.length_ns) == ("java", 3 * MS)
    assert (disk.name, disk.length_ns) == ("irq 5 disk", 1 * MS)


def test_visitors_that_follow_each_other_share_the_stall() -> None:
    events = [
        switch(0, 0, 100, 1, comm="a"),
        event(1 * MS, 0, "sched_switch", prev_pid=1, prev_comm="a", prev_state="S", next_pid=2,
              next_comm="b"),
        switch(4 * MS, 0, 2, 100, "S", comm="b"),
    ]  # fmt: skip
    b, a = explained(stall(0, 4 * MS), events).causes
    assert [(c.name, c.length_ns, c.confidence) for c in (b, a)] == [
        ("b", 3 * MS, "exact"),
        ("a", 1 * MS, "exact"),
    ]


def test_a_visit_that_began_long_before_counts_within_the_stall_only() -> None:
    cause = only(visit(-2 * MS, 4_500 * US, TESTER, 812, "java"))
    assert (cause.length_ns, cause.confidence) == (4 * MS, "exact")


def test_a_change_of_frequency_explains_a_short_stop_alone() -> None:
    events = [event(50 * US, 0, "cpu_frequency", state=2_400_000, cpu_id=0)]
    (cause,) = explained(stall(0, 100 * US), events).causes
    assert (cause.kind, cause.confidence) == ("frequency", "partial")
    assert only(events).kind == "unexplained"


def test_without_an_event_a_moved_steal_counter_says_hypervisor() -> None:
    steal = move("hypervisor-steal", "steal of CPU 0", 0)
    (cause,) = explained(stall(0, 14 * MS), [], (steal,)).causes
    assert (cause.kind, cause.confidence, cause.length_ns) == (
        "hypervisor-steal",
        "counter",
        14 * MS,
    )
    # Shorter than a step of /proc/stat.
    assert only([], counters=(steal,)).kind == "unexplained"


def test_without_an_event_a_moved_smi_counter_says_hardware() -> None:
    cause = only([], counters=(move("hardware", "SMIs", None),))
    assert (cause.kind, cause.confidence) == ("hardware", "counter")


def test_one_smi_explains_one_stall() -> None:
    stalls = [stall(0, 4 * MS), stall(20 * MS, 25 * MS)]
    shorter, longer = explain(seen(stalls, [], counters=(move("hardware", "SMIs", None),)))
    assert [each.causes[0].kind for each in (longer, shorter)] == ["hardware", "unexplained"]


def test_two_counters_that_moved_do_not_say_which_took_how_long() -> None:
    counters = (move("hypervisor-steal", "steal", 0), move("hardware", "SMIs", None))
    causes = explained(stall(0, 14 * MS), [], counters).causes
    assert {cause.kind for cause in causes} == {"hypervisor-steal", "hardware"}
    assert {cause.length_ns for cause in causes} == {None}
