"""One trial of live traffic: what it sends, how it is watched, the thread that follows it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.errors import InputError, PlimsollError
from plimsoll.generator.generator_plan import GeneratorPlan
from plimsoll.generator.interface import (
    NO_ENDS,
    CaptureCounts,
    CapturePlan,
    FrameCheck,
    Interval,
    LiveGenerator,
    StreamBegin,
    StreamCourse,
    StreamsBegun,
    TrialPlan,
    TrialReport,
)
from plimsoll.traffic.plan import LONGEST_TRIAL_S

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


@dataclass(frozen=True)
class LiveSettings:
    """Times in s unless they say otherwise.

    The first frame is due `begin_delay_s` (0.001 to 1) after the request: until just before it no
    CPU is polled, so that a client on the same CPU gets its answer, and may start more streams
    that begin with these. Counters are read every `interval_s` (0.01 to 60): each reading takes
    some tenths of a millisecond of the CPU that this process runs on. After the last frame, what
    is still on its way has at most `drain_s` to come back (0 to 60). A frame that the tester is
    later with than `catch_up_us` is skipped, and so is one behind more frames than the share
    `catch_up_queue` (0 to 1) of its port's queue. Where no CPU is free of polling loops, those of a
    bed that `shares_cpus` leave ordinary programs, clients among them, a tenth of each. Of each
    stream the `worst` longest latencies of an interval are kept (0 to 64). `check` says by what a
    received frame counts as whole.
    """

    begin_delay_s: float = 0.01
    interval_s: float = 0.5
    drain_s: float = 0.25
    catch_up_us: float = 1000.0
    catch_up_queue: float = 0.25
    shares_cpus: bool = False
    stall_us: float = 20.0
    worst: int = 16
    check: FrameCheck = "checksums"


_MIN_CATCH_UP_US = 10.0


def members_of(
    known: Mapping[int, KnownStream], generator: GeneratorPlan, port_count: int
) -> dict[int, KnownStream]:
    """Those that are enabled, and of the others as many as there is room for, at rate 0.

    Raises InputError where those that are enabled are more than the generator can send.
    """
    members = {number: each for number, each in known.items() if each.sending}
    _check_room(members, generator, port_count)
    for number, each in known.items():
        if number in members or not each.rated:
            continue
        if _parts({**members, number: each}, generator, port_count) > _most(generator):
            break
        members[number] = each
    return members


def live_plan(
    members: Mapping[int, KnownStream],
    settings: LiveSettings,
    captures: tuple[CapturePlan, ...],
    *,
    mark: int,
    queue_frames: int,
    receiving: bool,
) -> TrialPlan:
    """A trial of them, through ports whose queues hold `queue_frames`, for as long as may be.

    It ends with its streams, unless ports are to go on `receiving`.
    """
    streams = tuple(each.planned() for each in members.values())
    fastest_pps = max((each.plan.rate_pps or 1.0 for each in members.values()), default=1.0)
    # No catching up may overflow the queue that it goes into.
    burst = queue_frames * settings.catch_up_queue
    catch_up_us = min(settings.catch_up_us, burst / fastest_pps * 1e6)
    return TrialPlan(
        mark=mark,
        streams=streams,
        # The next one follows by itself.
        duration_s=LONGEST_TRIAL_S,
        drain_s=settings.drain_s,
        interval_s=settings.interval_s,
        catch_up_us=max(_MIN_CATCH_UP_US, catch_up_us),
        stall_us=settings.stall_us,
        worst=settings.worst,
        check=settings.check,
        captures=captures,
        begin_delay_s=settings.begin_delay_s,
        report_ends=True,
        end_with_streams=not receiving,
    )


def _check_room(
    members: Mapping[int, KnownStream], generator: GeneratorPlan, port_count: int
) -> None:
    parts = _parts(members, generator, port_count)
    if parts > _most(generator):
        raise InputError(
            f"{len(members)} streams, which are {parts} over the ports' queues, are more "
            f"than the {_most(generator)} that can be sent at once",
            where="streams",
            remedy="start fewer of them, or give a stream several flows",
        )


def _parts(members: Mapping[int, KnownStream], generator: GeneratorPlan, port_count: int) -> int:
    """How many streams they are, spread over the queues of their ports."""
    plans = tuple(each.planned() for each in members.values())
    return len(generator.streams_sent(plans, port_count))


def _most(generator: GeneratorPlan) -> int:
    return generator.capabilities.most_streams
