"""What the windows of a probe come to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from plimsoll.generator.histogram import Histogram, bucket_bounds_ns, merge
from plimsoll.methods.probe.result import (
    PROBE_WINDOW,
    ProbedStream,
    ProbeEnd,
    ProbeHistogram,
    ProbeLine,
    ProbeSegment,
    ProbeStatistics,
    ProbeWindow,
)
from plimsoll.methods.probe.windows import probe_histogram
from plimsoll.record.run.environment import SentTime, pause_s
from plimsoll.record.run.journal import TRIAL_STARTED, JournalContents

# `latency_us` has all that took longer here.
_LAST_US = 1000


def windows_of(history: JournalContents) -> tuple[ProbeWindow, ...]:
    """The windows of all trials, in order. Raises ValueError for those of another version."""
    return tuple(
        ProbeWindow.model_validate(event.fields.get("window"))
        for event in history.of_kind(PROBE_WINDOW)
    )


def statistics_of(
    windows: Sequence[ProbeWindow], segments: Sequence[ProbeSegment]
) -> tuple[ProbeStatistics, ...]:
    """Of each direction, over all windows, which are those of these segments."""
    names = dict.fromkeys(stream.name for window in windows for stream in window.streams)
    return tuple(
        _statistics(
            [s for window in windows for s in window.streams if s.name == name],
            _lost(name, windows, segments),
        )
        for name in names
    )


def _lost(name: str, windows: Sequence[ProbeWindow], segments: Sequence[ProbeSegment]) -> int:
    """Probes of one direction that did not come back.

    The one in flight when a kill came is not lost: its return was not awaited.
    """
    lost = 0
    for segment in segments:
        own = [
            stream
            for window in windows
            for stream in window.streams
            if window.trial == segment.trial and stream.name == name
        ]
        missing = sum(stream.sent - stream.received for stream in own)
        given_up = sum(stream.timed_out for stream in own)
        lost += max(0, min(missing, given_up) if segment.verdict == "none" else missing)
    return lost


def delayed_us(
    stream: ProbedStream,
) -> tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]:
    """Samples that stalls may have delayed by whole µs, as `latency_us`: low ends, high ends.

    Of the buckets' bounds: a low end is no higher than so stated, and a high end no lower.
    """
    low, high = stream.delayed_low, stream.delayed_high
    return (
        _microseconds(low.buckets if low else (), 0),
        _microseconds(high.buckets if high else (), 1),
    )


def _microseconds(buckets: Sequence[tuple[int, int]], bound: int) -> Sequence[tuple[int, int]]:
    counts: Counter[int] = Counter()
    for index, samples in buckets:
        counts[min(bucket_bounds_ns(index)[bound] // 1000, _LAST_US)] += samples
    return sorted(counts.items())


def lines_of(windows: Iterable[ProbeWindow]) -> tuple[ProbeLine, ...]:
    """A line for each window and direction."""
    return tuple(_line(window, stream) for window in windows for stream in window.streams)


def segments_of(history: JournalContents) -> tuple[ProbeSegment, ...]:
    """The run's trials that probed, in order, finished or cut short."""
    windows = windows_of(history)
    finished = {trial.number: trial for trial in history.trials()}
    segments: list[ProbeSegment] = []
    earlier: SentTime | None = None
    for event in history.of_kind(TRIAL_STARTED):
        number = event.fields.get("number")
        own = [window for window in windows if window.trial == number]
        if event.fields.get("phase") != "probe" or not own or not isinstance(number, int):
            continue
        trial = finished.get(number)
        time = SentTime(event, own[0].begin_unix_ns, own[-1].end_s)
        segments.append(
            ProbeSegment(
                trial=number,
                begin_unix_ns=time.begin_unix_ns,
                sending_s=time.sending_s,
                gap_s=pause_s(earlier, time),
                verdict=trial.verdict if trial else "none",
                reasons=tuple(each.text for each in trial.reasons) if trial else (),
            )
        )
        earlier = time
    return tuple(segments)


