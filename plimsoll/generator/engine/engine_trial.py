"""One trial of the engine, from its request to its reply, and what may change in between."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from plimsoll.generator.engine.messages import (
    CAPTURE_COUNTS,
    TRIAL_REPORT,
    begin_request,
    capture_request,
    link_request,
    rates_request,
    read_begun,
    read_ended,
    trial_request,
)
from plimsoll.generator.engine.program import UNREAD, Conversation
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.interface import (
    NO_ENDS,
    CaptureCounts,
    GeneratorRefused,
    Interval,
    Stamps,
    StreamBegin,
    StreamCourse,
    StreamsBegun,
    TrialPlan,
    TrialReport,
)

# Beyond a trial's own length: how long a starved machine may keep the engine from answering.
_ANSWER_TIMEOUT_S = 60.0


class EngineTrial:
    """A trial that runs. One thread follows it; others may change it and stop it."""

    def __init__(
        self, conversation: Conversation, plan: TrialPlan, parts: QueueParts, stamps: Stamps
    ) -> None:
        """Request it, with the stamps that the ports were opened with. Raises GeneratorDied."""
        self._conversation = conversation
        self._plan = plan
        self._parts = parts
        self._whole_streams = WholeStreams(parts)
        self._state = threading.Lock()
        self._answers: dict[int, Future[dict[str, Any]]] = {}
        self._over = False
        self._stopping = False
        self._number = conversation.send(trial_request(parts.plan(plan), stamps))

    def follow(
        self,
        watch: Callable[[Interval], bool],
        ended: Callable[[tuple[StreamCourse, ...]], None] = lambda _: None,
    ) -> TrialReport:
        """Receive it to its end; `watch` sees each interval and stops the trial with True.

        `ended` gets the streams that end before the trial, once an interval has what they sent.
        Raises GeneratorRefused and GeneratorDied.
        """
        plan = self._plan
        silent_s = max(plan.hold_s or plan.interval_s * 1.5, plan.drain_s) + _ANSWER_TIMEOUT_S
        try:
            while True:
                message = self._conversation.receive(silent_s)
                if isinstance(message, Interval):
                    if watch(self._parts.interval(message)):
                        self.stop()
                elif message.get("event") == "ended":
                    if streams := self._whole_streams.ended(read_ended(message)):
                        ended(streams)
                elif message.get("id") in (self._number, UNREAD):
                    report = TRIAL_REPORT.validate_python(self._conversation.checked(message))
                    return self._parts.report(report)
                else:
                    self._answered(message)
        finally:
            self._end()

    def change_rates(
        self, rates_pps: Mapping[int, float], ends_s: Mapping[int, float] = NO_ENDS
    ) -> None:
        """Give streams, by number, new rates; returns when the polling loops have taken them over.

        0 pauses a stream. Those in `ends_s` end so long after that, the others when they would
        have. Raises GeneratorRefused, also where the trial has ended, and changes nothing then.
        """
        self._ask(rates_request(self._parts.rates(rates_pps), self._parts.spread(ends_s)))

    def begin_streams(self, begins: Mapping[int, StreamBegin]) -> StreamsBegun:
        """Let streams with a rate begin, their schedules and frame counts anew.

        Each begins when its polling loop takes that over, or with the trial, if that has yet to
        begin. Returns when that is known. Raises as `change_rates` does.
        """
        rates = self._parts.rates({stream: begin.rate_pps for stream, begin in begins.items()})
        parts = self._parts.spread(begins)
        self._whole_streams.begin(begins)
        request = begin_request(
            {part: replace(parts[part], rate_pps=rate) for part, rate in rates.items()}
        )
        begun = read_begun(self._ask(request))
        return replace(begun, streams=self._whole_streams.put_together(begun.streams))

    def switch_capture(self, port: int, *, on: bool, path: str | None = None) -> CaptureCounts:
        """Switch the capture of a port, perhaps to another file; what came before is in its file.

        Raises GeneratorRefused, also where the trial has ended, and changes nothing then.
        """
        return CAPTURE_COUNTS.validate_python(self._ask(capture_request(port, on=on, path=path)))

    def set_link(self, port: int, *, up: bool) -> bool:
        """Take the link of a port down or bring it up; whether it is up then.

        Raises GeneratorRefused, also where the trial has ended; it may have been done then.
        """
        return bool(self._ask(link_request(port, up=up))["link_up"])

    def stop(self) -> None:
        """End the sending now; the drain follows."""
        with self._state:
            if not self._over and not self._stopping:
                self._stopping = True
                self._conversation.send({"request": "stop"})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request while another thread follows the trial, and wait for its answer."""
        answer: Future[dict[str, Any]] = Future()
        with self._state:
            if self._over:
                raise _ended()
            self._answers[self._conversation.send(request)] = answer
        return self._conversation.checked(answer.result(_ANSWER_TIMEOUT_S + self._plan.drain_s))

    def _answered(self, message: dict[str, Any]) -> None:
        with self._state:
            answer = self._answers.pop(message.get("id", -1), None)
        if answer is not None:
            answer.set_result(message)

    def _end(self) -> None:
        with self._state:
            self._over = True
            unanswered, self._answers = self._answers, {}
        for answer in unanswered.values():
            answer.set_exception(_ended())


def _ended() -> GeneratorRefused:
    return GeneratorRefused(
        "the trial has ended", where="generator: request", remedy="start the streams again"
    )


# When whole streams begin and end, each of which the engine may send in several parts.
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
