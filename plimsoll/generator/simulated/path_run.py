"""One direction of a simulated trial: its streams, through the DUT, and back to the tester."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from plimsoll.generator.interface import StreamCounts
from plimsoll.generator.simulated.latency_tally import DelayShare
from plimsoll.generator.simulated.stream_run import Fate, StreamRun
from plimsoll.search.simulated.away_times import Away
from plimsoll.search.simulated.chance import binomial
from plimsoll.search.simulated.direction import LatencyShape, Passage, SimulatedDirection

# The mean wait is rounded to this part of the floor, so that similar intervals share histograms.
_WAIT_STEPS = 32


class PathSpan(NamedTuple):
    """An interval of the trial, in s since its first frame; the trial began at `began_s`.

    `tx_away` and `rx_away` are when the sending and the receiving loop were away, in s of
    the trial, whole: they may reach beyond the interval.
    """

    began_s: float
    begin_s: float
    end_s: float
    sending: bool
    tx_away: Sequence[Away] = ()
    rx_away: Sequence[Away] = ()


class PathRun:
    """The streams of one direction in one trial."""

    def __init__(
        self,
        direction: SimulatedDirection,
        streams: Sequence[StreamRun],
        chance: Random,
        *,
        floor: LatencyShape,
        tester_queue_frames: int,
        line_pps: float,
        catch_up_s: float,
    ) -> None:
        self.streams = streams
        self._direction = direction
        self._floor = floor
        self._tester_queue_frames = tester_queue_frames
        self._line_pps = line_pps
        self._catch_up_s = catch_up_s
        self._chance = chance
        self._not_yet_lost = 0.0
        self._late = 0

    @property
    def outstanding(self) -> int:
        """Frames still in the DUT."""
        return sum(stream.outstanding for stream in self.streams)

    def interval(self, span: PathSpan) -> list[StreamCounts]:
        """What each stream counts over the interval."""
        passage = Passage()
        for begin_s, end_s, load_pps in self._loads(span):
            self._direction.pass_on(span.began_s + begin_s, span.began_s + end_s, load_pps, passage)
        return self._counts(span, passage)

    def _loads(self, span: PathSpan) -> Iterator[tuple[float, float, float]]:
        """Have the streams send; the constant loads that this makes, in order."""
        if not span.sending:
            yield span.begin_s, span.end_s, 0.0
            return
        now_s = span.begin_s
        for away in span.tx_away:
            if away.begin_s > now_s:
                yield from self._steady(now_s, away.begin_s)
            back_s = min(away.end_s, span.end_s)
            yield max(now_s, away.begin_s), back_s, 0.0
            if away.end_s <= span.end_s:
                self._late += sum(each.catch_up(away, self._catch_up_s) for each in self.streams)
            now_s = back_s
        if now_s < span.end_s:
            yield from self._steady(now_s, span.end_s)

    def _steady(self, begin_s: float, end_s: float) -> Iterator[tuple[float, float, float]]:
        """The loads while no loop is away: what is late first, then as scheduled."""
        for stream in self.streams:
            stream.send(begin_s, end_s)
        burst_s = min(self._late / self._line_pps, end_s - begin_s)
        if burst_s > 0.0:
            yield begin_s, begin_s + burst_s, self._late / burst_s + self._load_pps(begin_s)
            begin_s += burst_s
            self._late = 0
        ends = {each.length_s for each in self.streams if begin_s < each.length_s < end_s}
        for each in self.streams:
            ends.update(each.plan.schedule.edges_s(begin_s, end_s))
        for until_s in (*sorted(ends), end_s):
            yield begin_s, until_s, self._load_pps(begin_s)
            begin_s = until_s

    def _load_pps(self, at_s: float) -> float:
        return sum(each.taken_pps for each in self.streams if each.sends_at(at_s))

    def _counts(self, span: PathSpan, passage: Passage) -> list[StreamCounts]:
        """Whole frames for each stream, none made and none gone."""
        shape = self._shape(passage)
        rooms = [min(each.sent, each.outstanding) for each in self.streams]
        frames, self._not_yet_lost = passage.lost(self._chance, self._not_yet_lost)
        lost = self._spread(frames, rooms)
        for stream, frames in zip(self.streams, lost, strict=True):
            if stream.closed_loop:
                stream.hold_back(passage.delays, frames)
        left = [each.outstanding - n for each, n in zip(self.streams, lost, strict=True)]
        under_way = self._spread(round(self._direction.queue_frames), left)
        fates = [
            self._fate(span, passage, stream, *frames)
            for stream, *frames in zip(self.streams, lost, under_way, strict=True)
        ]
        return [
            stream.counts(fate, shape) for stream, fate in zip(self.streams, fates, strict=True)
        ]

    def _fate(
        self, span: PathSpan, passage: Passage, stream: StreamRun, lost: int, under_way: int
    ) -> Fate:
        """What became of one stream's frames, and how long they waited where they did."""
        delays: list[DelayShare] = []
        if passage.delays:
            share = stream.sent / (sum(each.sent for each in self.streams) or 1)
            for delay in passage.delays:
                frames = int(stream.part_of(delay, share) + self._chance.random())
                if frames:
                    delays.append(DelayShare(frames, delay.first_s, delay.last_s))
        if not span.rx_away:
            return Fate(lost, under_way, delays)
        missed, overrun = self._missed(span, stream.outstanding - lost - under_way)
        return Fate(lost, under_way, delays, missed, overrun)

    def _missed(self, span: PathSpan, came: int) -> tuple[list[DelayShare], int]:
        """What came while the receiving loop was away: frames that waited for it, and too many.

        The queue holds the frames of all streams; each has its part of the room.
        """
        missed, overrun, left = [], 0, came
        came_of_all = sum(each.outstanding for each in self.streams)
        room = self._tester_queue_frames * came / came_of_all if came_of_all else 0.0
        for away in span.rx_away:
            if away.end_s > span.end_s:
                continue
            frames = min(left, round(came * away.length_s / (span.end_s - span.begin_s)))
            waited = min(frames, int(room))
            if waited:
                missed.append(DelayShare(waited, away.length_s, 0.0))
            overrun += frames - waited
            left -= frames
        return missed, overrun

    def _shape(self, passage: Passage) -> LatencyShape:
        step_ns = self._floor.floor_ns / _WAIT_STEPS
        wait_ns = round(passage.mean_wait_s * 1e9 / step_ns) * step_ns
        most_ns = round(passage.most_wait_s * 1e9 / step_ns) * step_ns
        return self._floor._replace(wait_ns=wait_ns, most_wait_ns=most_ns)

    def _spread(self, frames: int, rooms: list[int]) -> list[int]:
        """So many frames, by chance over streams that have so many each; never more than that."""
        given = [0] * len(rooms)
        all_rooms = sum(rooms)
        frames = min(frames, all_rooms)
        if not frames:
            return given
        most = max(range(len(rooms)), key=rooms.__getitem__)
        left = frames
        for place, room in enumerate(rooms):
            if place != most:
                drawn = binomial(self._chance, frames, room / all_rooms)
                given[place] = min(drawn, room, left)
                left -= given[place]
        given[most] = min(left, rooms[most])
        left -= given[most]
        for place, room in enumerate(rooms):
            more = min(left, room - given[place])
            given[place] += more
            left -= more
        return given
