"""A stream that live traffic knows: what it sends, whether it is to, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass, replace

from plimsoll.benchmark.live_traffic.live_counts import StreamState
from plimsoll.generator.interface import StreamCounts
from plimsoll.traffic.plan import StreamPlan

_WITHOUT_RATE = ("back-to-back", "one-in-flight")


@dataclass
class KnownStream:
    """`plan` has the rate at which it is to send; `offered` are frames of its frame count."""

    plan: StreamPlan
    enabled: bool = False
    offered: int = 0

    @property
    def rated(self) -> bool:
        """Whether its rate may change, and so be 0, while a trial runs."""
        return self.plan.pacing.kind not in _WITHOUT_RATE or (
            self.plan.pacing.kind == "one-in-flight" and self.plan.rate_pps is not None
        )

    @property
    def finished(self) -> bool:
        """Whether all frames of its frame count were offered."""
        return self.plan.frame_count is not None and self.offered >= self.plan.frame_count

    @property
    def sending(self) -> bool:
        """Whether it is to send, and has frames to send."""
        return self.enabled and not self.finished

    @property
    def state(self) -> StreamState:
        """For people."""
        if self.enabled:
            return "finished" if self.finished else "sending"
        return "stopped"

    def restart(self) -> None:
        """Begin its frame count anew."""
        self.offered = 0

    def note(self, counts: StreamCounts) -> None:
        """Account for the frames of an interval."""
        self.offered += counts.sent + counts.no_buffer
        # What a stream that takes all the room is refused it sends later.
        if self.plan.pacing.kind != "back-to-back":
            self.offered += counts.refused

    def planned(self) -> StreamPlan:
        """What the next trial is to send of it: the rest, at rate 0 while it is not enabled."""
        rate_pps = self.plan.rate_pps if self.enabled or not self.rated else 0.0
        count = self.plan.frame_count
        rest = None if count is None else max(1, count - self.offered)
        return replace(self.plan, rate_pps=rate_pps, frame_count=rest)
