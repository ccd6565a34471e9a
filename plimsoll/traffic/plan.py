"""What the engine is to send: streams compiled down to bytes, rates and schedules."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address
from itertools import accumulate
from typing import Literal

from plimsoll.search.text.wire import FCS_BYTES


@dataclass(frozen=True)
class CapturedGaps:
    """The gaps between a capture's frames, sent over and over: a round has each once.

    `gaps_ns` has as many as there are frames, in ns, each the one after its frame; the last
    is from the last frame to the next round's first, and above 0. At a rate in frames a
    second all are scaled alike, so that this is their mean rate.
    """

    gaps_ns: tuple[int, ...]

    @property
    def round_ns(self) -> int:
        """From a round's first frame to the next round's, at the capture's own speed."""
        return sum(self.gaps_ns)

    @property
    def own_pps(self) -> float:
        """The mean rate at the capture's own speed, in frames a second."""
        return len(self.gaps_ns) * 1e9 / self.round_ns

    def due_before(self, seconds: float, rate_pps: float) -> int:
        """How many frames are due in the first `seconds`, of which round 0 is the begin."""
        frames = len(self.gaps_ns)
        rounds, rest = divmod(seconds * rate_pps, frames)
        return int(rounds) * frames + bisect_left(self._times_ns, rest / frames * self.round_ns)

    def most_within(self, seconds: float, rate_pps: float) -> int:
        """The most frames that are due within any `seconds`, both ends included."""
        frames, times_ns = len(self.gaps_ns), self._times_ns
        rounds, rest = divmod(seconds * rate_pps, frames)
        span_ns = rest / frames * self.round_ns
        most = last = 0
        for first, begin_ns in enumerate(times_ns):
            while times_ns[last % frames] + last // frames * self.round_ns <= begin_ns + span_ns:
                last += 1
            most = max(most, last - first)
        return int(rounds) * frames + most

    @cached_property
    def _times_ns(self) -> tuple[int, ...]:
        """When each frame of a round is due, from the round's begin on."""
        return tuple(accumulate(self.gaps_ns[:-1], initial=0))


Role = Literal["load", "latency"]
PacingKind = Literal["constant", "burst", "poisson", "captured", "back-to-back", "one-in-flight"]

# Mark, stream, sequence, time and checksum complement, the frame's last bytes before the FCS.
SIGNATURE_BYTES = 18
# The same without the time, of load frames that have no room for all of it.
SHORT_SIGNATURE_BYTES = 12

# Of the destination and of the source, with which a frame begins.
MAC_BYTES = 6

# As long as the engine lets a trial last, in s: a week.
LONGEST_TRIAL_S = 604_800

# Far shorter than anything that a schedule may have, and longer than a rounding.
_MOMENT_S = 1e-6


