"""How many frames a stream's schedule makes due in a span of time, and how exactly."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, StreamCounts, WorkerCounts
from plimsoll.traffic.plan import ALL_THE_TIME, StreamPlan

# Standard deviations: a Poisson schedule strays further once in two million trials.
_POISSON_STRAY = 5.0
# To which the end of an interval, and what was sent by then, belong together; a loop that is
# away for longer is as late with its frames.
_END_S = 1e-3


def due_frames(plan: StreamPlan, seconds: float, *, begin_s: float = 0.0) -> float | None:
    """Frames due in `seconds` of the trial from `begin_s` on; None where only the port says.

    That is so for back-to-back streams, and for probes of which one is in flight, which
    wait for the DUT whatever rate they must not exceed.
    """
    rate_pps, gaps = plan.rate_pps, plan.pacing.gaps
    if rate_pps is None or plan.pacing.kind in ("back-to-back", "one-in-flight"):
        return None
    if gaps is None:
        frames = rate_pps * plan.schedule.sending_s(begin_s, begin_s + seconds)
    else:
        frames = plan.schedule.added_up(
            begin_s, begin_s + seconds, lambda sending_s: gaps.due_before(sending_s, rate_pps)
        )
    return frames if plan.frame_count is None else min(frames, plan.frame_count)


def sends_nothing(plan: StreamPlan, seconds: float, *, begin_s: float = 0.0) -> bool:
    """Whether the stream's schedule leaves out all of these `seconds` of the trial."""
    if plan.schedule.always:
        return False
    return plan.schedule.sending_s(begin_s, begin_s + seconds) <= 0


def most_due_frames(plan: StreamPlan, seconds: float) -> float | None:
    """The most frames due in `seconds` in which the stream sends all the time; None as above."""
    frames = due_frames(replace(plan, schedule=ALL_THE_TIME), seconds)
    if frames is None:
        return None
    if plan.pacing.gaps is None or plan.rate_pps is None:
        return frames + scatter(plan, frames)
    most = plan.pacing.gaps.most_within(seconds, plan.rate_pps)
    return most if plan.frame_count is None else min(most, plan.frame_count)


def scatter(
    plan: StreamPlan, frames: float, seconds: float = 0.0, *, begin_s: float = 0.0
) -> float:
    """By how many frames a schedule that is kept to may differ from its mean of `frames`.

    Each repetition within `seconds` has whole frames and whole bursts. Of captured frames
    those that are due close to either end may fall on its other side.
    """
    repetitions = max(1, plan.schedule.repetitions(begin_s, begin_s + seconds))
    match plan.pacing.kind:
        case "burst":
            return repetitions * plan.pacing.burst_frames - 1
        case "poisson":
            return _POISSON_STRAY * math.sqrt(frames)
        case "captured":
            return 2 * repetitions * _most_at_an_end(plan)
        case _:
            return repetitions - 1.0


def _most_at_an_end(plan: StreamPlan) -> int:
    gaps, rate_pps = plan.pacing.gaps, plan.rate_pps
    return 0 if gaps is None or rate_pps is None else gaps.most_within(_END_S, rate_pps)


