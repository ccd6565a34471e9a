"""Kernel events on the CPUs under test, recorded in the kernel's memory while a trial sends."""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, cast

from plimsoll.errors import MachineError
from plimsoll.host.cpus import online_cpus
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.trace_instance import TRACE_INSTANCE_PREFIX
from plimsoll.host.tracefs import find_tracefs
from plimsoll.observe.kernel_trace.instance import (
    ELSEWHERE,
    FILTERS_ON_TESTED_CPUS,
    ON_LOOPS,
    ON_TESTED_CPUS,
    RUN_TIME,
    TraceInstance,
    by_threads,
    matching_events,
)
from plimsoll.observe.kernel_trace.trace_program import (
    PROGRAM,
    CpuTotals,
    KernelEvent,
    TraceUnavailable,
    Window,
    find_trace_program,
    read_buffers,
    with_thread_names,
)

Clock = Literal["x86-tsc", "mono_raw"]
_CLOCKS: tuple[Clock, ...] = ("x86-tsc", "mono_raw")
# Of a host whose times are read elsewhere: any program there can read it by a system call.
READABLE_CLOCKS: tuple[Clock, ...] = ("mono_raw",)
# docs/kernel-trace.md has the rates that these follow from.
TESTED_CPU_BUFFER_KB = 8192
ELSEWHERE_BUFFER_KB = 256
ELSEWHERE_ON_TESTED_CPU_BUFFER_KB = 2048


class KernelTrace:
    """Two trace instances: what happened on the CPUs under test, and what others did to them.

    Nothing of ours runs while it records: the kernel writes to its ring buffers, and read()
    is for after the trial, or for pauses of long ones. Made by open().
    """

    def __init__(  # noqa: PLR0917 - made by open() alone
        self,
        program: Path,
        tested: TraceInstance,
        elsewhere: TraceInstance,
        cpus: Collection[int],
        ledger: Ledger,
        threads: Collection[int],
        clocks: Sequence[Clock],
    ) -> None:
        self.cpus = tuple(sorted(cpus))
        self._threads = threads
        self.events: tuple[str, ...] = ()
        self.missing: tuple[str, ...] = ()
        self.lost_events: tuple[LostEvents, ...] = ()
        # The processes that read the buffers: in a long trial their events are in the next page.
        self.readers: set[int] = set()
        self._program = program
        self._tested = tested
        self._elsewhere = elsewhere
        self._environment = ledger.environment
        self._lost_before: dict[tuple[str, int], int] = {}
        self._began_s = time.monotonic()
        self._stopped_s: float | None = None
        self.clock = self._prepare(clocks)

    @classmethod
    def open(
        cls,
        cpus: Collection[int],
        ledger: Ledger,
        threads: Collection[int] = (),
        clocks: Sequence[Clock] = _CLOCKS,
    ) -> KernelTrace | TraceUnavailable:
        """Make the instances, noted in the ledger, and enable what the kernel has of events.

        `threads` are those that poll on the CPUs. Of the `clocks` the first one that there is
        is used. This changes code of the running kernel and
        takes some tenths of a second: do it while nothing is measured. Raises MachineError when
        the ledger cannot be written.
        """
        program = find_trace_program()
        if program is None:
            return TraceUnavailable(f"{PROGRAM} is missing", "install Plimsoll with it: make build")
        if (missing := why_no_tracefs()) is not None:
            return missing
        token = f"{TRACE_INSTANCE_PREFIX}{secrets.token_hex(6)}"
        names = [f"{token}{end}" for end in ("", "-elsewhere")]
        for name in names:
            ledger.note_trace_instance(name)
        made: list[TraceInstance] = []
        try:
            for name in names:
                made.append(TraceInstance(name))
            return cls(program, made[0], made[1], cpus, ledger, threads, clocks)
        except OSError as error:
            for instance in made:
                instance.remove()
            return refusal(error)

    def start(self) -> None:
        """Forget what was recorded, and record from now on. Raises MachineError."""
        self._lost_before = {}
        self.lost_events = ()
        for instance in self._instances:
            with _refusals_named(instance):
                instance.start()
        self._began_s, self._stopped_s = time.monotonic(), None

    def stop(self) -> None:
        """Record no more. Raises MachineError."""
        for instance in self._instances:
            with _refusals_named(instance):
                instance.stop()
        self._stopped_s = time.monotonic()

    def events_per_s(self) -> float:
        """Of all CPUs under test since start(), until stop() or now. Raises MachineError."""
        with _refusals_named(self._tested):
            seen = sum(self._tested.seen(cpu) for cpu in self.cpus)
        until_s = time.monotonic() if self._stopped_s is None else self._stopped_s
        return seen / max(until_s - self._began_s, 1e-9)

    def read(self, windows: Sequence[Window]) -> list[KernelEvent]:
        """The events inside any of the windows, by time; all others are forgotten.

        Windows are [begin, end], both included, by `clock`. `lost_events` then says what was
        lost since start() or the last read(). Raises MachineError.
        """
        directories = [instance.directory for instance in self._instances]
        events, totals = read_buffers(
            self._program,
            directories,
            windows,
            environment=self._environment,
            started=self.readers.add,
        )
        self.lost_events = tuple(lost for each in totals for lost in self._losses(each))
        return with_thread_names(events)

    def close(self) -> None:
        """Remove the instances; may be repeated. Raises MachineError when that fails."""
        for instance in self._instances:
            with _refusals_named(instance):
                instance.remove()

    def __enter__(self) -> KernelTrace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _instances(self) -> tuple[TraceInstance, TraceInstance]:
        return self._tested, self._elsewhere

    def _prepare(self, preferred: Sequence[Clock]) -> Clock:
        clocks = [instance.use_clock(preferred) for instance in self._instances]
        self._tested.limit_to_cpus(self.cpus)
        self._tested.size_buffers(dict.fromkeys(self.cpus, TESTED_CPU_BUFFER_KB))
        self._elsewhere.size_buffers({cpu: self._elsewhere_buffer_kb(cpu) for cpu in online_cpus()})
        for pattern in ON_TESTED_CPUS:
            filter_text = FILTERS_ON_TESTED_CPUS.get(pattern, "")
            self._enable(self._tested, pattern, filter_text)
        if self._threads:
            for pattern in ON_LOOPS:
                self._enable(self._tested, pattern, by_threads("common_pid", self._threads))
            self._enable(self._elsewhere, RUN_TIME, by_threads("pid", self._threads))
        for event in ELSEWHERE:
            self._enable(self._elsewhere, event.name, event.filter_of(self.cpus))
        return cast(Clock, clocks[0])

    def _elsewhere_buffer_kb(self, cpu: int) -> int:
        return ELSEWHERE_ON_TESTED_CPU_BUFFER_KB if cpu in self.cpus else ELSEWHERE_BUFFER_KB

    def _enable(self, instance: TraceInstance, pattern: str, filter_text: str) -> None:
        found = matching_events(instance.directory / "events", pattern)
        for event in found:
            instance.enable(event, filter_text)
        self.events += tuple(event.split(":")[1] for event in found)
        if not found:
            self.missing += (pattern,)

    def _losses(self, totals: CpuTotals) -> list[LostEvents]:
        elsewhere = totals.directory == str(self._elsewhere.directory)
        instance = self._elsewhere if elsewhere else self._tested
        counted = instance.lost(totals.cpu)
        key = (totals.directory, totals.cpu)
        overrun = counted - self._lost_before.get(key, 0)
        self._lost_before[key] = counted
        return losses(totals, overrun, elsewhere=elsewhere)


