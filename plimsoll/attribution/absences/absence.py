"""Absences: times in which a polling loop did not have its CPU, and what had it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from plimsoll.attribution.absences.stopped import Taker, stopped
from plimsoll.attribution.events.cpu_timeline import Slice
from plimsoll.attribution.events.trace_reading import TraceReading
from plimsoll.attribution.incidents.incident import CauseKind
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import Spans, within
from plimsoll.text.units import format_ns

# A page fault is handled at once: one that made the loop wait for a disk came just before.
_FAULT_BEFORE = 0.001
# To wake up takes a loop so long of itself: one that sleeps does it thousands of times a second.
_WAKING_S = 50e-6
A_LOCK = "a lock of the kernel"
A_PAGE = "a page that had to be read"
WAITED = "the loop waited for the kernel"
THROTTLED = "the loop could run and did not"
REFILLED = "the loop was back when its cgroup's quota was filled up"
# Who had a throttled loop's CPU keeps it for the rest of its slice: one tick with
# CONFIG_HZ=250, and some room.
_BACK_AFTER_REFILL = 0.005
_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an absence, with one taker. `certain` is false where its end is not known.

    `moved_by` is by how many ticks it was moved from where its host's clock has it.
    """

    begin: int
    end: int
    taker: Taker
    woken_by: str | None = None
    certain: bool = True
    moved_by: int = 0

    def between(self, begin: int, end: int) -> Part:
        """The same in another time."""
        return replace(self, begin=begin, end=end)

    def moved(self, ticks: int) -> Part:
        """The same so much later, as its host's clock is known no better."""
        return replace(
            self, begin=self.begin + ticks, end=self.end + ticks, moved_by=self.moved_by + ticks
        )


@dataclass(frozen=True, slots=True)
class Absence:
    """A time without a gap in which the loop did not run; its parts follow each other."""

    loop: PollingLoop
    parts: tuple[Part, ...]

    @property
    def begin(self) -> int:
        """When the loop lost its CPU."""
        return self.parts[0].begin

    @property
    def end(self) -> int:
        """When it had it back."""
        return self.parts[-1].end


def meeting(found: Sequence[Absence], begin: int, end: int) -> Sequence[Absence]:
    """Those of a loop's absences, in order, that reach into a time, or touch it.

    Without looking at the others: a busy second has tens of thousands.
    """
    first = bisect_left(found, begin, key=lambda each: each.end)
    return found[first : bisect_right(found, end, lo=first, key=lambda each: each.begin)]


def absences(
    reading: TraceReading, loop: PollingLoop, tsc_hz: float, throttled: Spans = ()
) -> tuple[Absence, ...]:
    """All absences of a loop in a window, in order.

    `throttled` are the times between readings of its cgroup's counter that show that it was.
    """
    waking = round(_WAKING_S * tsc_hz) if loop.sleeps else 0
    runs = (
        run for run in _runs(reading.slices(loop.cpu), loop) if run[-1].end - run[0].begin >= waking
    )
    elsewhere = reading.ran_elsewhere(loop)
    return tuple(
        without
        for run in runs
        for without in _without(_absence(reading, loop, run, tsc_hz, throttled), elsewhere)
    )


def _without(absence: Absence, elsewhere: Spans) -> Iterator[Absence]:
    """What is left of an absence without the times in which the loop had another CPU."""
    had = within(elsewhere, absence.begin, absence.end)
    edges = [absence.begin, *(edge for span in had for edge in span), absence.end]
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        parts = tuple(
            part.between(max(part.begin, begin), min(part.end, end))
            for part in absence.parts
            if part.begin < end and begin < part.end
        )
        if parts:
            yield Absence(absence.loop, parts)