class StallExcuses:
    """Adds up each stream's losses, interval by interval, and how many are excused.

    While a polling loop is away, frames that come back wait in the port's queue; what no
    longer fits there, `queue_frames`, is lost by the tester. So a stall excuses, in its
    own interval and in the next and through the drain, the frames of all the port's
    streams that can have come in that time, less those that the queue holds. Where the
    generator says when a gap's frames were sent and the gap was seen, the stall must have ended in
    between: what was lost before it, or sent after it, it did not keep from its queue. It never
    excuses frames that the DUT left no room for: a stalled tester sends less, and its
    burst afterwards is kept small against the queue (TrialSettings.plan).
    """

    def __init__(
        self, streams: Iterable[StreamPlan], drained_by: DrainedBy, queue_frames: int
    ) -> None:
        self._plans = {plan.stream: plan for plan in streams}
        self._port_of = {plan.stream: plan.rx_port for plan in self._plans.values()}
        self._drained_by = drained_by
        self._queue_frames = queue_frames
        self._missing = dict.fromkeys(self._port_of, 0)
        self._refused = dict.fromkeys(self._port_of, 0)
        self._excused = dict.fromkeys(self._port_of, 0)
        self._left_over = dict.fromkeys(self._port_of.values(), 0)
        # When the stalls ended whose frames may still be missed: of the interval before, too.
        self._ends_tsc: tuple[int, ...] = ()

    def follow(self, earlier: StallExcuses) -> None:
        """Keep what the last stalls of an earlier part of the trial still excuse."""
        self._left_over = dict(earlier._left_over)
        self._ends_tsc = earlier._ends_tsc

    def add(self, interval: Interval) -> None:
        """Account for the next interval."""
        fresh = {port: self._overflow(interval, port) for port in self._left_over}
        budget = {port: self._left_over[port] + fresh[port] for port in fresh}
        ended = tuple(stall.tsc for worker in interval.workers for stall in worker.longest)
        ends_tsc = (*self._ends_tsc, *ended)
        for counts in interval.streams:
            self._missing[counts.stream] += counts.missing
            self._refused[counts.stream] += refused_by_dut(counts, self._drained_by)
            port = self._port_of[counts.stream]
            spent = max(0, min(counts.missing, budget[port], _lost_around(counts, ends_tsc)))
            self._excused[counts.stream] += spent
            budget[port] -= spent
        keeps = interval.phase == "drain"
        self._ends_tsc = ends_tsc if keeps else ended
        self._left_over = {
            port: frames if keeps else min(fresh[port], frames) for port, frames in budget.items()
        }

    def lost(self, stream: int) -> int:
        """Frames lost so far, as gaps in the sequence show, whatever explains them."""
        return self._missing[stream] + self._refused[stream]

    def unexcused(self, stream: int) -> int:
        """Frames lost so far, as gaps in the sequence show, that no stall explains."""
        return self.lost(stream) - self._excused[stream]

    def unexcused_of(self, lost: Mapping[int, int]) -> dict[int, int]:
        """The same of the whole trial, in which each stream `lost` so many in the end.

        Frames lost after the last that came back leave no gap; they are excused
        by what the last stalls have left over.
        """
        left_over = dict(self._left_over)
        unexcused: dict[int, int] = {}
        for stream, frames in lost.items():
            port = self._port_of[stream]
            after_the_last = max(0, frames - self.lost(stream))
            spent = min(after_the_last, left_over[port])
            left_over[port] -= spent
            unexcused[stream] = max(0, frames - self._excused[stream] - spent)
        return unexcused

    def _overflow(self, interval: Interval, port: int) -> int:
        """Of the loop that was away most: several loops only share what comes into a port."""
        return max(
            (self._overflow_of(worker, port, interval) for worker in interval.workers), default=0
        )

    def _overflow_of(self, worker: WorkerCounts, port: int, interval: Interval) -> int:
        """Of the longest stalls, which the interval lists, longest first."""
        overflow = 0
        for stall in worker.longest:
            beyond = self._arrivals(port, stall.length_ns / 1e9, interval) - self._queue_frames
            if beyond <= 0:
                # Nor do the shorter ones.
                break
            overflow += beyond
        return overflow

    def _arrivals(self, port: int, seconds: float, interval: Interval) -> int:
        """The most frames that can have come into `port` in that time within the interval."""
        streams = (each for each in interval.streams if self._port_of[each.stream] == port)
        return math.ceil(sum(self._arrivals_of(counts, seconds, interval) for counts in streams))

    def _arrivals_of(self, counts: StreamCounts, seconds: float, interval: Interval) -> float:
        plan = self._plans[counts.stream]
        most = most_due_frames(plan, seconds)
        if most is not None:
            return most
        # Without a rate of its own it comes as fast as it was sent.
        length_s = interval.end_s - interval.begin_s
        return counts.sent * seconds / length_s if length_s > 0 else 0.0


def _lost_around(counts: StreamCounts, ends_tsc: Iterable[int]) -> int:
    """Frames missing of gaps around a stall's end; all where no gap says when it was."""
    if not counts.losses:
        return counts.missing
    ends = sorted(ends_tsc)
    return counts.losses_left_out.frames + sum(
        each.lost for each in counts.losses if _one_within(ends, each.after_tsc or 0, each.seen_tsc)
    )


def _one_within(ordered: Sequence[int], lowest: int, highest: int) -> bool:
    at = bisect_left(ordered, lowest)
    return at < len(ordered) and ordered[at] <= highest


def refused_by_dut(counts: StreamCounts, drained_by: DrainedBy) -> int:
    """Frames that found no room in a queue which the DUT should have emptied."""
    return counts.refused if drained_by == "dut" else 0
