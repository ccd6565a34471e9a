"""Whether a frame's latency is the tester's, the DUT's, or undecided. Pure.

While a frame is under way either side may be away. Time in which a loop of the tester was
away and the DUT was not is the tester's, time in which the DUT was away and the tester was
not is the DUT's; the rest (both, or neither, as in a queue that is being worked off) is
undecided.

That says where the time went and proves nothing yet: a frame that waits in the tester's own
queue is not held by a DUT that is away at that time. It is proof where the frame was sent while
the DUT was away already: then it waited at least until the DUT was back. What of that time a
loop of the tester was away, too, is taken off, as the frame may have been stamped and handed
over only afterwards.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.attribution.absences.absence import Absence, Part, meeting
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.explanation.seen_windows import SeenWindow
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import Spans, common, ticks, union, within

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class TimedFrames:
    """Frames of one stream that were sent at once and received together; times are TSC ticks."""

    stream: str
    frames: int
    sent_tsc: int
    received_tsc: int
    across_stall: bool


@dataclass(frozen=True, slots=True)
class LatencyParts:
    """A latency in three parts, and how much of it the DUT certainly caused (0: not proven).

    `across_stall`: the engine left the sample out because a stall of the tester touched it.
    """

    stream: str
    frames: int
    across_stall: bool
    latency_ns: int
    tester_ns: int
    dut_ns: int
    undecided_ns: int
    held_by_dut_ns: int


@dataclass(frozen=True, slots=True)
class _Away:
    """When the tester's loops, and all loops of the DUT that may have had the frame, were away.

    `proves`: every kernel event of all those CPUs is known.
    """

    tester: Spans
    dut: Spans
    proves: bool


def latency_parts(
    listed: Iterable[TimedFrames], windows: Sequence[SeenWindow], seen: Observations
) -> tuple[LatencyParts, ...]:
    """Each of the listed latencies in its parts, in their order; `windows` are those of `seen`.

    Outside of the windows nothing is known, and all of a latency is undecided.
    """
    return tuple(_parts(each, _away(each, windows, seen), seen.tsc_hz) for each in listed)


def _away(frames: TimedFrames, windows: Sequence[SeenWindow], seen: Observations) -> _Away:
    begin, end = frames.sent_tsc, frames.received_tsc
    at = bisect_right(windows, begin, key=lambda each: each.begin) - 1
    if at < 0 or windows[at].end < end:
        return _Away((), (), proves=False)
    testers = [loop for loop in seen.loops if loop.owner == "tester"]
    duts = [loop for loop in seen.loops if loop.owner == "dut" and loop.handles(frames.stream)]
    away = windows[at].away
    parts = {
        loop: list(
            _certain(meeting(away.get(loop, ()), begin, end), seen.on(loop.host).clock_error)
        )
        for loop in (*testers, *duts)
    }
    of_tester = [part for loop in testers for part in parts[loop]]
    of_tester += [part for loop in duts for part in parts[loop] if _is_own(part, loop, seen)]
    of_dut = [
        _spans(part for part in parts[loop] if not _is_own(part, loop, seen)) for loop in duts
    ]
    proves = bool(testers and duts) and all(
        seen.on(loop.host).coverage.covers(loop.cpu, begin, end) for loop in (*testers, *duts)
    )
    return _Away(_spans(of_tester), common(of_dut), proves)


def _parts(frames: TimedFrames, away: _Away, tsc_hz: float) -> LatencyParts:
    begin, end = frames.sent_tsc, frames.received_tsc
    tester, dut = within(away.tester, begin, end), within(away.dut, begin, end)
    both = ticks(common((tester, dut)))
    latency_ns = _ns(end - begin, tsc_hz)
    tester_ns, dut_ns = _ns(ticks(tester) - both, tsc_hz), _ns(ticks(dut) - both, tsc_hz)
    return LatencyParts(
        stream=frames.stream,
        frames=frames.frames,
        across_stall=frames.across_stall,
        latency_ns=latency_ns,
        tester_ns=tester_ns,
        dut_ns=dut_ns,
        undecided_ns=max(0, latency_ns - tester_ns - dut_ns),
        held_by_dut_ns=_ns(_held(frames, away), tsc_hz) if away.proves else 0,
    )


def _held(frames: TimedFrames, away: _Away) -> int:
    """How long the DUT held frames that were sent while it was away."""
    sent = frames.sent_tsc
    for begin, end in away.dut:
        if begin <= sent < end:
            until = min(end, frames.received_tsc)
            return until - sent - ticks(within(away.tester, sent, until))
    return 0


def _certain(absences: Sequence[Absence], clock_error: int) -> Iterator[Part]:
    """Parts whose end is known, without what may lie elsewhere by the error of the host's clock."""
    for absence in absences:
        sure_begin, sure_end = absence.begin + clock_error, absence.end - clock_error
        for part in absence.parts:
            begin, end = max(part.begin, sure_begin), min(part.end, sure_end)
            if part.certain and begin < end:
                yield part.between(begin, end)


def _is_own(part: Part, loop: PollingLoop, seen: Observations) -> bool:
    """Whether one of Plimsoll's own processes had the loop's CPU."""
    return part.taker.kind == "task" and part.taker.pid in seen.on(loop.host).own_threads


def _spans(parts: Iterable[Part]) -> Spans:
    return union((part.begin, part.end) for part in parts)


def _ns(length: int, tsc_hz: float) -> int:
    return round(length / tsc_hz * _NS_PER_S)
