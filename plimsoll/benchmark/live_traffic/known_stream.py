"""A stream that live traffic knows: what it sends, whether it is to, and how far it has come."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from plimsoll.benchmark.live_traffic.live_counts import StreamState
from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities
from plimsoll.generator.interface import StreamBegin, StreamCounts, StreamCourse
from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import LONGEST_TRIAL_S, StreamPlan

_WITHOUT_RATE = ("back-to-back", "one-in-flight")
# The least that is left of a duration, of which a part has passed.
_SHORTEST_S = 0.001


@dataclass
class KnownStream:
    """`plan` has the rate at which it is to send; `offered` are frames of its frame count.

    It was started for `duration_s`, None for no end, and `course` is from when to when it sends,
    once that is known. `ended` says that its time or its frame count is over. While it is `held`
    it sends nothing, and `left_s` is how much of its time is left, None where it has no end.
    """

    plan: StreamPlan
    enabled: bool = False
    begun: bool = False
    offered: int = 0
    duration_s: float | None = None
    course: StreamCourse | None = None
    ended: bool = False
    held: bool = False
    left_s: float | None = None
    # When its time is over, by the clock that is never set; the course has the wall clock's.
    _over_ns: int | None = None

    @property
    def rated(self) -> bool:
        """Whether its rate may change, and so be 0, while a trial runs."""
        return self.plan.pacing.kind not in _WITHOUT_RATE or (
            self.plan.pacing.kind == "one-in-flight" and self.plan.rate_pps is not None
        )

    @property
    def finished(self) -> bool:
        """Whether all frames of its frame count were offered, or its time is over."""
        count = self.plan.frame_count
        return self.ended or (count is not None and self.offered >= count)

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

    def start(self, duration_s: float | None) -> None:
        """It is to send from its start on."""
        self.enabled, self.begun, self.ended, self.held = True, False, False, False
        self.offered, self.left_s = 0, None
        endless = duration_s is None or duration_s >= LONGEST_TRIAL_S
        self.duration_s = None if endless else max(_SHORTEST_S, duration_s or 0.0)

    @property
    def begin(self) -> StreamBegin:
        """How it is to begin."""
        return StreamBegin(self.plan.rate_pps or 0.0, self.duration_s)

    def note_begin(self, course: StreamCourse) -> None:
        """It began."""
        self.begun, self.course, self._over_ns = True, course, None
        if course.end_unix_ns is not None:
            self._over_ns = course.end_unix_ns - wall_minus_monotonic_ns()

    def note_end(self, course: StreamCourse) -> bool:
        """It ended; false where that was said of a start before the last one."""
        before = self.course
        stale = not self.begun and before is not None
        if stale and before is not None and before.begin_unix_ns == course.begin_unix_ns:
            return False
        # Of a frame count all may have been counted before its end is reported.
        if not self.enabled or self.ended:
            return False
        self.course, self.begun, self.ended = course, True, True
        return True

    def remaining_s(self) -> float | None:
        """How much is left of its duration; None where it has none."""
        if self.held or self.duration_s is None:
            return self.left_s
        if not self.begun or self._over_ns is None:
            return self.duration_s
        return max(_SHORTEST_S, (self._over_ns - time.monotonic_ns()) / 1e9)

    def was_over(self, ago_s: float) -> bool:
        """Whether its time was over so long ago; its end may be reported later."""
        if self.held or self._over_ns is None:
            return False
        return time.monotonic_ns() - round(ago_s * 1e9) >= self._over_ns

    def hold(self) -> None:
        """It is to send nothing for now, and what is left of its time is to stay."""
        self.left_s = self.remaining_s()
        self.held = True

    def go_on(self) -> float | None:
        """It is to go on after it was held; returns what is left of its time."""
        left_s, self.held, self.left_s = self.left_s, False, None
        if self.course is not None and left_s is not None:
            self._over_ns = time.monotonic_ns() + round(left_s * 1e9)
            end_unix_ns = self._over_ns + wall_minus_monotonic_ns()
            self.course = replace(self.course, end_unix_ns=end_unix_ns)
        return left_s

    def note(self, counts: StreamCounts) -> None:
        """Account for the frames of an interval."""
        self.offered += counts.sent + counts.no_buffer
        # What a stream that takes all the room is refused it sends later.
        if self.plan.pacing.kind != "back-to-back":
            self.offered += counts.refused

    def planned(self) -> StreamPlan:
        """What the next trial is to send of it, from its start on or the rest.

        A stream with a rate has rate 0 where it is not enabled, and where it is yet to begin.
        """
        goes_on = self.sending and (self.begun or not self.rated)
        if not goes_on:
            return replace(self.plan, rate_pps=0.0 if self.rated else self.plan.rate_pps)
        count = self.plan.frame_count
        return replace(
            self.plan,
            rate_pps=0.0 if self.held else self.plan.rate_pps,
            frame_count=None if count is None else max(1, count - self.offered),
            duration_s=None if self.held else self.remaining_s(),
        )


_MAX_NUMBER = 65535
_SMALLEST_FRAME_SIZE = 64


def check_number(plan: StreamPlan, where: str, taken: Collection[int]) -> None:
    """Raise InputError for a number that cannot be, or is taken."""
    if not 0 <= plan.stream <= _MAX_NUMBER or plan.stream in taken:
        raise InputError(
            f"{plan.stream} cannot be its number",
            where=f"{where}.stream",
            remedy=f"give one from 0 to {_MAX_NUMBER} that no other stream has",
        )


def check_ports(plan: StreamPlan, where: str, port_count: int) -> None:
    """Raise InputError for a port that there is not."""
    for name, port in (("tx_port", plan.tx_port), ("rx_port", plan.rx_port)):
        check_port(port, f"{where}.{name}", port_count)


def check_port(port: int, where: str, port_count: int) -> None:
    """Raise InputError for a port that there is not."""
    if not 0 <= port < port_count:
        raise InputError(
            f"there is no port {port}",
            where=where,
            remedy=f"name one from 0 to {port_count - 1}",
        )


def check_frames(plan: StreamPlan, where: str, largest_frame_size: int) -> None:
    """Raise InputError for frames that are too short or too long, in bytes with FCS."""
    for index, frame in enumerate(plan.frames):
        if not _SMALLEST_FRAME_SIZE <= len(frame) + FCS_BYTES <= largest_frame_size:
            raise InputError(
                f"{len(frame) + FCS_BYTES} bytes with FCS",
                where=f"{where}.frames[{index}]",
                remedy=f"give {_SMALLEST_FRAME_SIZE} to {largest_frame_size} bytes with FCS, "
                "for which the ports were opened",
            )


def check_pacing(plan: StreamPlan, where: str, capabilities: Capabilities) -> None:
    """Raise InputError for a pacing or a rate that the generator does not have."""
    if plan.pacing.kind not in capabilities.pacings:
        raise InputError(
            f"the generator has no {plan.pacing.kind}",
            where=f"{where}.pacing",
            remedy=f"use one of {', '.join(sorted(capabilities.pacings))}",
        )
    known = KnownStream(plan)
    if known.rated:
        check_rate(known, plan.rate_pps, where, capabilities)
    elif plan.rate_pps is not None:
        raise InputError(
            "back-to-back streams have no rate", where=f"{where}.rate_pps", remedy="leave it out"
        )


def check_rate(
    known: KnownStream, rate_pps: float | None, where: str, capabilities: Capabilities
) -> None:
    """Raise InputError for a rate that the stream cannot have; 0 pauses it."""
    if not known.rated:
        raise InputError(
            f"a stream that is sent {known.plan.pacing.kind} has no rate",
            where=where,
            remedy="stop it, or use another pacing",
        )
    least, most = capabilities.least_pps, capabilities.most_pps
    if rate_pps is None or (rate_pps != 0 and not least <= rate_pps <= most):
        said = "no rate" if rate_pps is None else format_pps(rate_pps)
        raise InputError(
            f"{said} cannot be kept",
            where=f"{where}.rate_pps",
            remedy=f"give 0, or {format_pps(least)} to {format_pps(most)}",
        )
