"""How fast TRex's streams send and when: rates, multipliers, bursts, delays and chains.

A burst's last frame ends it: the next burst comes `ibg` later, the next stream its `isg` later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.errors import InputError
from plimsoll.remote.trex.streams.stl_stream import Continuous, MultiBurst, StlRate, StlStream
from plimsoll.search.text.wire import FCS_BYTES, PREAMBLE_AND_GAP_BYTES
from plimsoll.traffic.plan import ALL_THE_TIME, Pacing, Schedule

# As the engine takes them: the shortest time of sending, and the largest burst at once. Delays
# before all sending are left out below it.
_SHORTEST_S = 0.001
_MAX_AT_ONCE = 65_536
CONSTANT = Pacing()


@dataclass(frozen=True, slots=True)
class Timing:
    """When one stream sends: at a rate in pps, so many frames in all, None for no end."""

    rate_pps: float
    frame_count: int | None = None
    schedule: Schedule = ALL_THE_TIME
    pacing: Pacing = CONSTANT


@dataclass(frozen=True, slots=True)
class _Turn:
    """A stream's first begin, and how often it comes again, `period_s` later each time."""

    stream_id: int
    begin_s: float
    period_s: float | None = None
    rounds: int | None = 1


def timings(streams: Mapping[int, StlStream], rates: Mapping[int, float]) -> dict[int, Timing]:
    """The timing of each stream that ever sends; rates are in pps. Raises InputError."""
    found: dict[int, Timing] = {}
    for stream_id, stream in streams.items():
        if not (stream.enabled and stream.self_start):
            continue
        for turn in _turns(stream_id, streams, rates):
            number = turn.stream_id
            if number in found:
                raise InputError(
                    f"two streams start stream {number}",
                    where="next_stream_id",
                    remedy="let one other stream start each",
                )
            found[number] = _timing(streams[number], rates[number], turn)
    return {number: each for number, each in found.items() if not streams[number].is_delay}


def _turns(
    root: int, streams: Mapping[int, StlStream], rates: Mapping[int, float]
) -> Iterator[_Turn]:
    """The streams that `root` starts, itself the first, in their order."""
    path: list[_Turn] = []
    number, at_s = root, streams[root].isg / 1e6
    while True:
        stream = streams.get(number)
        if stream is None or not stream.enabled:
            break
        seen = [turn.stream_id for turn in path]
        if number in seen:
            yield from path[: seen.index(number)]
            yield from _loop(path[seen.index(number) :], at_s, streams)
            return
        path.append(_Turn(number, at_s))
        length_s = _length_s(stream, rates[number])
        if length_s is None or stream.next_stream_id < 0 or stream.action_count == 1:
            break
        number = stream.next_stream_id
        following = streams.get(number)
        if following is None:
            raise InputError(
                f"stream {number}, which another one starts, is not there",
                where="next_stream_id",
                remedy="add it",
            )
        at_s += length_s + following.isg / 1e6
    yield from path


def _loop(turns: list[_Turn], end_s: float, streams: Mapping[int, StlStream]) -> Iterator[_Turn]:
    """Streams that start each other in a circle, until one has had its `action_count`."""
    period_s = end_s - turns[0].begin_s
    counts = [(streams[t.stream_id].action_count, at) for at, t in enumerate(turns)]
    limits = [(count, at) for count, at in counts if count]
    rounds, last = min(limits, default=(None, 0))
    for at, turn in enumerate(turns):
        own = None if rounds is None else rounds if at <= last else rounds - 1
        yield replace(turn, period_s=period_s, rounds=own)


def _length_s(stream: StlStream, rate_pps: float) -> float | None:
    """From its first frame to its last; None without end."""
    mode = stream.mode
    if isinstance(mode, Continuous):
        return None
    if isinstance(mode, MultiBurst):
        burst_s = (mode.pkts_per_burst - 1) / rate_pps
        if mode.count == 0:
            return None
        return mode.count * burst_s + (mode.count - 1) * mode.ibg / 1e6
    return (mode.total_pkts - 1) / rate_pps


def _timing(stream: StlStream, rate_pps: float, turn: _Turn) -> Timing:
    mode = stream.mode
    if isinstance(mode, Continuous):
        return Timing(rate_pps, schedule=_from(turn.begin_s))
    if not isinstance(mode, MultiBurst):
        return _bursts(mode.total_pkts, turn.rounds, turn.period_s, rate_pps, turn.begin_s)
    period_s = (mode.pkts_per_burst - 1) / rate_pps + mode.ibg / 1e6
    count = mode.count or None
    if turn.period_s is None or count == 1:
        if count == 1:
            return _bursts(mode.pkts_per_burst, turn.rounds, turn.period_s, rate_pps, turn.begin_s)
        return _bursts(mode.pkts_per_burst, count, period_s, rate_pps, turn.begin_s)
    raise InputError(
        "multi_burst: several bursts in a stream that a circle of streams starts over and over",
        where="next_stream_id",
        remedy="use single bursts in the circle",
    )


