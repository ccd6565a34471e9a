"""vCPUs that stood still: by run time that lacks, and by ticks that did not come."""

import pytest

from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.ranking.trial_causes import loss_blame
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import Cause
from tests.unit.attribution.traces import (
    AT,
    DUT,
    MS,
    US,
    event,
    latency,
    loss,
    move,
    seen,
    stall,
    visit,
)

HOST = HostTicks(0.004, virtual=True, irq_time=False, steal_apart=True)


def tick(at: int, cpu: int = 1) -> list[KernelEvent]:
    loop = {1: 200, 0: 100}[cpu]
    return [
        event(at, cpu, "local_timer_entry", vector=236, common_pid=loop),
        event(at + 1 * US, cpu, "hrtimer_expire_entry", function="tick_nohz_handler",
              common_pid=loop),
        event(at + 5 * US, cpu, "local_timer_exit", vector=236, common_pid=loop),
    ]  # fmt: skip


def ran(at: int, runtime: int, pid: int = 200, cpu: int = 1) -> KernelEvent:
    return event(at, cpu, "sched_stat_runtime", pid=pid, runtime=runtime)


def ticking(*at: int) -> list[KernelEvent]:
    return [each for one in at for each in tick(one)]


def causes(incident: Incident, events: list[KernelEvent], **more: object) -> tuple[Cause, ...]:
    (found,) = explain(seen([incident], events, **{"ticks": HOST, **more}))
    return found.causes


def test_stolen_time_is_what_the_run_time_lacks() -> None:
    """A tick due at 4 ms comes at 12.5: the loop ran 2.5 ms of the time since the last one."""
    events = [*tick(0), ran(2 * US, 4 * MS), *tick(12_500 * US), ran(12_502 * US, 2_500 * US)]
    first = causes(latency(2_500 * US, 12_500 * US), events)[0]
    assert (first.kind, first.name, first.cpu) == ("hypervisor-steal", "steal of CPU 1", 1)
    assert first.confidence == "exact"
    assert first.length_ns == pytest.approx(10 * MS, rel=0.001)


def test_a_run_time_that_another_cpu_brought_up_to_date_is_not_lacking() -> None:
    """Whoever wakes a task on the loop's CPU does: then the next one counts from there."""
    events = [*tick(0), ran(2 * US, 4 * MS), ran(3 * MS, 3 * MS - 2 * US, cpu=0), *tick(4 * MS),
              ran(4 * MS + 2 * US, 1 * MS + 2 * US)]  # fmt: skip
    (cause,) = causes(latency(0, 4 * MS), events)[:1]
    assert cause.kind == "unexplained"


def test_a_loop_that_spins_elsewhere_was_not_stolen_from() -> None:
    """In a signal handler, say: its ticks come, and its run time is whole."""
    at = list(range(0, 44 * MS, 4 * MS))
    events = [*ticking(*at), *(ran(each + 2 * US, 4 * MS) for each in at)]
    steal = move("hypervisor-steal", "steal of CPU 1", 1, moved_ns=40 * MS)
    incident = loss(1 * MS, 41 * MS, 12_000)
    (found,) = explain(seen([incident], events, ticks=HOST, counters=(steal,)))
    (cause,) = found.causes
    assert (cause.kind, cause.owner) == ("busy-elsewhere", "dut")
    assert cause.name == "dpdk-testpmd itself was busy elsewhere"
    assert loss_blame([found]).unseen == 12_000


def test_whether_it_was_busy_is_not_said_without_its_ticks() -> None:
    (cause,) = causes(loss(1 * MS, 41 * MS, 12_000), [])
    assert cause.kind == "unexplained"
    # Some frames came through: an overloaded DUT.
    at = list(range(0, 44 * MS, 4 * MS))
    (cause,) = causes(loss(1 * MS, 41 * MS, 20), ticking(*at))
    assert cause.kind == "unexplained"