@dataclass(frozen=True, slots=True)
class FieldWriter:
    """One header field that changes per frame, of `width` bytes at `offset`, big-endian.

    Frame n takes the i-th of `count` values, where i is (first + n) div `every` mod count, or
    for `random` a number below `count` that `seed` and first + n decide. The value is what the
    template has there plus i * `step`; with `values` it is the i-th of these. `mask` says which
    bits of the field change, a run of ones without gaps; the value is written into them and
    counted modulo their number. `fixes` are the offsets of the 16-bit Internet
    checksums that cover the field. With `churn`, new values a frame, the `count` of an
    increment are those in use at a time, of `cycle` in all (docs/engine-protocol.md).
    `tells` is the name under which the profile varies it, if its values count the flows.
    """

    offset: int
    width: int
    count: int
    step: int = 1
    kind: Literal["increment", "list", "random"] = "increment"
    values: tuple[int, ...] = ()
    seed: int = 0
    first: int = 0
    every: int = 1
    mask: int | None = None
    fixes: tuple[int, ...] = ()
    churn: float = 0.0
    cycle: int = 0
    tells: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Pacing:
    """When a stream's frames are due.

    `constant`: equal gaps. `burst`: `burst_frames` at once, bursts at equal gaps.
    `poisson`: exponentially distributed gaps, decided by `seed`. `captured`: the `gaps` of
    a capture, which a plan has, scaled to the rate. `back-to-back`: as fast as the port
    takes them. `one-in-flight`: the next when the last came back, or
    `timeout_us` after it was sent. All but the last two keep to the stream's rate;
    `one-in-flight` never exceeds it where it has one.
    """

    kind: PacingKind = "constant"
    burst_frames: int = 1
    seed: int = 0
    timeout_us: float = 100_000.0
    gaps: CapturedGaps | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """In which parts of a trial a stream sends, in s from the trial's start.

    From `start_s` on, for `duration_s` or to the trial's end; with `pause_s` again after
    each such pause. Pacings begin anew with each repetition.
    """

    start_s: float = 0.0
    duration_s: float | None = None
    pause_s: float | None = None

    @property
    def always(self) -> bool:
        """Whether it leaves out no part of a trial."""
        return self.start_s == 0.0 and (self.duration_s is None or self.pause_s == 0.0)

    def sending_s(self, begin_s: float, end_s: float) -> float:
        """How much of a part of the trial the stream sends in."""
        return self.added_up(begin_s, end_s, lambda seconds: seconds)

    def added_up(self, begin_s: float, end_s: float, of: Callable[[float], float]) -> float:
        """What all repetitions add in a part of the trial, if the first t s of one have `of(t)`."""
        return self._added_up_until(end_s, of) - self._added_up_until(begin_s, of)

    def sends_at(self, at_s: float) -> bool:
        """Whether the stream sends from that moment on, however briefly."""
        return self.sending_s(at_s, at_s + _MOMENT_S) > 0

    def repetitions(self, begin_s: float, end_s: float) -> int:
        """How often it begins, or goes on, to send in that part; 0 where it never sends."""
        if self.sending_s(begin_s, end_s) <= 0:
            return 0
        if self.duration_s is None or self.pause_s is None:
            return 1
        period_s = self.duration_s + self.pause_s
        before = math.floor((begin_s - self.start_s - self.duration_s) / period_s) + 1
        return math.ceil((end_s - self.start_s) / period_s) - max(0, before)

    def edges_s(self, begin_s: float, end_s: float) -> list[float]:
        """When it begins or ends to send between the two, in order."""
        if self.duration_s is None or self.pause_s is None:
            stop_s = math.inf if self.duration_s is None else self.start_s + self.duration_s
            return [at_s for at_s in (self.start_s, stop_s) if begin_s < at_s < end_s]
        period_s = self.duration_s + self.pause_s
        first = max(0, math.floor((begin_s - self.start_s) / period_s))
        last = math.ceil((end_s - self.start_s) / period_s)
        starts_s = (self.start_s + number * period_s for number in range(first, last + 1))
        edges_s = (at_s for start_s in starts_s for at_s in (start_s, start_s + self.duration_s))
        return [at_s for at_s in edges_s if begin_s < at_s < end_s]

    def _added_up_until(self, at_s: float, of: Callable[[float], float]) -> float:
        since_s = max(0.0, at_s - self.start_s)
        if self.duration_s is None:
            return of(since_s)
        if self.pause_s is None:
            return of(min(since_s, self.duration_s))
        repetitions, rest_s = divmod(since_s, self.duration_s + self.pause_s)
        return repetitions * of(self.duration_s) + of(min(rest_s, self.duration_s))


ALL_THE_TIME = Schedule()


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """One stream as the engine sends it.

    `frames` are its templates without FCS, their signatures zero. Frame n is made from
    template `order[n mod len(order)]`; without an order the templates take turns.
    `rate_pps` is None where the pacing needs none. `frame_count` ends the stream early, and so
    does `duration_s`, counted from its begin, of generators that end streams by themselves.
    `taken_from` is the load stream, by name, whose rate a probe's was taken out of.
    Frames with a `short_signature` say nothing of when they were sent. Those of a `filtered`
    stream the DUT is to drop. Where the destination's MAC is not written, `destination` is
    the address whose next hop is to have it, if the generator can find that out; `own_source`
    says the same of the source's, which is then that of the port's host. With `counted_flows`
    frames are counted by flow as well: frame n is of flow (`first_flow` + n) mod that many.
    """

    stream: int
    name: str
    role: Role
    tx_port: int
    rx_port: int
    frames: tuple[bytes, ...]
    rate_pps: float | None
    order: tuple[int, ...] = ()
    pacing: Pacing = field(default_factory=Pacing)
    fields: tuple[FieldWriter, ...] = ()
    frame_count: int | None = None
    tx_queue: int = 0
    taken_from: str | None = None
    schedule: Schedule = ALL_THE_TIME
    short_signature: bool = False
    filtered: bool = False
    destination: IPv4Address | IPv6Address | None = None
    own_source: bool = False
    counted_flows: int = 0
    first_flow: int = 0
    duration_s: float | None = None

    @property
    def unaddressed(self) -> bool:
        """Whether a MAC of its frames is for the generator to find out."""
        return self.destination is not None or self.own_source

    @property
    def steady(self) -> bool:
        """Whether equal times have about as many of its frames, all through a trial."""
        return self.frame_count is None and self.schedule.always and self.pacing.kind != "captured"

    @property
    def signature_bytes(self) -> int:
        """How many of a frame's last bytes are the signature's."""
        return SHORT_SIGNATURE_BYTES if self.short_signature else SIGNATURE_BYTES

    @property
    def mean_frame_size(self) -> float:
        """Bytes with FCS, in the mean over the order of sending."""
        order = self.order or range(len(self.frames))
        return sum(len(self.frames[index]) for index in order) / len(order) + FCS_BYTES

    @property
    def largest_frame_size(self) -> int:
        """Bytes with FCS."""
        return max(len(frame) for frame in self.frames) + FCS_BYTES
