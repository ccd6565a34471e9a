"""When whole streams begin and end, each of which the engine may send in several parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.interface import StreamCourse


class WholeStreams:
    """The streams of one trial. A stream has ended when all of its parts have."""

    def __init__(self, parts: QueueParts) -> None:
        self._parts = parts
        self._ended: dict[int, dict[int, StreamCourse]] = {}

    def begin(self, streams: Iterable[int]) -> None:
        """These begin anew."""
        for stream in streams:
            self._ended.pop(stream, None)

    def ended(self, parts: Iterable[StreamCourse]) -> tuple[StreamCourse, ...]:
        """The streams that have ended with these parts."""
        complete: list[StreamCourse] = []
        for part in parts:
            stream = self._parts.whole_of[part.stream]
            seen = self._ended.setdefault(stream, {})
            seen[part.stream] = part
            if seen.keys() == set(self._parts.parts_of(stream)):
                complete.append(_whole(stream, list(self._ended.pop(stream).values())))
        return tuple(complete)

    def put_together(self, parts: Iterable[StreamCourse]) -> tuple[StreamCourse, ...]:
        """By stream: from the first begin of its parts to their last end."""
        by_stream: dict[int, list[StreamCourse]] = {}
        for part in parts:
            by_stream.setdefault(self._parts.whole_of[part.stream], []).append(part)
        return tuple(_whole(stream, each) for stream, each in by_stream.items())


def _whole(stream: int, parts: Sequence[StreamCourse]) -> StreamCourse:
    ends = [part.end_unix_ns for part in parts if part.end_unix_ns is not None]
    return StreamCourse(
        stream,
        min(part.begin_unix_ns for part in parts),
        max(ends) if len(ends) == len(parts) else None,
    )
