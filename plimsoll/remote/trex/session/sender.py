"""Profiles of TRex's ports, started, changed and stopped on live traffic."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from plimsoll.errors import InputError, PlimsollError
from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from plimsoll.remote.trex.session.statistics import RetiredStreams
from plimsoll.remote.trex.session.stl_port import StlPort, StlProfile
from plimsoll.remote.trex.session.traffic import SentTraffic
from plimsoll.remote.trex.streams.port_program import (
    TranslatedStream,
    bandwidth,
    plans,
    scaled_pps,
)
from plimsoll.remote.trex.streams.timeline import Multiplier, Timing, timings
from plimsoll.traffic.plan import StreamPlan

_MAX_NUMBER = 65_535
_PLACE = re.compile(r"^streams\[(\d+)\]")
# After a burst's frames are counted, the engine says when the last of them left.
_END_KNOWN_WITHIN_S = 0.2


class Sender:
    """All ports' profiles on one engine, which ends what has a duration or a frame count."""

    def __init__(self, traffic: SentTraffic, ports: tuple[StlPort, ...]) -> None:
        self._traffic, self._ports = traffic, ports
        self.retired = RetiredStreams()
        self._known: dict[int, StreamPlan] = {}
        self._next_number = 0

    def start(
        self,
        port: StlPort,
        profile: StlProfile,
        multiplier: Multiplier,
        duration: float,
        *,
        force: bool,
    ) -> float:
        """Start a profile for `duration` s from its begin on, without end for 0 or less.

        Returns its factor. Raises InputError, GeneratorRefused and whatever the traffic failed by.
        """
        if profile.active:
            raise InputError(f"profile_id({profile.name}) is already active")
        streams = _translated(profile)
        if not streams:
            raise InputError("unable to start traffic - no streams attached to port")
        factor = bandwidth(streams, port.tester).factor(multiplier, 1.0, force=force)
        numbers = {number: self._number(profile, number) for number in streams}
        planned = plans(streams, port.tester, factor, numbers)
        if not planned:
            raise InputError("no stream of the profile is enabled and starts by itself")
        profile.factor = factor
        profile.rates = {number: plan.rate_pps or 0.0 for number, plan in planned.items()}
        profile.paused = {n for n in planned if streams[n].stream.start_paused}
        profile.state, profile.silent_since_s = "TX", None
        try:
            self._make_known(planned.values())
            self._make_all_known()
            self._begin(profile, duration)
        except PlimsollError:
            profile.state = "STREAMS"
            raise
        return factor

    def times(self, profile: StlProfile) -> dict[str, float | None]:
        """When it began, and when it ends or ended, by the server's monotonic clock.

        An end that is not known yet is None.
        """
        known = self._traffic.courses
        courses = [known[each] for each in _sent_numbers(profile) if each in known]
        begins = [each.begin_unix_ns for each in courses]
        ends = [each.end_unix_ns for each in courses if each.end_unix_ns is not None]
        return {
            "begin_ts": _monotonic_s(min(begins)) if begins else None,
            "end_ts": _monotonic_s(max(ends)) if ends and len(ends) == len(courses) else None,
        }

    def ended(self) -> list[tuple[StlPort, StlProfile]]:
        """Profiles that were active, and of which no stream sends any more."""
        sending = self._traffic.sending
        silent = [
            (port, profile)
            for port, profile in self._active()
            if not sending.intersection(_sent_numbers(profile))
        ]
        over = [(port, profile) for port, profile in silent if self._end_is_known(profile)]
        for _, profile in over:
            profile.state = "STREAMS"
        return over

    def _end_is_known(self, profile: StlProfile) -> bool:
        """Whether it is known when it ended, or will not be: some links went down."""
        now_s = time.monotonic()
        profile.silent_since_s = profile.silent_since_s or now_s
        late = now_s - profile.silent_since_s > _END_KNOWN_WITHIN_S
        return late or self.times(profile)["end_ts"] is not None

    def fail(self) -> list[tuple[StlPort, StlProfile]]:
        """The traffic has failed: all profiles that were active have ended."""
        found = list(self._active())
        for _, profile in found:
            profile.state = "STREAMS"
        return found

    def stop(self, port: StlPort, profiles: Iterable[StlProfile]) -> list[StlProfile]:
        """Stop profiles that are active, and return them."""
        active = [profile for profile in profiles if profile.active]
        numbers = [number for profile in active for number in _sent_numbers(profile)]
        if numbers:
            self._traffic.stop(numbers)
        for profile in active:
            profile.state = "STREAMS"
        return active

    def pause(self, profile: StlProfile, streams: Iterable[int] | None = None) -> None:
        """Pause a profile, or some of its streams, which send nothing until they are resumed."""
        chosen = self._chosen(profile, streams)
        if streams is None:
            _need(profile, "TX", "pause")
            profile.state = "PAUSE"
        else:
            profile.paused |= set(chosen)
        self._apply(profile)

    def resume(self, profile: StlProfile, streams: Iterable[int] | None = None) -> None:
        """Resume a profile, or some of its streams."""
        chosen = self._chosen(profile, streams)
        if streams is None:
            _need(profile, "PAUSE", "resume")
            profile.state = "TX"
        else:
            profile.paused -= set(chosen)
        self._apply(profile)

    def update(
        self, port: StlPort, profile: StlProfile, multiplier: Multiplier, *, force: bool
    ) -> float:
        """Multiply the rates of a profile that sends; returns the factor. Raises InputError."""
        if not profile.active:
            raise InputError("command 'update' cannot be executed: port is not transmitting")
        streams = _translated(profile)
        factor = bandwidth(streams, port.tester).factor(multiplier, profile.factor, force=force)
        rates = self._rates(profile, streams, factor)
        profile.factor, profile.rates = factor, rates
        self._apply(profile)
        return factor

    def update_streams(
        self,
        port: StlPort,
        profile: StlProfile,
        multiplier: Multiplier,
        chosen: Iterable[int],
        *,
        force: bool,
    ) -> None:
        """Multiply the rates of some streams, each on its own. Raises InputError."""
        if multiplier.op != "abs":
            raise InputError("Must use absolute multiplier for updating stream")
        streams = _translated(profile)
        for number in self._chosen(profile, chosen):
            alone = {number: streams[number]}
            factor = bandwidth(alone, port.tester).factor(multiplier, 1.0, force=force)
            self._check_changeable(profile, number)
            profile.rates[number] = scaled_pps(streams[number], factor)
        self._apply(profile)

    def forget(self, profile: StlProfile, streams: Iterable[int]) -> None:
        """Streams that were removed: what they have sent is forgotten, too."""
        numbers = [profile.numbers.pop(each) for each in streams if each in profile.numbers]
        known = [number for number in numbers if number in self._known]
        self._remove(known)

    def _rates(
        self, profile: StlProfile, streams: dict[int, TranslatedStream], factor: float
    ) -> dict[int, float]:
        rates = {number: scaled_pps(each, factor) for number, each in streams.items()}
        found: dict[int, Timing] = timings({n: e.stream for n, e in streams.items()}, rates)
        for number in found:
            if rates[number] != scaled_pps(streams[number], profile.factor):
                self._check_changeable(profile, number)
        return {number: timing.rate_pps for number, timing in found.items()}

    def _check_changeable(self, profile: StlProfile, stream_id: int) -> None:
        plan = self._known.get(profile.numbers.get(stream_id, -1))
        if plan is not None and _counts_from_begin(plan):
            raise InputError(
                f"stream {stream_id} sends in bursts or is started by another one, so that its "
                "rate cannot change while it sends",
                remedy="stop the traffic, and start it with another multiplier",
            )

    def _apply(self, profile: StlProfile) -> None:
        """The rates as they are to be now."""
        self._traffic.set_rates(
            {
                profile.numbers[number]: 0.0
                if profile.state == "PAUSE" or number in profile.paused
                else rate
                for number, rate in profile.rates.items()
            }
        )

    def _chosen(self, profile: StlProfile, streams: Iterable[int] | None) -> list[int]:
        chosen = list(profile.rates if streams is None else streams)
        for number in chosen:
            if number not in profile.rates or not profile.active:
                raise InputError(f"stream {number} is not transmitting", where="stream_ids")
        return chosen

    def _begin(self, profile: StlProfile, duration: float) -> None:
        numbers = _sent_numbers(profile)
        self._apply(profile)
        self._traffic.start(numbers, dict.fromkeys(numbers, duration) if duration > 0 else {})

    def _make_known(self, planned: Iterable[StreamPlan]) -> None:
        """Give the traffic the streams as they are now; those that have not changed stay."""
        changed = [plan for plan in planned if self._known.get(plan.stream) != _bare(plan)]
        self._remove([each.stream for each in changed if each.stream in self._known])
        try:
            self._traffic.add(changed)
        except InputError as error:
            # Clients know their streams by name, not by their place in what is added here.
            error.where = _PLACE.sub(lambda m: changed[int(m[1])].name, error.where)
            raise
        for plan in changed:
            self._known[plan.stream] = _bare(plan)

    def _remove(self, numbers: list[int]) -> None:
        if not numbers:
            return
        live = self._traffic.counts().streams
        self.retired.take(each for each in live if each.stream in numbers)
        self._traffic.remove(numbers)
        for number in numbers:
            del self._known[number]

    def _make_all_known(self) -> None:
        """Streams of other ports, too, which then start without a pause of those that send."""
        for port in self._ports:
            for profile in port.profiles.values():
                streams = _translated(profile)
                if profile.active or any(each in profile.numbers for each in streams):
                    continue
                numbers = {number: self._number(profile, number) for number in streams}
                try:
                    planned = plans(streams, port.tester, 1.0, numbers)
                    self._make_known(planned.values())
                except PlimsollError:
                    # Who starts them gets the reason why they cannot be.
                    continue

    def _number(self, profile: StlProfile, stream_id: int) -> int:
        """The engine's of a stream, the same for as long as it is there."""
        if stream_id not in profile.numbers:
            taken = {
                n
                for port in self._ports
                for p in port.profiles.values()
                for n in p.numbers.values()
            }
            while self._next_number in taken:
                self._next_number = (self._next_number + 1) % (_MAX_NUMBER + 1)
            profile.numbers[stream_id] = self._next_number
            self._next_number = (self._next_number + 1) % (_MAX_NUMBER + 1)
        return profile.numbers[stream_id]

    def _active(self) -> Iterator[tuple[StlPort, StlProfile]]:
        for port in self._ports:
            for profile in port.profiles.values():
                if profile.active:
                    yield port, profile


def _monotonic_s(unix_ns: int) -> float:
    """The same moment, which is not long ago, by the clock that is never set."""
    return (unix_ns - wall_minus_monotonic_ns()) / 1e9


def _translated(profile: StlProfile) -> dict[int, TranslatedStream]:
    return {number: each.translated for number, each in profile.streams.items()}


def _sent_numbers(profile: StlProfile) -> list[int]:
    return [profile.numbers[number] for number in profile.rates]


def _counts_from_begin(plan: StreamPlan) -> bool:
    """Whether its bursts or its delay are tied to the moment of the start."""
    return plan.pacing.kind == "burst" or not plan.schedule.always


def _bare(plan: StreamPlan) -> StreamPlan:
    """All but the rate, which may change at any time."""
    return replace(plan, rate_pps=None)


def _need(profile: StlProfile, state: str, command: str) -> None:
    if profile.state != state:
        raise InputError(
            f"command '{command}' cannot be executed on current state: '{profile.state}'"
        )
