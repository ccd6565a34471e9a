"""The incidents of a trial, from what the engine reports of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest

from plimsoll.attribution.explanation.latency_parts import TimedFrames
from plimsoll.attribution.incidents.incident import Incident, stall_subject
from plimsoll.generator.interface import Interval, StreamCounts, TrialReport, WorstLatency

_NS_PER_S = 1e9
# What the engine lists at most of one trial: 64 latencies and 256 losses a stream, 64 stalls a
# loop. With many streams the worst of all are enough.
MAX_OF_A_KIND = 1000


def incidents_of(
    report: TrialReport | Interval,
    names: Mapping[int, str],
    tsc_hz: float,
    *,
    refused_is_lost: bool,
) -> tuple[Incident, ...]:
    """Losses, latencies and stalls; `names` are the streams' by number.

    A stream without a name is left out: it is background traffic. Frames that a port had
    no room for are losses where the DUT was to empty it (`refused_is_lost`).
    """
    losses: list[Incident] = []
    latencies: list[Incident] = []
    for counts in report.streams:
        if (name := names.get(counts.stream)) is not None:
            losses += _losses(counts, name, tsc_hz)
            if refused_is_lost:
                losses += _refusals(counts, name, tsc_hz)
            latencies += _latencies(counts, name, tsc_hz)
    stalls = [
        Incident(
            "stall",
            stall_subject(worker.cpu),
            stall.tsc - round(stall.length_ns * tsc_hz / _NS_PER_S),
            stall.tsc,
            0,
            stall.length_ns,
        )
        for worker in report.workers
        for stall in worker.longest
    ]
    return (
        *nlargest(MAX_OF_A_KIND, losses, key=lambda each: each.frames),
        *nlargest(MAX_OF_A_KIND, latencies, key=lambda each: each.length_ns),
        *nlargest(MAX_OF_A_KIND, stalls, key=lambda each: each.length_ns),
    )


def longest_latencies(report: TrialReport, names: Mapping[int, str]) -> tuple[TimedFrames, ...]:
    """The trains of frames that the trial lists as its longest latencies, of every named stream."""
    return tuple(
        TimedFrames(name, each.frames, each.sent_tsc, each.received_tsc, each.across_stall)
        for counts in report.streams
        if (name := names.get(counts.stream)) is not None
        for each in counts.worst
    )


def _losses(counts: StreamCounts, name: str, tsc_hz: float) -> Iterator[Incident]:
    for loss in counts.losses:
        if loss.lost > 0:
            # Before the first frame that came nothing says when the lost ones were sent.
            begin = loss.before_tsc if loss.after_tsc is None else loss.after_tsc
            length_ns = _ns(begin, loss.before_tsc, tsc_hz)
            yield Incident("loss", name, begin, loss.before_tsc, loss.lost, length_ns)


def _refusals(counts: StreamCounts, name: str, tsc_hz: float) -> Iterator[Incident]:
    for each in counts.refusals:
        length_ns = _ns(each.first_tsc, each.last_tsc, tsc_hz)
        yield Incident("loss", name, each.first_tsc, each.last_tsc, each.frames, length_ns, True)


def _latencies(counts: StreamCounts, name: str, tsc_hz: float) -> Iterator[Incident]:
    for spike in _spikes(counts.worst):
        worst = max(spike, key=lambda each: each.latency_ticks)
        length_ns = _ns(worst.sent_tsc, worst.received_tsc, tsc_hz)
        frames = sum(each.frames for each in spike)
        yield Incident("latency", name, worst.sent_tsc, worst.received_tsc, frames, length_ns)


def _spikes(listed: Iterable[WorstLatency]) -> Iterator[list[WorstLatency]]:
    """Frames that were under way at the same time: what held one of them up held all."""
    spike: list[WorstLatency] = []
    end_tsc = 0
    for each in sorted(listed, key=lambda frame: frame.sent_tsc):
        if spike and each.sent_tsc > end_tsc:
            yield spike
            spike = []
        spike.append(each)
        end_tsc = max(end_tsc, each.received_tsc)
    if spike:
        yield spike


def _ns(begin_tsc: int, end_tsc: int, tsc_hz: float) -> int:
    return round(max(0, end_tsc - begin_tsc) / tsc_hz * _NS_PER_S)
