"""One stream of a simulated trial: when its frames are due, where they are, and its counters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import StreamCounts
from plimsoll.generator.simulated.latency_pools import NO_HISTOGRAM, DrawnLatencies, LatencyPools
from plimsoll.generator.simulated.latency_tally import DelayShare, LatencyTally
from plimsoll.search.simulated.away_times import Away
from plimsoll.search.simulated.chance import poisson
from plimsoll.search.simulated.direction import Delay, LatencyShape
from plimsoll.traffic.plan import StreamPlan

# How late a sending loop is that was not away: part of a turn.
_LATENESS = LatencyShape(250.0, 0.35, 60.0)
# A schedule in binary fractions may miss its last frame by a rounding.
_ROUNDING_FRAMES = 1e-6


class Fate(NamedTuple):
    """What became of a stream's frames that were outstanding in an interval.

    Of those not lost, so many are still under way, and `delays` has those that found
    a queue in the DUT. `missed` came while the receiving loop was away and waited for it;
    `overrun` more found no room there.
    """

    lost: int
    under_way: int
    delays: Sequence[DelayShare]
    missed: Sequence[DelayShare] = ()
    overrun: int = 0


class StreamRun:
    """A stream at `rate_pps`, of which the port takes a share of `taken`.

    Frames sent are `outstanding` until they are lost or received. Lost ones are `missing`
    to the receiver once a later frame has come.
    """

    def __init__(
        self, plan: StreamPlan, rate_pps: float, taken: float, pools: LatencyPools, chance: Random
    ) -> None:
        self.plan = plan
        self.rate_pps = rate_pps
        self.outstanding = 0
        self.closed_loop = plan.pacing.kind == "one-in-flight"
        self._taken = taken
        self._chance = chance
        self._probe = plan.role == "latency"
        self._latency = LatencyTally(pools, in_us=self._probe)
        self._across = LatencyTally(pools)
        self._lateness = LatencyTally(pools) if self._probe else None
        self._waiting: list[DelayShare] = []
        self._scheduled = self._unseen = 0
        self._begin_interval()
        self._sent = self._refused = self._skipped = self._timed_out = 0
        self._received = self._missing = 0

    def _begin_interval(self) -> None:
        self.sent = self.refused = self.skipped = self.timed_out = 0
        self._late: list[DelayShare] = []

    @property
    def taken_pps(self) -> float:
        """What reaches the DUT of it."""
        return self.rate_pps * self._taken

    @property
    def length_s(self) -> float:
        """When it has sent all its frames; infinite where nothing ends it."""
        count = self.plan.frame_count
        return math.inf if count is None or not self.taken_pps else count / self.taken_pps

    def sends_at(self, at_s: float) -> bool:
        """Whether it has frames left then, and its schedule has it send from then on."""
        return self.length_s > at_s and self.plan.schedule.sends_at(at_s)

    def send(self, begin_s: float, end_s: float) -> None:
        """Send what is due from `begin_s` to `end_s` of the trial."""
        due = self._due(begin_s, end_s)
        sent = int(due * self._taken) if self._taken < 1.0 else due
        self.refused += due - sent
        self.sent += sent
        self.outstanding += sent

    def catch_up(self, away: Away, catch_up_s: float) -> int:
        """Its loop is back: send what is late by at most `catch_up_s`, skip what is more.

        How many frames it sends; `away` is in s of the trial.
        """
        if self.closed_loop:
            return 0
        skipped = self._due(away.begin_s, max(away.begin_s, away.end_s - catch_up_s))
        self.skipped += skipped
        before = self.sent
        self.send(max(away.begin_s, away.end_s - catch_up_s), away.end_s)
        late = self.sent - before
        if late and self._lateness is not None:
            self._late.append(DelayShare(late, min(catch_up_s, away.length_s), 0.0))
        return late

    def hold_back(self, delays: Sequence[Delay], lost: int) -> None:
        """Of a closed loop: what it sent less, waiting for frames that waited or never came."""
        timeout_s = self.plan.pacing.timeout_us / 1e6
        held = lost * timeout_s * self.rate_pps
        for delay in delays:
            held += self.rate_pps * delay.span_s - self._in_turn(delay)
        self.timed_out += lost
        unsent = min(int(held), self.outstanding - lost)
        self.sent -= unsent
        self.outstanding -= unsent

    def part_of(self, delay: Delay, share: float) -> float:
        """How many of the frames delayed are its own, where it sends a share of all."""
        return self._in_turn(delay) if self.closed_loop else delay.frames * share

    def counts(self, fate: Fate, shape: LatencyShape) -> StreamCounts:
        """Its counters of the interval that ends now; the next begins.

        Frames that found no queue have the latencies of `shape`.
        """
        received = self.outstanding - fate.lost - fate.under_way - fate.overrun
        self.outstanding = fate.under_way
        self._unseen += fate.lost + fate.overrun
        missing = 0
        if received:
            missing, self._unseen = self._unseen, 0
        across = sum(share.frames for share in fate.missed)
        latency = self._latency_of(received - across, fate.delays, shape)
        counts = StreamCounts(
            self.plan.stream,
            self.sent,
            self.refused,
            self.skipped,
            0,
            self.timed_out,
            received,
            missing,
            0,
            0,
            0,
            0,
            latency.histogram,
            self._across.queued(shape, across, fate.missed).histogram if across else NO_HISTOGRAM,
            self._lateness_of() if self._lateness is not None else NO_HISTOGRAM,
            latency.us if self._probe else (),
        )
        self._sent += self.sent
        self._refused += self.refused
        self._skipped += self.skipped
        self._timed_out += self.timed_out
        self._received += received
        self._begin_interval()
        return counts

    def total(self) -> StreamCounts:
        """Its counters of the whole trial."""
        latency = self._latency.total()
        return StreamCounts(
            stream=self.plan.stream,
            sent=self._sent,
            refused=self._refused,
            skipped=self._skipped,
            no_buffer=0,
            timed_out=self._timed_out,
            received=self._received,
            missing=self._sent - self._received,
            out_of_order=0,
            duplicate=0,
            corrupt=0,
            misdirected=0,
            latency=latency.histogram,
            latency_across_stalls=self._across.total().histogram,
            lateness=self._lateness.total().histogram if self._lateness else NO_HISTOGRAM,
            latency_us=latency.us if self._probe else (),
        )

    def _due(self, begin_s: float, end_s: float) -> int:
        """Frames due in that time, less what the stream's end leaves out."""
        schedule = self.plan.schedule
        if self.plan.pacing.kind == "poisson":
            sending_s = schedule.sending_s(begin_s, end_s)
            due = poisson(self._chance, self.rate_pps * sending_s)
        else:
            until_end_s, until_begin_s = (
                schedule.sending_s(0.0, end_s),
                schedule.sending_s(0.0, begin_s),
            )
            due = _due_until(self.rate_pps * until_end_s) - _due_until(
                self.rate_pps * until_begin_s
            )
        if self.plan.frame_count is not None:
            due = min(due, self.plan.frame_count - self._scheduled)
        self._scheduled += due
        return due

    def _in_turn(self, delay: Delay) -> float:
        """Frames of a closed loop while each takes as long as these did in the mean."""
        wait_s = (delay.first_s + delay.last_s) / 2
        return self.rate_pps * delay.span_s / (1.0 + wait_s * self.rate_pps)

    def _latency_of(
        self, frames: int, delays: Sequence[DelayShare], shape: LatencyShape
    ) -> DrawnLatencies:
        if not delays and not self._waiting:
            return self._latency.unqueued(shape, frames)
        came, self._waiting = _first(_merged([*self._waiting, *delays]), frames)
        return self._latency.queued(shape, frames, came)

    def _lateness_of(self) -> Histogram:
        assert self._lateness is not None  # noqa: S101 - only latency streams ask
        if not self._late:
            return self._lateness.ordinary(_LATENESS, self.sent).histogram
        return self._lateness.queued(_LATENESS, self.sent, self._late).histogram


def _due_until(frames: float) -> int:
    return math.ceil(frames - _ROUNDING_FRAMES)


def _first(shares: list[DelayShare], frames: int) -> tuple[list[DelayShare], list[DelayShare]]:
    """The shares of the first `frames`, and what is left of them."""
    for place, share in enumerate(shares):
        if share.frames > frames:
            split_s = share.first_s + (share.last_s - share.first_s) * frames / share.frames
            came = [DelayShare(frames, share.first_s, split_s)] if frames else []
            left = DelayShare(share.frames - frames, split_s, share.last_s)
            return [*shares[:place], *came], [left, *shares[place + 1 :]]
        frames -= share.frames
    return shares, []


def _merged(shares: Sequence[DelayShare]) -> list[DelayShare]:
    """Those in a row that waited alike put together."""
    merged: list[DelayShare] = []
    for share in shares:
        last = merged[-1] if merged else None
        if last and last.first_s == last.last_s == share.first_s == share.last_s:
            merged[-1] = DelayShare(last.frames + share.frames, share.first_s, share.last_s)
        else:
            merged.append(share)
    return merged
