"""What is known of the load on the DUT's queues: how long one takes to overflow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PathLoad:
    """Frames that arrive at one queue in a second, and how many it holds; None if not known."""

    offered_pps: float | None = None
    queue_frames: int | None = None

    @property
    def overflow_s(self) -> float | None:
        """How long an empty queue takes to overflow while it is not emptied."""
        if not self.offered_pps or self.queue_frames is None:
            return None
        return self.queue_frames / self.offered_pps


UNKNOWN_LOAD = PathLoad()