def losses(totals: CpuTotals, overrun: int, *, elsewhere: bool) -> list[LostEvents]:
    """What was lost of one CPU's events, if anything.

    `overrun` is how many the kernel lost since the last reading.
    """
    unread = totals.left_out + totals.damaged_pages
    if not (overrun or unread or totals.gaps):
        return []
    # Where the reader left something out, what it has has holes in unknown places.
    complete_from = None if unread else totals.complete_from_tsc or None
    return [LostEvents(totals.cpu, elsewhere, overrun + totals.left_out, complete_from)]


@contextmanager
def _refusals_named(instance: TraceInstance) -> Iterator[None]:
    """Make what the kernel refuses an error that names the instance."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"the kernel refused: {error.strerror}",
            where=str(instance.directory),
            remedy="leave this directory to the run that made it",
        ) from error


def why_no_tracefs(find: Callable[[], Path] = find_tracefs) -> TraceUnavailable | None:
    """Why no trace instance can be made here; None where one can."""
    try:
        place = find()
    except OSError as error:
        return TraceUnavailable(
            f"tracefs is not mounted, and cannot be: {error.strerror}",
            "run as root, or mount it: mount -t tracefs nodev /sys/kernel/tracing",
        )
    if not os.access(place / "instances", os.W_OK | os.X_OK):
        return TraceUnavailable(
            f"no permission to make a trace instance in {place}/instances",
            "run as root, or with the capabilities DAC_OVERRIDE and PERFMON or SYS_ADMIN",
        )
    return None


def refusal(error: OSError) -> TraceUnavailable:
    """Why the kernel did not let us make an instance."""
    if error.errno == errno.EPERM:
        return TraceUnavailable(
            f"the kernel refuses tracing: {error}",
            "boot without lockdown in confidentiality mode (/sys/kernel/security/lockdown)",
        )
    place = os.fspath(error.filename) if error.filename else "tracefs"
    return TraceUnavailable(
        f"the kernel refuses a trace instance: {place}: {error.strerror}",
        "free some memory, or look into the kernel's log",
    )


# Events that the record lacks, so that their absence proves nothing.
@dataclass(frozen=True, slots=True)
class LostEvents:
    """What was lost of the events of one CPU.

    `events` is how many, as far as they were counted: overwritten in the ring buffer, not
    written to it, or left out by the reader. `complete_from_tsc` is the time from which on
    nothing is missing; None where that is unknown or nothing is left.
    `elsewhere` says which buffer it was: that of what other CPUs did to those under test (in
    which nothing but wakers and senders can be missing), or that of the CPU's own events.
    """

    cpu: int
    elsewhere: bool
    events: int
    complete_from_tsc: int | None
