"""Latencies of frames through a simulated DUT, as histograms in the engine's buckets.

A shape says how latency is distributed. Drawing millions of frames one by one would take
longer than sending them; a histogram is drawn by layers of equal share, finer towards the
tail, and its maximum by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from plimsoll.generator.histogram import Histogram, bucket_bounds_ns, bucket_of
from plimsoll.search.simulated.direction import LatencyShape, standard_values

# Equal layers of the body; the last is cut again and again, down to one frame.
_LAYERS = 32
# What each cut leaves beyond; so many cuts are enough for 2^40 frames in a layer.
_CUT, _CUTS = 0.5**0.5, 80
# Histograms of one shape and number of frames to take turns.
_VARIANTS = 6
_MAX_POOLS = 64
# Waits that grow or shrink in a row are represented by so many of them.
_RAMP_POINTS = 8
# In StreamCounts.latency_us it stands for a millisecond and more.
TOP_US = 1000

Buckets = tuple[tuple[int, int], ...]


@dataclass(slots=True, eq=False)
class DrawnLatencies:
    """Frames with their latencies. `us` is as StreamCounts.latency_us has it."""

    count: int = 0
    sum_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    buckets: Buckets = ()
    us: Buckets = ()
    _histogram: Histogram | None = None

    @property
    def histogram(self) -> Histogram:
        """As StreamCounts has it."""
        if self._histogram is None:
            self._histogram = Histogram(
                self.count, self.sum_ns, self.min_ns, self.max_ns, self.buckets
            )
        return self._histogram

    @property
    def typical_ns(self) -> int:
        """A value from the middle of the buckets. There must be frames."""
        return max(self.min_ns, bucket_bounds_ns(self.buckets[len(self.buckets) // 2][0])[0])


@dataclass(slots=True)
class Collected:
    """Latencies added up, for histograms of more than one source; `in_us` as well if requested."""

    in_us: bool = False
    count: int = 0
    sum_ns: int = 0
    min_ns: int = 1 << 62
    max_ns: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
    us: dict[int, int] = field(default_factory=dict)

    def add_value(self, value_ns: int, frames: int) -> None:
        """So many frames of one latency."""
        self.count += frames
        self.sum_ns += value_ns * frames
        self.min_ns = min(self.min_ns, value_ns)
        self.max_ns = max(self.max_ns, value_ns)
        bucket = bucket_of(value_ns)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + frames
        if self.in_us:
            us = value_ns // 1000 if value_ns < TOP_US * 1000 else TOP_US
            self.us[us] = self.us.get(us, 0) + frames

    def add_ramp(self, first_ns: float, last_ns: float, frames: int) -> None:
        """Latencies that grow or shrink in a row, by a few of them, both ends included."""
        points = min(frames, _RAMP_POINTS)
        each, left = divmod(frames, points)
        step_ns = (last_ns - first_ns) / max(1, points - 1)
        values_ns = [round(first_ns + point * step_ns) for point in range(points)]
        self.count += frames
        self.sum_ns += sum(values_ns) * each + sum(values_ns[:left])
        self.min_ns = min(self.min_ns, values_ns[0], values_ns[-1])
        self.max_ns = max(self.max_ns, values_ns[0], values_ns[-1])
        alike = [each + 1] * left + [each] * (points - left)
        _add_to(self.buckets, zip(map(bucket_of, values_ns), alike, strict=True), 1)
        if self.in_us:
            us = (min(value_ns // 1000, TOP_US) for value_ns in values_ns)
            _add_to(self.us, zip(us, alike, strict=True), 1)

    def add(self, drawn: DrawnLatencies, times: int = 1) -> None:
        """The same frames so many times."""
        if not drawn.count:
            return
        self.count += drawn.count * times
        self.sum_ns += drawn.sum_ns * times
        self.min_ns = min(self.min_ns, drawn.min_ns)
        self.max_ns = max(self.max_ns, drawn.max_ns)
        _add_to(self.buckets, drawn.buckets, times)
        if self.in_us:
            _add_to(self.us, drawn.us, times)

    def join(self, other: Collected) -> None:
        """What another has collected as well."""
        if not other.count:
            return
        self.count += other.count
        self.sum_ns += other.sum_ns
        self.min_ns = min(self.min_ns, other.min_ns)
        self.max_ns = max(self.max_ns, other.max_ns)
        _add_to(self.buckets, other.buckets.items(), 1)
        if self.in_us:
            _add_to(self.us, other.us.items(), 1)

    def drawn(self) -> DrawnLatencies:
        """All of it, ascending."""
        if not self.count:
            return NOTHING
        return DrawnLatencies(
            self.count,
            self.sum_ns,
            self.min_ns,
            self.max_ns,
            tuple(sorted(self.buckets.items())),
            tuple(sorted(self.us.items())),
        )


def _add_to(counts: dict[int, int], more: Iterable[tuple[int, int]], times: int) -> None:
    for index, frames in more:
        counts[index] = counts.get(index, 0) + frames * times


NO_HISTOGRAM = Histogram()
NOTHING = DrawnLatencies(_histogram=NO_HISTOGRAM)


class LatencyPools:
    """Draws histograms of a shape; a few of each shape and number of frames take turns."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._pools: dict[tuple[LatencyShape, int], list[DrawnLatencies]] = {}
        self._layers: dict[tuple[int, int], _Layers] = {}

    def draw(self, shape: LatencyShape, frames: int) -> DrawnLatencies:
        """About `frames` frames, at least 1: never more, and less by the fourth digit at most.

        A count that is a round number less one is kept: that leaves room for the slowest.
        """
        rounded = frames if _is_round(frames) else max(1, _three_digits(frames + 1) - 1)
        pool = self._pools.get((shape, rounded))
        if pool is None:
            if len(self._pools) >= _MAX_POOLS:
                self._pools.clear()
            pool = self._pools[shape, rounded] = []
        turn = int(self._chance.random() * _VARIANTS)
        if turn >= len(pool):
            turn = len(pool)
            pool.append(self._variant(shape, rounded, turn))
        return pool[turn]

    def slowest_ns(self, shape: LatencyShape, frames: int) -> int:
        """The latency of the slowest of so many frames.

        Drawn each time, so that the maximum over hours is one of hours.
        """
        return shape.slowest_ns(frames, self._chance)

    def _variant(self, shape: LatencyShape, frames: int, turn: int) -> DrawnLatencies:
        count = max(1, min(_LAYERS, frames))
        layers = self._layers.get((count, turn))
        if layers is None:
            layers = self._layers[count, turn] = _Layers.drawn(self._chance, count)
        collected = Collected(in_us=True)
        for share, normal, exponential in layers.shares(frames):
            collected.add_value(shape.value_ns(normal, exponential), share)
        return collected.drawn()


