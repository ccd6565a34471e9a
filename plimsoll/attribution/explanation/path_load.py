"""What is known of the load on the DUT's queues: how long one takes to overflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Frames are sent by the burst, so that a queue may take in one less or lose one more.
_BURST = 32
# What was offered is a mean: shapers are a little faster at times, and clocks differ.
_ABOVE_THE_MEAN = 1.1


@dataclass(frozen=True, slots=True)
class StreamLoad:
    """Frames a second: of one stream, and of all streams that arrive at the same queue."""

    own_pps: float
    queue_pps: float


@dataclass(frozen=True, slots=True)
class PathLoad:
    """The load of each stream by name, and how many frames a queue holds; None if not known.

    `offered_pps` is that of a queue of a stream that is not among `streams`.
    """

    offered_pps: float | None = None
    queue_frames: int | None = None
    streams: Mapping[str, StreamLoad] = field(default_factory=dict)

    def overflow_s(self, stream: str) -> float | None:
        """How long the stream's queue, empty at first, takes to overflow while not emptied."""
        load = self.of(stream)
        if load is None or self.queue_frames is None:
            return None
        return self.queue_frames / load.queue_pps

    def explained(self, stream: str, away_s: float) -> float | None:
        """How many frames of the stream an absence can have lost at most; None if not known.

        Load times length less the buffer, of which the stream has its share.
        """
        load, overflow_s = self.of(stream), self.overflow_s(stream)
        if load is None or overflow_s is None:
            return None
        if away_s < overflow_s:
            return 0.0
        return load.own_pps * (away_s * _ABOVE_THE_MEAN - overflow_s) + _BURST

    def absence_s(self, stream: str, frames: float) -> float | None:
        """How long an absence must have lasted at least for so many frames to be lost.

        (Buffer + lost) / load, as far as means and bursts leave that sure; the inverse of
        `explained`.
        """
        load, overflow_s = self.of(stream), self.overflow_s(stream)
        if load is None or overflow_s is None:
            return None
        beyond_s = max(0.0, frames - _BURST) / load.own_pps
        return max(overflow_s, (overflow_s + beyond_s) / _ABOVE_THE_MEAN)

    def of(self, stream: str) -> StreamLoad | None:
        """What is known of one stream."""
        if (known := self.streams.get(stream)) is not None:
            return known if known.own_pps > 0 else None
        return StreamLoad(self.offered_pps, self.offered_pps) if self.offered_pps else None


UNKNOWN_LOAD = PathLoad()
