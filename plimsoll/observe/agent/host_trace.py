"""The kernel's trace of this host, recorded for a run on another one."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from pydantic import TypeAdapter

from plimsoll.errors import PlimsollError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger, sweep
from plimsoll.host.ledger.own_processes import StartedByRun
from plimsoll.host.namespaces.network_namespace import has_host_clocks, has_host_process_ids
from plimsoll.host.processes.polling_loops import FoundLoop, loops_on
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.agent.replies import (
    EVENTS_OF_A_LINE,
    MAX_TASKS,
    AgentEvent,
    AgentLoop,
    AgentLoss,
    AgentTicks,
    ClockRead,
    TraceEvents,
    TraceFailed,
    TraceOpened,
    TraceRate,
    TraceRead,
    TraceReply,
    TraceStarted,
)
from plimsoll.observe.kernel_trace.kernel_trace import READABLE_CLOCKS, KernelTrace
from plimsoll.observe.kernel_trace.trace_program import (
    TraceUnavailable,
    Window,
    task_cgroups,
    tasks_seen,
)

_WINDOWS = TypeAdapter(tuple[tuple[int, int], ...])
_LEDGER = "observe"
NO_CPU_NAMED = TraceUnavailable(
    "no CPU of it is named", "list the CPUs that the DUT polls there as polled_cpus"
)


@dataclass(frozen=True, slots=True)
class _Recorder:
    """A trace, and the ledger that has its instances removed whatever ends this process."""

    trace: KernelTrace
    ledger: Ledger


class HostTrace:
    """Answers what a run asks about the kernel's events on the CPUs under test.

    Nothing of it stays: the trace's instances are in a ledger of this process, whose janitor undoes
    it after a kill, or else the next one that is opened here.
    """

    def __init__(self, cpus: Collection[int]) -> None:
        """Find the loops on these CPUs, and make the trace where this is possible."""
        self._stack = ExitStack()
        self._loops = loops_on(cpus)
        self._recorder = self._opened(cpus)

    @property
    def opened(self) -> TraceOpened:
        """What there is."""
        loops = tuple(AgentLoop(e.process, e.cpu, e.thread_id, e.sleeps) for e in self._loops)
        ticks = AgentTicks.of(HostTicks.of_this_host())
        if isinstance(self._recorder, TraceUnavailable):
            why = self._recorder
            return TraceOpened(loops, ticks, (), unavailable=why.reason, remedy=why.remedy)
        return TraceOpened(loops, ticks, self._recorder.trace.events)

    def answers(self, request: Mapping[str, object]) -> Iterator[TraceReply | TraceEvents]:
        """What one request asks for, after "trace-open". Raises ValueError for any other."""
        if isinstance(self._recorder, TraceUnavailable):
            raise ValueError("there is no trace")
        try:
            yield from self._done(request, self._recorder)
        except PlimsollError as error:
            yield TraceFailed(error.message, error.remedy)

    def close(self) -> None:
        """Remove it; may be repeated."""
        self._stack.close()

    def _opened(self, cpus: Collection[int]) -> _Recorder | TraceUnavailable:
        if (missing := _unfit(cpus, self._loops)) is not None:
            return missing
        try:
            # What an observer left that was killed together with its janitor.
            sweep()
            ledger = self._stack.enter_context(swept_ledger(_LEDGER))
            threads = [loop.thread_id for loop in self._loops]
            trace = KernelTrace.open(cpus, ledger, threads, READABLE_CLOCKS)
        except PlimsollError as error:
            return TraceUnavailable(error.message, error.remedy)
        if isinstance(trace, TraceUnavailable):
            return trace
        self._stack.enter_context(trace)
        return _Recorder(trace, ledger)

    def _done(
        self, request: Mapping[str, object], recorder: _Recorder
    ) -> Iterator[TraceReply | TraceEvents]:
        trace = recorder.trace
        match request:
            case {"request": "trace-start"}:
                trace.start()
                yield TraceStarted()
            case {"request": "trace-stop"}:
                trace.stop()
                yield TraceRate(trace.events_per_s())
            case {"request": "trace-rate"}:
                yield TraceRate(trace.events_per_s())
            case {"request": "trace-read", "windows": list(windows), "limit": int(limit)}:
                yield from _read(recorder, _WINDOWS.validate_python(windows), limit)
            case _:
                raise ValueError(f"not known: {request.get('request')!r}")


def read_clock() -> ClockRead:
    """This host's clocks, now."""
    return ClockRead(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), time.time_ns())


def _unfit(cpus: Collection[int], loops: Sequence[FoundLoop]) -> TraceUnavailable | None:
    """Why a trace here would say nothing about the DUT; None where it would."""
    if not cpus:
        return NO_CPU_NAMED
    if not has_host_process_ids():
        return TraceUnavailable(
            "the observer has process ids of its own there, which are not the kernel's",
            "let it have the host's: hostPID: true in the pod of the observer",
        )
    if not has_host_clocks():
        return TraceUnavailable(
            "the observer has clocks of its own there, which are not the kernel's",
            "start it without a time namespace",
        )
    if not loops:
        return TraceUnavailable(
            f"no thread polls on CPU {format_cpu_list(cpus)} there",
            "start the DUT before the run, and list the CPUs that it polls as polled_cpus",
        )
    return None


def _read(
    recorder: _Recorder, windows: Sequence[Window], limit: int
) -> Iterator[TraceReply | TraceEvents]:
    events = recorder.trace.read(windows)
    kept = events[: max(0, limit)]
    for first in range(0, len(kept), EVENTS_OF_A_LINE):
        some = kept[first : first + EVENTS_OF_A_LINE]
        yield TraceEvents([AgentEvent.of(each) for each in some])
    started = StartedByRun.of(recorder.ledger, None)
    own = started.own_threads(tasks_seen(kept)) | recorder.trace.readers
    yield TraceRead(
        left_out=len(events) - len(kept),
        lost=tuple(
            AgentLoss(each.cpu, each.events, each.complete_from_tsc)
            for each in recorder.trace.lost_events
            if not each.elsewhere
        ),
        cgroups=dict(list(task_cgroups(kept).items())[:MAX_TASKS]),
        own_threads=tuple(sorted(own)[-MAX_TASKS:]),
    )