class _Layers(NamedTuple):
    """Standard values in equal layers of a distribution, and in cuts of the last of them."""

    body: list[tuple[float, float]]
    tail: list[tuple[float, float]]

    @classmethod
    def drawn(cls, chance: Random, count: int) -> _Layers:
        """Somewhere in each layer, and in each cut."""
        body = [
            standard_values(1.0 - (layer + chance.random()) / count) for layer in range(count - 1)
        ]
        cuts = (_CUT**cut / count for cut in range(_CUTS))
        within = (beyond * (_CUT + (1.0 - _CUT) * chance.random()) for beyond in cuts)
        return cls(body, [standard_values(beyond) for beyond in within])

    def shares(self, frames: int) -> Iterator[tuple[int, float, float]]:
        """How many of `frames` have which standard values; they add up to `frames`."""
        each = frames // (len(self.body) + 1)
        for normal, exponential in self.body:
            yield each, normal, exponential
        left = frames - each * len(self.body)
        for normal, exponential in self.tail:
            share = left - int(left * _CUT)
            yield share, normal, exponential
            left -= share
            if not left:
                return
        yield left, *self.tail[-1]


def _is_round(number: int) -> bool:
    return number < 1000 or _three_digits(number) == number


def _three_digits(number: int) -> int:
    if number < 1000:
        return number
    unit: int = 10 ** (len(str(number)) - 3)
    return number // unit * unit
