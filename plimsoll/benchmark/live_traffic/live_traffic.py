"""Traffic that is started, changed and stopped by hand or by another program."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

from plimsoll.benchmark.live_traffic.known_stream import (
    KnownStream,
    check_frames,
    check_number,
    check_pacing,
    check_port,
    check_ports,
    check_rate,
)
from plimsoll.benchmark.live_traffic.live_book import LiveBook
from plimsoll.benchmark.live_traffic.live_captures import CapturedPort, LiveCaptures, PortCapture
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts
from plimsoll.benchmark.live_traffic.live_trial import (
    LiveSettings,
    LiveTrafficTrial,
    live_plan,
    members_of,
)
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig
from plimsoll.errors import InputError, PlimsollError
from plimsoll.generator.interface import (
    NO_ENDS,
    GeneratorRefused,
    Interval,
    LiveGenerator,
    PortInfo,
    StreamCourse,
    StreamsBegun,
)
from plimsoll.traffic.plan import LONGEST_TRIAL_S, StreamPlan
from plimsoll.traffic.streams.compile import Paths

_GAPS_KEPT = 64


class LiveTraffic:
    """Streams that are sent and counted on one test bed until they are stopped.

    `live_traffic` (live_bed.py) opens one. Streams are known by their numbers. All methods may be
    called from any thread; those that change something are carried out one after the other, and
    `counts` waits for none of them.

    Under the hood one trial of the generator runs for as long as anything is to be sent, for
    days if need be. Rated streams that were known when it began are started, changed and
    stopped while it goes on. What cannot be done so, the start of a stream that was added since,
    or that has no rate, ends the trial and begins another: until then nothing is sent, for the
    drain and some ten milliseconds, which `gaps` has as measured. Counters go on; sequence numbers
    and fields begin anew.

    The generator itself ends streams whose time or frame count is over, and says so. When
    everything has ended or been stopped, the trial ends after its drain, and what is missing is
    then known exactly.
    """

    def __init__(
        self,
        bed: Testbed,
        plan: TestbedConfig,
        settings: LiveSettings,
        capture_folder: Path | None = None,
    ) -> None:
        """On a test bed that is up, as planned.

        Captured frames go to `capture_folder`, which need not be there and is its owner's to
        remove; without it nothing can be captured.
        """
        self._bed = bed
        self._plan = plan.generator
        self._largest_frame_size = plan.largest_frame_size
        self._settings = settings
        self._generator = cast("LiveGenerator", bed.generator)
        self._commands = threading.RLock()
        self._book = LiveBook(bed.generator.ports)
        self._known: dict[int, KnownStream] = {}
        self._trial: LiveTrafficTrial | None = None
        self._ending = False
        self._receiving = False
        self._failure: PlimsollError | None = None
        self._links_lost = bed.lab.watch_links()
        self._gaps_s: deque[float] = deque(maxlen=_GAPS_KEPT)
        self._sent_until_unix_ns: float | None = None
        can_capture = plan.generator.capabilities.captures
        self._captures = LiveCaptures(capture_folder if can_capture else None)
        self._on_end: Callable[[], None] = _nothing

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """The tester's ports, by number."""
        return self._bed.generator.ports

    @property
    def paths(self) -> Paths:
        """(tx_port, rx_port) of each direction, as the lab joins them."""
        return self._bed.ports.paths

    @property
    def line_rate_bps(self) -> float | None:
        """L1, of the slowest port; None where there is no wire."""
        return self._bed.line_rate_bps

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the test bed."""
        return self._bed.notes

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        """All that are known, with the rates that they have or will have, in order of number."""
        with self._book.changed:
            return tuple(known.plan for _, known in sorted(self._known.items()))

    @property
    def sending(self) -> frozenset[int]:
        """The streams that are started and have frames left to send."""
        with self._book.changed:
            return frozenset(number for number, each in self._known.items() if each.sending)

    @property
    def courses(self) -> Mapping[int, StreamCourse]:
        """From when to when streams send or sent last, by number, as far as that is known."""
        with self._book.changed:
            return {n: each.course for n, each in self._known.items() if each.course is not None}

    @property
    def gaps(self) -> tuple[float, ...]:
        """The last pauses between two trials of which the second followed at once, in s."""
        return tuple(self._gaps_s)

    @property
    def failure(self) -> PlimsollError | None:
        """What ended the session before its time: LabDied, LinkGone, GeneratorDied; or None."""
        return self._failure

    def add(self, streams: Iterable[StreamPlan]) -> None:
        """Make streams known, which are then to be started.

        All or none of them. Raises InputError for a number that is taken, ports that there are
        not, frames that the ports were not opened for, and rates or pacings that the generator
        does not have.
        """
        with self._commands:
            self._check()
            new: dict[int, KnownStream] = {}
            for index, plan in enumerate(streams):
                where = f"streams[{index}]"
                check_number(plan, where, self._known.keys() | new.keys())
                check_ports(plan, where, len(self.ports))
                check_frames(plan, where, self._largest_frame_size)
                check_pacing(plan, where, self._plan.capabilities)
                new[plan.stream] = KnownStream(plan)
            with self._book.changed:
                self._known |= new

    def remove(self, streams: Iterable[int] | None = None) -> None:
        """Stop streams and forget them and their counters; by default all.

        What they have sent and received stays in the counters of their ports.
        """
        with self._commands:
            numbers = self._numbers(streams)
            self.stop(numbers)
            with self._book.changed:
                self._book.clear([self._known.pop(number) for number in numbers], ports=False)

    def notify_ends(self, on_end: Callable[[], None]) -> None:
        """Call this, from a thread of its own, whenever streams or a trial have ended.

        It must not wait for anything that happens here.
        """
        self._on_end = on_end

    def start(
        self,
        streams: Iterable[int] | None = None,
        durations_s: Mapping[int, float] = NO_ENDS,
    ) -> tuple[StreamCourse, ...]:
        """Start streams, by default all; those that send already go on, and are not held.

        Each begins with its first frame, and ends by its frame count or when its duration is over,
        counted from its own begin, where `durations_s` has one for it. With none, `start([])`,
        the ports receive and count, and go on so until `stop()`. Returns when it is known from
        when to when they send, which is returned. Raises InputError for unknown numbers and for
        more streams than the generator can send, GeneratorRefused, and what the session failed
        by.
        """
        with self._commands:
            self._check()
            numbers = self._numbers(streams)
            self._let_it_end()
            with self._book.changed:
                going_on = {
                    n for n in numbers if self._known[n].sending and not self._known[n].held
                }
                fresh = [number for number in numbers if number not in going_on]
                self._receiving |= streams is not None and not numbers
                chain = self._trial is None or any(map(self._needs_new_trial, fresh))
                for number in fresh:
                    self._known[number].start(durations_s.get(number))
                self._book.begin(fresh)
            try:
                if chain:
                    self._chain(fresh)
                elif fresh:
                    self._begin_or_chain(fresh)
            except PlimsollError:
                self._go_on_without(fresh)
                raise
            with self._book.changed:
                courses = (self._known[number].course for number in fresh)
                return tuple(course for course in courses if course is not None)

    def stop(self, streams: Iterable[int] | None = None) -> None:
        """Stop streams, by default all, which also ends receiving.

        The others go on. Where none is left, this returns after the drain, all that came back
        counted.
        """
        with self._commands:
            numbers = self._numbers(streams)
            with self._book.changed:
                stopped = [number for number in numbers if self._known[number].enabled]
                for number in stopped:
                    self._known[number].enabled = False
                if streams is None:
                    self._receiving = False
                over = not self._receiving and not self.sending
            if self._trial is None:
                return
            if over:
                self._end_trial()
            elif all(self._known[number].rated for number in stopped):
                members = self._trial.members
                paused = {number: 0.0 for number in stopped if number in members}
                with _ended_by_itself(self):
                    self._trial.change_rates(paused)
            else:
                self._chain()

    def set_rates(self, rates_pps: Mapping[int, float]) -> None:
        """Give streams, by number, new rates in pps; 0 pauses one.

        Of a stream that does not send it is the rate at which it will start. Returns when the
        polling loops have taken them over. Raises InputError for an unknown stream, for one
        without a rate, and for a rate that the generator cannot keep; nothing changes then.
        """
        with self._commands:
            self._check()
            for number in self._numbers(rates_pps):
                known = self._known[number]
                check_rate(known, rates_pps[number], f"streams[{number}]", self._plan.capabilities)
            with self._book.changed:
                for number, rate_pps in rates_pps.items():
                    known = self._known[number]
                    known.plan = replace(known.plan, rate_pps=rate_pps)
            now = {n for n in rates_pps if self._known[n].sending and not self._known[n].held}
            self._send_rates({n: rate_pps for n, rate_pps in rates_pps.items() if n in now})

    def set_rate(self, stream: int, rate_pps: float) -> None:
        """The same for one stream."""
        self.set_rates({stream: rate_pps})

    def hold(self, streams: Iterable[int]) -> None:
        """Pause streams, and what is left of their durations. Raises as `set_rates` does."""
        with self._commands:
            self._check()
            with self._book.changed:
                chosen = {n: self._known[n] for n in self._numbers(streams)}
                held = {n: known for n, known in chosen.items() if known.sending and known.rated}
                for known in held.values():
                    known.hold()
            timed = [number for number, known in held.items() if known.left_s is not None]
            self._send_rates(dict.fromkeys(held, 0.0), dict.fromkeys(timed, LONGEST_TRIAL_S))

    def go_on(self, streams: Iterable[int]) -> None:
        """Go on with streams that were held. Raises as `set_rates` does."""
        with self._commands:
            self._check()
            with self._book.changed:
                chosen = {n: self._known[n] for n in self._numbers(streams)}
                held = {n: known for n, known in chosen.items() if known.held}
                left_s = {n: known.go_on() for n, known in held.items()}
            rates = {n: known.plan.rate_pps or 0.0 for n, known in held.items() if known.sending}
            self._send_rates(rates, {n: each for n, each in left_s.items() if each is not None})

    def counts(self, *, fresh: bool = False, timeout_s: float = 120.0) -> LiveCounts:
        """All counters, as of the end of the last interval.

        With `fresh`, as of the end of the one that is under way, which has all up to this call.
        Where everything has just ended, it waits until all that comes back is counted.
        """
        with self._book.changed:
            seen = self._book.intervals
            self._book.changed.wait_for(
                lambda: (
                    self._trial is None
                    or (not self._ending and (not fresh or self._book.intervals > seen))
                ),
                timeout_s,
            )
            ordered = [known for _, known in sorted(self._known.items())]
            return self._book.read(ordered, sending=any(each.sending for each in ordered))

    def clear(self, streams: Iterable[int] | None = None) -> None:
        """Begin the counters of streams anew, by default of all, of the ports and the time.

        Frames that are on their way at that moment are counted as received later, and not as sent.
        """
        numbers = self._numbers(streams)
        with self._book.changed:
            known = [self._known[number] for number in numbers]
            self._book.clear(known, ports=streams is None)

    def prepare_captures(self, ports: Mapping[int, PortCapture]) -> None:
        """Let these ports be captured, and no others; what was captured before is gone.

        Raises InputError for ports that there are not, while anything is sent or received, and
        where the generator captures nothing.
        """
        with self._commands:
            self._let_it_end()
            if self._trial is not None:
                raise InputError(
                    "captures cannot be prepared while traffic runs",
                    where="captures",
                    remedy="stop it first",
                )
            for port in ports:
                check_port(port, "captures", len(self.ports))
            with self._book.changed:
                self._captures.prepare(ports)

    def start_capture(self, port: int) -> None:
        """Capture what a port receives from now on; what was captured of it before is gone.

        Nothing is captured while nothing runs, but the next start goes on with it. Raises
        InputError for a port that was not prepared, and GeneratorRefused.
        """
        with self._commands:
            with self._book.changed:
                trial = self._trial
                path = self._captures.begin(port, sending=trial is not None)
            self._switch_capture(trial, port, path)

    def stop_capture(self, port: int) -> None:
        """Capture no more of a port. Raises as `start_capture` does."""
        with self._commands:
            with self._book.changed:
                trial = self._trial
                self._captures.end(port)
            self._switch_capture(trial, port)

    def captured(self, port: int) -> CapturedPort:
        """What was captured of a port up to now. Raises as `start_capture` does."""
        with self._commands:
            self._switch_capture(self._trial, port)
            with self._book.changed:
                return self._captures.captured(port)

    def set_link(self, port: int, *, up: bool) -> bool:
        """Take the link of a tester's port down, or bring it up; whether it is up then.

        Streams go on: what the port does not take is refused, what does not come back is lost.
        Of a card the link may be up seconds later. Raises InputError for a port that
        there is not and where the generator cannot, GeneratorRefused where the port's driver
        cannot, and what the session failed by.
        """
        with self._commands:
            self._check()
            check_port(port, "port", len(self.ports))
            if not self._plan.capabilities.links:
                raise InputError(
                    f"the generator {self._generator.facts.name} takes no links down or up",
                    where="generator",
                    remedy="use kind: engine, or take the link down on the DUT's side",
                )
            is_up = self._changed_link(port, up=up)
            with self._book.changed:
                self._book.note_link(port, up=is_up)
            return is_up

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until everything was stopped or has sent its frame count, and is counted.

        Returns whether that is so. Raises what the session failed by.
        """
        with self._book.changed:
            over = self._book.changed.wait_for(lambda: self._trial is None, timeout_s)
        if self._failure is not None:
            raise self._failure
        return over

    def close(self) -> None:
        """Stop everything. May be repeated; the test bed is its owner's to take down."""
        with self._commands, suppress(PlimsollError):
            self.stop()

    def _go_on_without(self, numbers: Iterable[int]) -> None:
        """These could not be started: the others must not stop for it."""
        with self._book.changed:
            for number in numbers:
                self._known[number].enabled = False
        if self._trial is None and self._failure is None and self.sending:
            self._begin_trial(follows=True)

    def _numbers(self, streams: Iterable[int] | None) -> tuple[int, ...]:
        with self._book.changed:
            if streams is None:
                return tuple(sorted(self._known))
            numbers = tuple(dict.fromkeys(streams))
            for number in numbers:
                if number not in self._known:
                    raise InputError(
                        f"there is no stream {number}",
                        where="streams",
                        remedy="name streams that were added",
                    )
            return numbers

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _needs_new_trial(self, number: int) -> bool:
        """Whether a stream that does not send cannot be started while the trial runs."""
        return self._trial is None or not self._trial.can_begin(number, self._known[number])

    def _begin_or_chain(self, fresh: Sequence[int]) -> None:
        """Begin streams in the trial that runs, or in another where it has ended by itself."""
        trial = self._trial
        try:
            if trial is not None:
                self._begin_streams(trial, fresh)
                return
        except GeneratorRefused:
            if trial is not None and not trial.over_soon():
                raise
        self._chain(fresh)

    def _begin_streams(self, trial: LiveTrafficTrial, fresh: Iterable[int]) -> StreamsBegun:
        begins = {n: self._known[n].begin for n in fresh if self._known[n].rated}
        begun = trial.begin_streams(begins)
        with self._book.changed:
            for course in begun.streams:
                if not self._known[course.stream].begun:
                    self._known[course.stream].note_begin(course)
        return begun

    def _send_rates(
        self, rates_pps: Mapping[int, float], ends_s: Mapping[int, float] = NO_ENDS
    ) -> None:
        """These rates, of streams that a trial sends."""
        trial = self._trial
        if trial is None:
            return
        rates = {
            number: rate_pps
            for number, rate_pps in rates_pps.items()
            if trial.members.get(number) is self._known[number] and self._known[number].rated
        }
        if not rates:
            return
        with _ended_by_itself(self):
            trial.change_rates(rates, ends_s)

    def _switch_capture(
        self, trial: LiveTrafficTrial | None, port: int, path: Path | None = None
    ) -> None:
        """A trial that runs is to capture a port as is known; what came before is in its file."""
        with self._book.changed:
            on = self._captures.is_on(port)
        if trial is None:
            return
        try:
            counts = trial.switch_capture(port, on=on, path=None if path is None else str(path))
        except GeneratorRefused:
            if self._failure is not None:
                raise self._failure from None
            if self._trial is trial:
                self._captures.end(port)
                raise
            # It has ended by itself, and with it its captures.
            return
        with self._book.changed:
            self._captures.note([counts])

    def _changed_link(self, port: int, *, up: bool) -> bool:
        trial = self._trial
        if trial is not None:
            try:
                return trial.set_link(port, up=up)
            except GeneratorRefused:
                if self._failure is not None:
                    raise self._failure from None
                if self._trial is trial:
                    raise
                # It has ended by itself, perhaps before it came to this.
        return self._generator.set_link(port, up=up)

    def _chain(self, fresh: Iterable[int] = ()) -> None:
        """End the trial that runs, if one does, and begin one of what is known and enabled."""
        follows = self._trial is not None
        self._end_trial()
        self._check()
        self._begin_trial(fresh, follows=follows)

    def _begin_trial(self, fresh: Iterable[int] = (), *, follows: bool) -> None:
        """Begin one in which the streams that are `fresh` send from their start on."""
        members = members_of(self._known, self._plan, len(self.ports))
        plan = live_plan(
            members,
            self._settings,
            self._captures.plans(),
            mark=self._bed.marks.take(),
            queue_frames=self._bed.ports.queue_frames,
            receiving=self._receiving,
        )
        self._bed.lab.check()
        with self._book.changed:
            self._ending = False
            trial = LiveTrafficTrial(
                self._generator,
                plan,
                members,
                watch=self._watch,
                streams_ended=self._streams_ended,
                ended=self._ended,
            )
            self._trial = trial
        begun = self._begin_streams(trial, fresh)
        with self._book.changed:
            for known in members.values():
                if known.sending and not known.begun:
                    known.note_begin(_with_trial(known, begun.trial_unix_ns))
        if follows and self._sent_until_unix_ns is not None:
            self._gaps_s.append((begun.trial_unix_ns - self._sent_until_unix_ns) / 1e9)

    def _end_trial(self) -> None:
        trial = self._trial
        if trial is not None:
            trial.stop()

    def _let_it_end(self) -> None:
        """Wait for the end of a trial that has nothing left to send."""
        with self._book.changed:
            trial = self._trial if self._ending else None
        if trial is not None:
            trial.join()

    def _watch(self, trial: LiveTrafficTrial, interval: Interval) -> bool:
        """Count an interval; true when nothing is left to send for, and nothing to receive."""
        with self._book.changed:
            current = {
                number: known
                for number, known in trial.members.items()
                if self._known.get(number) is known
            }
            self._book.add_interval(interval, current)
            self._note_whether_it_ends()
            ending = self._ending and not trial.ends_by_itself
        self._bed.lab.check()
        return ending or bool(self._links_lost())

    def _streams_ended(self, trial: LiveTrafficTrial, courses: tuple[StreamCourse, ...]) -> None:
        """The generator has ended streams; what they sent is counted."""
        with self._book.changed:
            for course in courses:
                known = trial.members.get(course.stream)
                if known is not None and self._known.get(course.stream) is known:
                    known.note_end(course)
            self._note_whether_it_ends()
            self._book.changed.notify_all()
        self._on_end()

    def _note_whether_it_ends(self) -> None:
        self._ending |= not self._receiving and not any(
            known.sending for known in self._known.values()
        )

    def _ended(self, trial: LiveTrafficTrial) -> None:
        report = trial.report
        with self._book.changed:
            if report is not None:
                self._sent_until_unix_ns = report.begin_unix_ns + report.sending_s * 1e9
                self._captures.note(report.captures)
            self._failure = self._failure or _of_session(trial)
            self._trial = None
            self._book.settle()
            if report is not None and report.ended_by == "link_down":
                for known in self._known.values():
                    known.enabled = False
        if report is not None and report.ended_by in ("duration", "streams"):
            threading.Thread(target=self._follow_up, name="live-trial-next", daemon=True).start()
        self._on_end()

    def _follow_up(self) -> None:
        """After a week, or where paused streams are left, the next trial follows by itself."""
        with self._commands:
            if self._trial is None and (self.sending or self._receiving):
                try:
                    self._begin_trial(follows=True)
                except PlimsollError as error:
                    self._failure = self._failure or error


def _with_trial(known: KnownStream, trial_unix_ns: int) -> StreamCourse:
    """Of a stream that begins with its trial, as those without a rate do."""
    duration_s = known.duration_s
    end_unix_ns = None if duration_s is None else trial_unix_ns + round(duration_s * 1e9)
    return StreamCourse(known.plan.stream, trial_unix_ns, end_unix_ns)


def _nothing() -> None:
    """Nobody wants to know."""


def _of_session(trial: LiveTrafficTrial) -> PlimsollError | None:
    """What a trial failed by, where no other can follow: not a request that was refused."""
    return None if isinstance(trial.failure, GeneratorRefused) else trial.failure


@contextmanager
def _ended_by_itself(traffic: LiveTraffic) -> Iterator[None]:
    """A trial that ended by itself needs no new rates; what failed is raised."""
    try:
        yield
    except GeneratorRefused:
        if traffic.failure is not None:
            raise traffic.failure from None
        if traffic.sending:
            raise
