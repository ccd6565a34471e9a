"""Times in which a virtual CPU did not run, as far as its guest's kernel can tell. Pure.

Stolen time: between two events at which the scheduler brings a task's run time up to date, while
the task has its CPU, what the run time lacks of the time that went by was stolen. The kernel leaves
it out of run time where it accounts steal (CONFIG_PARAVIRT_TIME_ACCOUNTING); where it does not,
nothing is lacking and nothing is found. Where it accounts interrupts apart from tasks
(CONFIG_IRQ_TIME_ACCOUNTING) they are lacking too, and are taken off.

Missing ticks: a CPU that is neither idle nor tickless has a tick every period. One that comes more
than half a period late shows that the CPU did not run, and not why.

How long a CPU stood still is known; when is known to the events around it, as it ran at each.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plimsoll.attribution.events.cpu_timeline import Slice, is_tick
from plimsoll.attribution.events.trace_reading import TraceReading
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

_NS_PER_S = 1e9
# The scheduler reads its clock before the event is written, with interrupts in between at times.
_MIN_STOLEN_S = 50e-6
# A tick is taken late where interrupts are off; that lasts for microseconds.
_LATE_TICK = 1.5
# What was measured as stolen explains ticks that are missing in the same time.
_SAME = 0.8


@dataclass(frozen=True, slots=True)
class Standstill:
    """A CPU stood still for `ticks` (of the TSC) somewhere between `begin` and `end`.

    `missing` counts the timer ticks that did not come; 0 where its length is by run time, as time
    that was stolen. Then it lasted just so long, else at least.
    """

    begin: int
    end: int
    ticks: int
    missing: int = 0

    def placed(self, until: int) -> tuple[int, int]:
        """Where it lies if it ended about `until`, as what it held up did."""
        end = min(max(until, self.begin + self.ticks), self.end)
        return end - self.ticks, end


def standstills(
    reading: TraceReading,
    events: Sequence[KernelEvent],
    loop: PollingLoop,
    tsc_hz: float,
    host: HostTicks | None,
) -> tuple[Standstill, ...]:
    """Those of the loop's CPU in a window, by their begin; `events` are all of the window."""
    times = [event.tsc for event in events if event.cpu == loop.cpu]
    stolen = list(_stolen(reading, events, loop, tsc_hz, host))
    pieces = [piece for each in stolen for piece in _in_gaps(each, times)]
    if host is not None and loop.cpu not in host.tickless:
        period = round(host.period_s * tsc_hz)
        late = _late_ticks(reading.slices(loop.cpu), ticks_on(events, loop.cpu), times, period)
        pieces += [each for each in late if not _is_stolen(each, pieces)]
    return tuple(sorted(pieces, key=lambda each: each.begin))


def is_steal_measured(
    events: Sequence[KernelEvent], loop: PollingLoop, host: HostTicks | None
) -> bool:
    """Whether the kernel leaves stolen time out of run time, and the loop's was recorded."""
    return (
        host is not None
        and host.steal_apart
        and any(
            event.name == "sched_stat_runtime" and event.fields.get("pid") == loop.thread_id
            for event in events
        )
    )


def _stolen(
    reading: TraceReading,
    events: Sequence[KernelEvent],
    loop: PollingLoop,
    tsc_hz: float,
    host: HostTicks | None,
) -> Iterator[Standstill]:
    """While the loop has its CPU; of other tasks not every such event is recorded."""
    least = round(_MIN_STOLEN_S * tsc_hz)
    for begin, end, runtime_ns in _run_times(events, loop):
        lacking = end - begin - round(runtime_ns * tsc_hz / _NS_PER_S)
        if lacking >= least and (host is None or host.irq_time):
            lacking -= _interrupted(reading.slices(loop.cpu), begin, end)
        if lacking >= least:
            yield Standstill(begin, end, lacking)


def _run_times(events: Sequence[KernelEvent], loop: PollingLoop) -> Iterator[tuple[int, int, int]]:
    """From when to when the loop had its CPU without a break, and for how long it ran by that, ns.

    Any CPU may have brought the run time up to date. Where another task is seen on the loop's CPU
    whose coming was not, how long that had it is not known.
    """
    since: int | None = None
    for event in events:
        fields = event.fields
        if event.name == "sched_switch":
            if event.cpu == loop.cpu:
                since = event.tsc if fields.get("next_pid") == loop.thread_id else None
        elif event.cpu == loop.cpu and fields.get("common_pid", loop.thread_id) != loop.thread_id:
            since = None
        elif event.name == "sched_stat_runtime" and fields.get("pid") == loop.thread_id:
            runtime = fields.get("runtime")
            if since is not None and isinstance(runtime, int):
                yield since, event.tsc, runtime
            if since is not None or event.cpu == loop.cpu:
                since = event.tsc


def _interrupted(slices: Sequence[Slice], begin: int, end: int) -> int:
    return sum(
        min(piece.end, end) - max(piece.begin, begin)
        for piece in _meeting(slices, begin, end)
        if piece.interruption is not None
    )


def _meeting(slices: Sequence[Slice], begin: int, end: int) -> Sequence[Slice]:
    first = bisect_right(slices, begin, key=lambda piece: piece.end)
    return slices[first : bisect_left(slices, end, key=lambda piece: piece.begin)]


def _in_gaps(stolen: Standstill, times: Sequence[int]) -> Iterator[Standstill]:
    """In the longest times without an event of the CPU: at each event it ran."""
    inner = times[bisect_right(times, stolen.begin) : bisect_left(times, stolen.end)]
    edges = [stolen.begin, *inner, stolen.end]
    gaps = sorted(pairwise(edges), key=lambda gap: gap[0] - gap[1])
    left = stolen.ticks
    for begin, end in gaps:
        taken = min(left, end - begin)
        if taken > 0:
            yield Standstill(begin, end, taken)
        left -= taken


def _late_ticks(
    slices: Sequence[Slice], ticks: Sequence[int], times: Sequence[int], period: int
) -> Iterator[Standstill]:
    """From when a tick was due at the latest until the CPU ran again.

    `ticks` are those of the CPU, `times` the times of all of its events.
    """
    for before, after in pairwise(ticks):
        if after - before <= _LATE_TICK * period or _was_idle(slices, before, after):
            continue
        # The longest time in which nothing happened there: all else was handled by a CPU that ran.
        edges = times[bisect_left(times, before) : bisect_right(times, after)]
        begin, end = max(pairwise(edges), key=lambda gap: gap[1] - gap[0])
        due = max(begin, before + period)
        if end > due:
            missing = max(1, round((after - before) / period) - 1)
            yield Standstill(begin, end, end - due, missing)


def ticks_on(events: Sequence[KernelEvent], cpu: int) -> list[int]:
    """When the CPU had its scheduler ticks."""
    return [event.tsc for event in events if event.cpu == cpu and is_tick(event)]


def _was_idle(slices: Sequence[Slice], begin: int, end: int) -> bool:
    return any(piece.visit.pid == 0 for piece in _meeting(slices, begin, end))


def _is_stolen(late: Standstill, stolen: Sequence[Standstill]) -> bool:
    known = sum(each.ticks for each in stolen if each.begin < late.end and late.begin < each.end)
    return known >= _SAME * late.ticks