def _bursts(
    frames: int, bursts: int | None, period_s: float | None, rate_pps: float, begin_s: float
) -> Timing:
    """So many bursts of so many frames, each `period_s` after the last; None for no end."""
    total = None if bursts is None else frames * bursts
    if period_s is None or bursts == 1:
        return Timing(rate_pps, total, _from(begin_s))
    if period_s <= 0:
        raise InputError(
            "bursts of one frame follow each other without a gap",
            where="mode.ibg",
            remedy="give a gap",
        )
    sending_s = (frames - 0.5) / rate_pps
    if frames == 1 or period_s <= sending_s:
        # Without a gap to speak of, bursts are one.
        return Timing(frames / period_s, total, _from(begin_s))
    if sending_s < _SHORTEST_S and frames <= _MAX_AT_ONCE:
        # Within a millisecond: at once.
        return Timing(frames / period_s, total, Schedule(begin_s), Pacing("burst", frames))
    return Timing(rate_pps, total, Schedule(begin_s, sending_s, period_s - sending_s))


def _from(begin_s: float) -> Schedule:
    return Schedule(begin_s) if begin_s >= _SHORTEST_S else ALL_THE_TIME


# TRex allows as much for rounding.
_ROUNDING = 1.0001


class Multiplier(BaseModel):
    """By how much the rates of a profile are to be scaled, or to what."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    op: Literal["abs", "add", "sub"]
    type: Literal["raw", "pps", "bps", "bpsl1", "percentage"]
    value: Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]


def rate_pps(rate: StlRate, mean_bytes: float, line_rate_bps: float) -> float:
    """Frames a second of frames of `mean_bytes`, without FCS."""
    l2_bits = 8 * (mean_bytes + FCS_BYTES)
    l1_bits = l2_bits + 8 * PREAMBLE_AND_GAP_BYTES
    match rate.type:
        case "pps":
            return rate.value
        case "bps_L2":
            return rate.value / l2_bits
        case "bps_L1":
            return rate.value / l1_bits
        case _:
            return rate.value / 100 * line_rate_bps / l1_bits


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """What some streams send together."""

    pps: float = 0.0
    l2_bps: float = 0.0
    l1_bps: float = 0.0

    @classmethod
    def of(cls, streams: Iterable[tuple[float, float]]) -> Bandwidth:
        """From rates in pps and mean lengths without FCS."""
        listed = list(streams)
        pps = sum(rate for rate, _ in listed)
        l2_bps = sum(rate * 8 * (length + FCS_BYTES) for rate, length in listed)
        return cls(pps, l2_bps, l2_bps + pps * 8 * PREAMBLE_AND_GAP_BYTES)


@dataclass(frozen=True, slots=True)
class ProfileBandwidth:
    """What a profile sends: what is multiplied, and what is `fixed`, as latency streams are.

    `line_rate_bps` is L1.
    """

    varied: Bandwidth
    fixed: Bandwidth
    line_rate_bps: float

    def l1_bps(self, factor: float) -> float:
        """All of it, at a factor."""
        return self.varied.l1_bps * factor + self.fixed.l1_bps

    def factor(self, multiplier: Multiplier, now: float, *, force: bool) -> float:
        """The factor that a multiplier comes to; `now` is that in use. Raises InputError."""
        named = self._named(multiplier, now)
        if named <= 0:
            raise InputError(f"Factor must be positive, got: {named:g}")
        expected = self.l1_bps(named)
        if not force and expected > self.line_rate_bps * _ROUNDING:
            raise InputError(
                f"Expected L1 B/W: '{expected / 1e9:g} Gbps' exceeds port line rate: "
                f"'{self.line_rate_bps / 1e9:g} Gbps'"
            )
        match multiplier.op:
            case "abs":
                return named
            case "add":
                return now + named
            case _:
                if named >= now:
                    raise InputError("Update request will lower traffic to less than zero")
                return now - named

    def _named(self, multiplier: Multiplier, now: float) -> float:
        value = multiplier.value
        match multiplier.type:
            case "raw":
                return value
            case "pps":
                return _share(value, self.fixed.pps, self.varied.pps, "pps")
            case "bps":
                return _share(value, self.fixed.l2_bps, self.varied.l2_bps, "BPS L2")
            case "bpsl1":
                return _share(value, self.fixed.l1_bps, self.varied.l1_bps, "BPS L1")
            case _ if multiplier.op == "abs":
                selected = value / 100 * self.line_rate_bps
                return _share(selected, self.fixed.l1_bps, self.varied.l1_bps, "BPS L1")
            case _:
                return now * value / 100


def _share(selected: float, fixed: float, varied: float, unit: str) -> float:
    if selected < fixed:
        raise InputError(
            f"current stream configuration enforces a minimum rate of '{fixed:g}' {unit}"
        )
    if varied == 0:
        # Latency streams alone have nothing to multiply.
        return 1.0
    return (selected - fixed) / varied