def _histogram(stream: ProbedStream | ProbeHistogram) -> Histogram:
    return Histogram(
        count=stream.samples,
        sum_ns=stream.sum_ns,
        min_ns=stream.min_ns,
        max_ns=stream.max_ns,
        buckets=stream.buckets,
    )


def _ends(stream: ProbedStream) -> tuple[ProbeEnd | None, ProbeEnd | None]:
    """Of all samples by their low and by their high ends, where these are not the same."""
    if stream.delayed_low is None or stream.delayed_high is None:
        return None, None
    exact = _histogram(stream)
    low, high = (merge((exact, _histogram(e))) for e in (stream.delayed_low, stream.delayed_high))
    return _figures(low), _figures(high)


def _figures(latency: Histogram) -> ProbeEnd:
    return ProbeEnd(
        samples=latency.count,
        min_ns=latency.min_ns,
        mean_ns=latency.mean_ns,
        median_ns=latency.quantile_ns(0.5),
        p99_ns=latency.quantile_ns(0.99),
        p99_9_ns=latency.quantile_ns(0.999),
        p99_99_ns=latency.quantile_ns(0.9999),
        p99_999_ns=latency.quantile_ns(0.99999),
        max_ns=latency.max_ns,
    )


def _statistics(parts: Sequence[ProbedStream], lost: int) -> ProbeStatistics:
    total = _added(parts)
    latency = _histogram(total)
    low, high = _ends(total)
    return ProbeStatistics(
        stream=total,
        lost=lost,
        loss_ratio=lost / total.sent if total.sent else None,
        mean_ns=latency.mean_ns,
        median_ns=latency.quantile_ns(0.5),
        deviation_ns=deviation_ns(latency),
        p99_ns=latency.quantile_ns(0.99),
        p99_9_ns=latency.quantile_ns(0.999),
        p99_99_ns=latency.quantile_ns(0.9999),
        p99_999_ns=latency.quantile_ns(0.99999),
        low=low,
        high=high,
    )


def _added(parts: Sequence[ProbedStream]) -> ProbedStream:
    """One direction's windows together."""
    latency = merge(_histogram(part) for part in parts)
    microseconds: Counter[int] = Counter()
    for part in parts:
        microseconds.update(dict(part.latency_us))
    return ProbedStream(
        name=parts[0].name,
        sent=sum(part.sent for part in parts),
        received=sum(part.received for part in parts),
        timed_out=sum(part.timed_out for part in parts),
        across_stalls=sum(part.across_stalls for part in parts),
        samples=latency.count,
        sum_ns=latency.sum_ns,
        min_ns=latency.min_ns,
        max_ns=latency.max_ns,
        latency_us=tuple(sorted(microseconds.items())),
        buckets=latency.buckets,
        delayed_low=_merged(part.delayed_low for part in parts),
        delayed_high=_merged(part.delayed_high for part in parts),
    )


def _merged(parts: Iterable[ProbeHistogram | None]) -> ProbeHistogram | None:
    return probe_histogram(merge(_histogram(part) for part in parts if part is not None))


def deviation_ns(latency: Histogram) -> float | None:
    """The standard deviation, of the middles of the buckets; None of fewer than two samples."""
    if latency.count < 2 or latency.mean_ns is None:
        return None
    squares = sum(
        count * (sum(bucket_bounds_ns(index)) / 2 - latency.mean_ns) ** 2
        for index, count in latency.buckets
    )
    return math.sqrt(squares / (latency.count - 1))


def _line(window: ProbeWindow, stream: ProbedStream) -> ProbeLine:
    latency = _histogram(stream)
    low, high = _ends(stream)
    return ProbeLine(
        trial=window.trial,
        begin_unix_ns=window.begin_unix_ns,
        length_s=window.end_s - window.begin_s,
        stream=stream.name,
        sent=stream.sent,
        timed_out=stream.timed_out,
        samples=stream.samples,
        min_ns=latency.min_ns,
        median_ns=latency.quantile_ns(0.5),
        mean_ns=latency.mean_ns,
        max_ns=latency.max_ns,
        low=low,
        high=high,
    )
