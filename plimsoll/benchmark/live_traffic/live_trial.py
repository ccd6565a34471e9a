"""One trial of live traffic: a thread follows it while others change it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.errors import PlimsollError
from plimsoll.generator.interface import (
    NO_ENDS,
    CaptureCounts,
    Interval,
    LiveGenerator,
    StreamBegin,
    StreamCourse,
    StreamsBegun,
    TrialPlan,
    TrialReport,
)

# An engine that is starved may take so long to end a trial that was stopped.
_END_TIMEOUT_S = 120.0


class LiveTrafficTrial:
    """A trial of `members`, by number. Its own thread calls the functions, `ended` once."""

    def __init__(
        self,
        generator: LiveGenerator,
        plan: TrialPlan,
        members: Mapping[int, KnownStream],
        *,
        watch: Callable[[LiveTrafficTrial, Interval], bool],
        streams_ended: Callable[[LiveTrafficTrial, tuple[StreamCourse, ...]], None],
        ended: Callable[[LiveTrafficTrial], None],
    ) -> None:
        """Begin it. Raises GeneratorDied."""
        self.members = dict(members)
        self.ends_by_itself = plan.end_with_streams
        self._counts = {each.stream: each.frame_count for each in plan.streams}
        self.report: TrialReport | None = None
        self.failure: PlimsollError | None = None
        self._plan = plan
        self._watch = watch
        self._streams_ended = streams_ended
        self._ended = ended
        self._trial = generator.begin(plan)
        self._thread = threading.Thread(target=self._follow, name="live-trial", daemon=True)
        self._thread.start()

    def can_begin(self, number: int, known: KnownStream) -> bool:
        """Whether a stream that does not send can be started while it runs."""
        is_member = self.members.get(number) is known
        # Of one that was to send the rest of its frames, all of them are more.
        return is_member and known.rated and self._counts[number] == known.plan.frame_count

    def begin_streams(self, begins: Mapping[int, StreamBegin]) -> StreamsBegun:
        """As the generator's. Raises what the trial failed by, if it has."""
        with self._explained():
            return self._trial.begin_streams(begins)

    def change_rates(
        self, rates_pps: Mapping[int, float], ends_s: Mapping[int, float] = NO_ENDS
    ) -> None:
        """As the generator's. Raises what the trial failed by, if it has."""
        with self._explained():
            self._trial.change_rates(rates_pps, ends_s)

    def switch_capture(self, port: int, *, on: bool, path: str | None = None) -> CaptureCounts:
        """As the generator's. Raises what the trial failed by, if it has."""
        with self._explained():
            return self._trial.switch_capture(port, on=on, path=path)

    def set_link(self, port: int, *, up: bool) -> bool:
        """As the generator's. Raises what the trial failed by, if it has."""
        with self._explained():
            return self._trial.set_link(port, up=up)

    def stop(self) -> None:
        """End the sending, and return after the drain, its last interval counted."""
        self._trial.stop()
        self._thread.join(_END_TIMEOUT_S)

    def join(self) -> None:
        """Return after it has ended by itself."""
        self._thread.join(_END_TIMEOUT_S)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Of a trial that has ended by itself, its own error says more."""
        try:
            yield
        except PlimsollError as error:
            if self.over_soon() and self.failure is not None:
                raise self.failure from error
            raise

    def over_soon(self) -> bool:
        """Whether it has ended, or ends within a second."""
        self._thread.join(1.0)
        return not self._thread.is_alive()

    def _follow(self) -> None:
        try:
            self.report = self._trial.follow(
                lambda interval: self._watch(self, interval),
                lambda streams: self._streams_ended(self, streams),
            )
        except PlimsollError as error:
            self.failure = error
        finally:
            self._ended(self)
