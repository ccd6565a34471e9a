"""The latencies of one stream of a simulated trial, by interval and over the whole trial."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from plimsoll.generator.histogram import bucket_of
from plimsoll.generator.simulated.latency_pools import (
    NOTHING,
    TOP_US,
    Buckets,
    Collected,
    DrawnLatencies,
    LatencyPools,
)
from plimsoll.search.simulated.direction import LatencyShape

# Different histograms that are only counted before they are added up.
_MAX_COUNTED = 64


class DelayShare(NamedTuple):
    """A stream's part of a Delay: whole frames, their waits from the first to the last."""

    frames: int
    first_s: float
    last_s: float

    @property
    def alike(self) -> bool:
        """Whether all of them waited as long."""
        return self.first_s == self.last_s


class LatencyTally:
    """Draws each interval's latencies and adds them up.

    Histograms of a pool come again and again, so that they are counted, and added up
    bucket by bucket only when there are many of them.
    """

    def __init__(self, pools: LatencyPools, *, in_us: bool = False) -> None:
        """With `in_us`, latencies are counted in whole microseconds as well."""
        self._pools = pools
        self._in_us = in_us
        self._counted: dict[int, tuple[DrawnLatencies, int]] = {}
        self._total = Collected(in_us)

    def unqueued(self, shape: LatencyShape, frames: int) -> DrawnLatencies:
        """So many frames that found no queue."""
        if frames == 0:
            return NOTHING
        slowest_ns = self._pools.slowest_ns(shape, frames)
        variant = self._pools.draw(shape, frames - 1) if frames > 1 else NOTHING
        slowest_ns = max(slowest_ns, variant.max_ns)
        more = frames - 1 - variant.count
        if variant.count:
            self._count(variant)
        self._total.add_value(slowest_ns, 1)
        if more:
            self._total.add_value(variant.typical_ns, more)
        return self._whole(variant, more, slowest_ns)

    def ordinary(self, shape: LatencyShape, frames: int) -> DrawnLatencies:
        """Like `unqueued`, where the slowest frame of all is of no interest."""
        if frames == 0:
            return NOTHING
        variant = self._pools.draw(shape, frames)
        if variant.count != frames:
            return self.unqueued(shape, frames)
        self._count(variant)
        return variant

    def queued(
        self, shape: LatencyShape, frames: int, delays: Sequence[DelayShare]
    ) -> DrawnLatencies:
        """So many frames, of which those in `delays` waited."""
        waited = sum(share.frames for share in delays)
        if len(delays) == 1 and delays[0].alike and frames - waited <= 1:
            # The buffer was full all the time: nearly every interval of an overload.
            return self.unqueued(_queued_alike(shape, delays[0]), frames)
        parts, ramps = [self.unqueued(shape, frames - waited)], Collected(self._in_us)
        for share in delays:
            if share.alike:
                parts.append(self.unqueued(_queued_alike(shape, share), share.frames))
            else:
                first_ns, last_ns = share.first_s * 1e9, share.last_s * 1e9
                ramps.add_ramp(shape.floor_ns + first_ns, shape.floor_ns + last_ns, share.frames)
        return self._joined(parts, ramps)

    def unqueued_and(
        self, shape: LatencyShape, frames: int, others_ns: Sequence[int]
    ) -> DrawnLatencies:
        """So many frames that found no queue, and others of which each one is known."""
        others = Collected(self._in_us)
        for value_ns in others_ns:
            others.add_value(value_ns, 1)
        return self._joined([self.unqueued(shape, frames)], others)

    def total(self) -> DrawnLatencies:
        """The whole trial so far."""
        for drawn, times in self._counted.values():
            self._total.add(drawn, times)
        self._counted.clear()
        return self._total.drawn()

    def _joined(self, parts: Sequence[DrawnLatencies], others: Collected) -> DrawnLatencies:
        """Together; of these only the others are not in the total yet."""
        self._total.join(others)
        for part in parts:
            others.add(part)
        return others.drawn()

    def _count(self, variant: DrawnLatencies) -> None:
        seen = self._counted.get(id(variant))
        self._counted[id(variant)] = (variant, 1 if seen is None else seen[1] + 1)
        if len(self._counted) > _MAX_COUNTED:
            self.total()

    def _whole(self, variant: DrawnLatencies, more: int, slowest_ns: int) -> DrawnLatencies:
        """The variant with `more` typical frames and the slowest."""
        buckets, us, sum_ns = variant.buckets, variant.us, variant.sum_ns + slowest_ns
        if more:
            typical_ns = variant.typical_ns
            sum_ns += more * typical_ns
            buckets = _with(buckets, bucket_of(typical_ns), more)
            us = _with(us, min(typical_ns // 1000, TOP_US), more) if self._in_us else us
        return DrawnLatencies(
            variant.count + more + 1,
            sum_ns,
            variant.min_ns if variant.count else slowest_ns,
            slowest_ns,
            _with(buckets, bucket_of(slowest_ns), 1),
            _with(us, min(slowest_ns // 1000, TOP_US), 1) if self._in_us else us,
        )


def _queued_alike(shape: LatencyShape, share: DelayShare) -> LatencyShape:
    return shape._replace(wait_ns=0.0, queue_ns=round(share.first_s * 1e9))


def _with(buckets: Buckets, index: int, count: int) -> Buckets:
    """With `count` more at `index`."""
    place = bisect_left(buckets, (index, 0))
    if place < len(buckets) and buckets[place][0] == index:
        return (*buckets[:place], (index, buckets[place][1] + count), *buckets[place + 1 :])
    return (*buckets[:place], (index, count), *buckets[place:])
