"""The queue that a stall of a simulated DUT finds, and what it makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from .stall_length import StallLength

# The queue's length is resolved this finely, as parts of the buffer.
_CELLS = 128


class StalledQueue:
    """Stalls of a direction with a buffer, at a load below its capacity; units are frames.

    With `mean_gap_s` between stalls (exponential) the frames that wait are those of an
    M/G/1 queue whose customers are the stalls: each brings load · length, and what waits
    drains at capacity - load. By the Pollaczek-Khinchine formula its length is a
    geometric sum of residual customers, computed on a grid. None: the queue is empty.
    """

    def __init__(
        self,
        lengths: StallLength,
        load_pps: float,
        capacity_pps: float,
        buffer_frames: float,
        mean_gap_s: float | None,
    ) -> None:
        self._lengths = lengths
        self._load_pps = load_pps
        self._buffer_frames = buffer_frames
        self._use = self._share_in_use(capacity_pps, mean_gap_s)

    @cached_property
    def odds_of_loss(self) -> float:
        """The probability that a stall loses any frame."""
        if self._use >= 1.0:
            return 1.0
        longer = self._lengths.odds_longer
        return sum(odds * longer(room / self._load_pps) for room, odds in self._rooms)

    @cached_property
    def mean_loss_frames(self) -> float:
        """What a stall loses in the mean; those that lose nothing count as well."""
        lengths = self._lengths
        beyond_s = (
            odds * (lengths.mean_s - lengths.mean_up_to(room / self._load_pps))
            for room, odds in self._rooms
        )
        return max(0.0, sum(beyond_s)) * self._load_pps

    @cached_property
    def mean_square_loss(self) -> float:
        """The mean of the squares of what stalls lose; those that lose nothing count as well."""
        beyond = (
            odds * self._lengths.mean_square_beyond(room / self._load_pps)
            for room, odds in self._rooms
        )
        return sum(beyond) * self._load_pps**2

    def _share_in_use(self, capacity_pps: float, mean_gap_s: float | None) -> float:
        """Of the time between stalls, the share in which the queue drains."""
        if mean_gap_s is None:
            return 0.0
        spare_pps = capacity_pps - self._load_pps
        if spare_pps <= 0.0:
            return 1.0
        return self._load_pps * self._lengths.mean_s / (mean_gap_s * spare_pps)

    @cached_property
    def _rooms(self) -> list[tuple[float, float]]:
        """The room left in the buffer when a stall begins, with its probability."""
        if self._use == 0.0 or self._use >= 1.0:
            return [(self._buffer_frames, 1.0)]
        cell = self._buffer_frames / _CELLS
        return [
            (self._buffer_frames - (place + 0.5 if place else 0.0) * cell, odds)
            for place, odds in enumerate(self._waiting(cell))
        ]

    def _waiting(self, cell: float) -> Iterator[float]:
        """The probabilities of the queue's lengths, cell by cell; what is beyond, in the last."""
        residual, use = self._residual(cell), self._use
        scale = 1.0 - use * residual[0]
        odds = [(1.0 - use) / scale]
        for place in range(1, _CELLS):
            carried = sum(residual[j] * odds[place - j] for j in range(1, place + 1))
            odds.append(use * carried / scale)
        odds[-1] += max(0.0, 1.0 - sum(odds))
        return iter(odds)

    def _residual(self, cell: float) -> list[float]:
        """What is left of a stall's frames when one looks at any time during it."""
        step_s = cell / self._load_pps
        up_to = [self._lengths.mean_up_to(place * step_s) for place in range(_CELLS + 1)]
        mean_s = self._lengths.mean_s
        return [(up_to[place + 1] - up_to[place]) / mean_s for place in range(_CELLS)]