def _runs(slices: Sequence[Slice], loop: PollingLoop) -> Iterator[list[Slice]]:
    """Consecutive slices in which the loop does not run."""
    run: list[Slice] = []
    for piece in slices:
        # Before the first switch nothing says who runs: the loop, or the trace would tell.
        polling = piece.visit.pid in (None, loop.thread_id) and piece.interruption is None
        if not (polling or (loop.sleeps and piece.loop_left_as == "slept")):
            run.append(piece)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _absence(
    reading: TraceReading,
    loop: PollingLoop,
    run: Sequence[Slice],
    tsc_hz: float,
    counted: Spans,
) -> Absence:
    # The kernel leaves a CPU idle only if nothing may run.
    throttled = any(_is_idle(piece) and piece.loop_left_as == "runnable" for piece in run)
    refilled = None if throttled else _refilled(reading, run, tsc_hz, counted)
    span = run[0].begin, run[-1].end
    fault_before = round(_FAULT_BEFORE * tsc_hz)
    parts = []
    for piece in run:
        if (move := moved(reading, loop, piece.begin, tsc_hz)) is not None:
            part = Part(piece.begin, piece.end, move.taker, certain=move.traced)
        elif throttled and piece.loop_left_as == "runnable":
            part = Part(piece.begin, piece.end, Taker("throttling", THROTTLED))
        elif refilled is not None and piece.begin < refilled:
            part = Part(piece.begin, piece.end, Taker("throttling", REFILLED))
        elif piece.loop_left_as == "contended":
            part = Part(piece.begin, piece.end, Taker("lock-contention", A_LOCK))
        elif (stop := stopped(reading, loop, piece, span, tsc_hz)) is not None:
            part = Part(piece.begin, piece.end, stop.taker, stop.sender)
        elif piece.loop_left_as in ("slept", "blocked"):
            part = _slept(reading, loop, piece, run[0].begin - fault_before)
        else:
            part = _taken(piece)
        parts.append(part)
    return Absence(loop, tuple(parts))


def _refilled(
    reading: TraceReading, run: Sequence[Slice], tsc_hz: float, counted: Spans
) -> int | None:
    """When the quota was filled up for which the loop had waited, while others ran.

    A loop that loses its CPU to others for a slice is back at any time; one that is throttled,
    soon after a refill. None where it was not, or where no counter says that it was throttled.
    """
    begin, end = run[0].begin, run[-1].end
    # Without a quota, as mostly, there is nothing to look at.
    if not counted or any(p.loop_left_as != "runnable" for p in run):
        return None
    if not within(counted, begin, end):
        return None
    since = max(begin, end - round(_BACK_AFTER_REFILL * tsc_hz))
    refills = reading.refills
    last = bisect_right(refills, end) - 1
    return refills[last] if last >= 0 and refills[last] > since else None


def _is_idle(piece: Slice) -> bool:
    return piece.visit.pid == 0


def _taken(piece: Slice) -> Part:
    """The loop could run, and something else did."""
    if piece.interruption is not None:
        opened = piece.interruption
        taker = Taker(opened.full_kind, opened.full_name)
        return Part(piece.begin, piece.end, taker, opened.sender)
    if _is_idle(piece):
        kind: CauseKind = "idle-exit" if piece.loop_left_as == "woken" else "unexplained"
        name = "waking up from idle" if kind == "idle-exit" else "the CPU was idle"
        return Part(piece.begin, piece.end, Taker(kind, name))
    return Part(
        piece.begin, piece.end, _task(piece), piece.visit.woken_by, certain=piece.visit.certain
    )


def _task(piece: Slice) -> Taker:
    visit = piece.visit
    name = visit.comm or f"pid {visit.pid}"
    if not name.startswith("kworker/"):
        return Taker("task", name, visit.pid)
    works = ", ".join(sorted(set(visit.works)))
    return Taker("workqueue", f"{name} ({works})" if works else name, visit.pid)


def _slept(reading: TraceReading, loop: PollingLoop, piece: Slice, since: int) -> Part:
    """`since` is when a fault that made the loop wait cannot have been earlier."""
    if piece.loop_left_as == "slept":
        return Part(piece.begin, piece.end, Taker("slept", "the loop slept by itself"))
    faulted = any(
        fact.name == "page_fault" and fact.cpu == loop.cpu and since <= fact.tsc <= piece.begin
        for fact in reading.facts
    )
    taker = Taker("major-fault", A_PAGE) if faulted else Taker("slept", WAITED)
    return Part(piece.begin, piece.end, taker)


# Loops that were moved off their CPU: from where, to where and for how long.
class Moved(NamedTuple):
    """Where a loop was moved to; `traced` says that it is known when it ran there."""

    taker: Taker
    traced: bool


def moved(reading: TraceReading, loop: PollingLoop, at: int, tsc_hz: float) -> Moved | None:
    """Where the loop was at that time; None where it was not moved, or is back."""
    mine = [move for move in reading.moves if move.thread == loop.thread_id]
    before = [move for move in mine if move.tsc <= at]
    if not before or before[-1].target == loop.cpu:
        return None
    left = next((move for move in reversed(before) if move.origin == loop.cpu), before[0])
    back = next((move for move in mine if move.target == loop.cpu and move.tsc > at), None)
    length = "" if back is None else f" for {_length(back.tsc - left.tsc, tsc_hz)}"
    taker = Taker("moved", f"moved from CPU {loop.cpu} to CPU {left.target}{length}")
    return Moved(taker, traced=reading.is_traced(before[-1].target))


def _length(ticks: int, tsc_hz: float) -> str:
    return format_ns(round(ticks / tsc_hz * _NS_PER_S))