@pytest.mark.parametrize(
    ("next_tick", "missing"), [(11_900 * US, "2 ticks"), (8 * MS, "1 tick"), (5_900 * US, None)]
)
def test_ticks_that_did_not_come_show_a_cpu_that_stood_still(
    next_tick: int, missing: str | None
) -> None:
    events = [*ticking(-4 * MS, 0), *ticking(next_tick)]
    first = causes(latency(1 * MS, next_tick), events)[0]
    if missing is None:
        assert first.kind == "unexplained"
        return
    assert (first.kind, first.name) == (
        "stood-still",
        f"the vCPU stood still ({missing} missing)",
    )
    assert first.length_ns == next_tick - 1 * MS
    assert first.confidence == "exact"


def test_that_is_the_platforms_and_never_the_duts() -> None:
    events = [*ticking(-4 * MS, 0), *ticking(12 * MS)]
    found = explain(seen([loss(2 * MS, 12 * MS, 900)], events, ticks=HOST))
    assert loss_blame(found).platform == pytest.approx(900, rel=0.01)


def test_a_softirq_in_which_the_vcpu_stood_still_is_not_what_took_10_ms() -> None:
    begin, end = 10 * US, 10 * US + 10_230 * US
    events = [
        *ticking(-4 * MS, 0),
        event(begin, 1, "softirq_entry", vec=1, common_pid=200),
        event(end, 1, "softirq_exit", vec=1, common_pid=200),
        *ticking(end + 10 * US),
    ]
    first, *others = causes(latency(begin, end), events)
    assert first.kind == "stood-still"
    assert first.length_ns == pytest.approx(10_230 * US, rel=0.01)
    assert "softirq" not in {cause.kind for cause in others}


def test_ticks_that_a_cpu_does_not_have_are_not_missing() -> None:
    events = [*ticking(-4 * MS, 0), *ticking(12 * MS)]
    tickless = HostTicks(0.004, tickless=frozenset({1}), virtual=True)
    (cause, *_) = causes(latency(1 * MS, 12 * MS), events, ticks=tickless)
    assert cause.kind == "unexplained"
    (cause, *_) = causes(latency(1 * MS, 12 * MS), events, ticks=None)
    assert cause.kind == "unexplained"


def test_a_task_and_what_was_stolen_are_not_counted_twice() -> None:
    """The CPU stood still while java had it: 9 of the 12 ms."""
    events = [
        *ticking(-4 * MS, 0),
        *visit(100 * US, 12_100 * US, DUT, 812, "java"),
        *[each for each in ticking(12 * MS) if each.name != "x"],
    ]
    found = causes(latency(100 * US, 12_100 * US), events)
    assert sum(cause.length_ns or 0 for cause in found) <= 12 * MS
    still = next(cause for cause in found if cause.kind == "stood-still")
    java = next((cause.length_ns or 0 for cause in found if cause.name == "java"), 0)
    assert (still.length_ns or 0) + java == pytest.approx(12 * MS, rel=0.01)


def test_interrupts_are_taken_off_where_the_kernel_counts_them_apart() -> None:
    """2 ms of an interrupt in 4 ms: with IRQ_TIME_ACCOUNTING run time lacks these, too."""
    events = [
        *tick(0),
        ran(2 * US, 4 * MS),
        event(1 * MS, 1, "irq_handler_entry", irq=30, name="nvme0q1", common_pid=200),
        event(3 * MS, 1, "irq_handler_exit", irq=30, common_pid=200),
        *tick(4 * MS),
        ran(4 * MS + 2 * US, 2 * MS),
    ]
    apart = HostTicks(0.004, virtual=True, irq_time=True, steal_apart=True)
    kinds = {cause.kind for cause in causes(latency(0, 4 * MS), events, ticks=apart)}
    assert ("interrupt" in kinds, "hypervisor-steal" in kinds) == (True, False)


def test_stolen_time_explains_a_stall_where_the_loop_measured_it() -> None:
    """Its place is known to a tick; the loop knows it better."""
    events = [
        *(each for at in (0, 4 * MS) for each in tick(at, 0)),
        ran(2 * US, 4 * MS, 100, 0),
        ran(4 * MS + 2 * US, 3 * MS, 100, 0),
    ]
    incident = stall(1 * MS, 2 * MS)
    (found,) = explain(seen([incident], events, ticks=HOST))
    (cause,) = found.causes
    assert (cause.kind, cause.confidence) == ("hypervisor-steal", "exact")
    assert (cause.begin_tsc, cause.length_ns) == (AT + 1 * MS, 1 * MS)
