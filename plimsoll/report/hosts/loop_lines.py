"""What each polling loop had of its CPU, which the CPU's own states do not show.

To the kernel, time of the loop and time of another program on its CPU are both user time. Only
the loop's own thread distinguishes them (Documentation/scheduler/sched-stats.rst, proc(5)).
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.record.trials.schedule_record import PollingThreadRecord, ScheduleRecord
from plimsoll.report.data.one_host import percent
from plimsoll.report.hosts.host_lines import HostLine

# A loop that waits for less of the time is as good as alone.
_WAITED = 0.002
_MOST_NAMED = 3
_NS_PER_S = 1e9


def loop_lines(schedule: ScheduleRecord | None) -> tuple[HostLine, ...]:
    """A line for each loop on this host, by CPU; none where the kernel counts nothing."""
    if schedule is None or schedule.watched_s <= 0:
        return ()
    threads = sorted(schedule.threads, key=lambda thread: thread.cpu)
    return tuple(_line(thread, schedule) for thread in threads)


def _line(thread: PollingThreadRecord, schedule: ScheduleRecord) -> HostLine:
    watched_ns = schedule.watched_s * _NS_PER_S
    waited = thread.wait_ns / watched_ns
    figure = (
        f"ran {percent(min(1.0, thread.run_ns / watched_ns))}, waited {percent(waited)}, "
        f"taken off {thread.involuntary_switches:,} times"
    )
    where = f"{thread.process} (pid {thread.pid}) CPU {thread.cpu}"
    mark = "invalid" if waited > _WAITED else "ok"
    return HostLine("Polling loop", figure, where, _meaning(thread, schedule, waited), mark)


def _meaning(thread: PollingThreadRecord, schedule: ScheduleRecord, waited: float) -> str:
    if waited <= _WAITED:
        return "It had its CPU for itself: the user time of that CPU is its own."
    others = tuple(_named(thread.cpu, schedule))
    said = "It was ready to run while something else had its CPU, whose user time is in the table"
    return f"{said} too: {', '.join(others)}." if others else f"{said} too."


def _named(cpu: int, schedule: ScheduleRecord) -> Iterable[str]:
    on_cpu = [f"{each.comm} ({each.pid})" for each in schedule.others if each.cpu == cpu]
    return on_cpu[:_MOST_NAMED]
