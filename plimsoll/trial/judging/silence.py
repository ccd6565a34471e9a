"""Frames that were sent since the last that came back: lost, or still on their way."""

from __future__ import annotations

from plimsoll.generator.interface import StreamCounts


class Silence:
    """`frames` of one stream, sent since the last that came back, an interval ago or longer.

    They leave no gap in the sequence until another frame comes.
    """

    def __init__(self) -> None:
        self.frames = 0
        self._sent_last = 0

    def add(self, counts: StreamCounts) -> None:
        """Account for the stream's next interval."""
        if counts.received:
            self.frames = self._sent_last = 0
        else:
            self.frames += self._sent_last
            self._sent_last = counts.sent
