"""The counters of one stream, added up interval by interval in a room that does not grow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.generator.counters import fields_of
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.histogram_sum import HistogramSum
from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.generator.worst_lists import largest, largest_refusals, longest


def no_counts(stream: int) -> StreamCounts:
    """Of a stream that did nothing."""
    return StreamCounts(
        stream=stream,
        sent=0,
        refused=0,
        skipped=0,
        no_buffer=0,
        timed_out=0,
        received=0,
        missing=0,
        out_of_order=0,
        duplicate=0,
        corrupt=0,
        misdirected=0,
        latency=Histogram(),
        latency_across_stalls=Histogram(),
        lateness=Histogram(),
    )


# Of shorter intervals, which end with a stream, a rate says little.
_SHORTEST_S = 0.1
_COUNTERS = tuple(name for name in fields_of(no_counts(0), int) if name != "stream")
_HISTOGRAMS = fields_of(no_counts(0), Histogram)


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was sent, and what came, in so many seconds."""

    length_s: float = _SHORTEST_S
    sent: int = 0
    received: int = 0

    def followed_by(self, later: _Sent) -> _Sent:
        return _Sent(
            self.length_s + later.length_s,
            self.sent + later.sent,
            self.received + later.received,
        )


class StreamTally:
    """What a stream did since it was made, and in the last interval."""

    def __init__(self, stream: int) -> None:
        self._stream = stream
        self._frames: Counter[str] = Counter()
        self._microseconds: Counter[int] = Counter()
        self._histograms = {name: HistogramSum() for name in _HISTOGRAMS}
        self._lists = no_counts(stream)
        self._last = _Sent()
        self.first_sent_unix_ns: int | None = None
        self.last_sent_unix_ns: int | None = None
        self.first_received_unix_ns: int | None = None
        self.last_received_unix_ns: int | None = None

    def add(self, counts: StreamCounts, interval: Interval, *, sending: bool) -> None:
        """Account for what it did in `interval`; `sending`: it was to send until its end."""
        length_s = max(interval.end_s - interval.begin_s, 1e-9)
        begin_unix_ns = interval.end_unix_ns - round(length_s * 1e9)
        for name in _COUNTERS:
            self._frames[name] += getattr(counts, name)
        for name, histogram in self._histograms.items():
            histogram.add(getattr(counts, name))
        self._microseconds.update(dict(counts.latency_us))
        self._add_lists(counts)
        if interval.phase == "send" and (sending or counts.sent):
            latest = _Sent(length_s, counts.sent, counts.received)
            self._last = latest if length_s >= _SHORTEST_S else self._last.followed_by(latest)
        if counts.sent:
            self.first_sent_unix_ns = self.first_sent_unix_ns or begin_unix_ns
            self.last_sent_unix_ns = interval.end_unix_ns
        if counts.received:
            self.first_received_unix_ns = self.first_received_unix_ns or begin_unix_ns
            self.last_received_unix_ns = interval.end_unix_ns

    @property
    def tx_pps(self) -> float:
        """Of the last interval in which it was to send, which a drain is not."""
        return self._last.sent / self._last.length_s

    @property
    def rx_pps(self) -> float:
        """The same of what came back."""
        return self._last.received / self._last.length_s

    def forget_rates(self) -> None:
        """It has not sent for a while, or begins anew."""
        self._last = _Sent()

    def settle(self) -> None:
        """All that comes back has come: what is missing is now known exactly."""
        received = self._frames["received"] - self._frames["duplicate"]
        self._frames["missing"] = max(0, self._frames["sent"] - received)

    def total(self) -> StreamCounts:
        """The counts so far."""
        totals: dict[str, Any] = {name: self._frames[name] for name in _COUNTERS}
        totals |= {name: histogram.total for name, histogram in self._histograms.items()}
        microseconds = tuple(sorted(self._microseconds.items()))
        return replace(self._lists, latency_us=microseconds, **totals)

    def _add_lists(self, counts: StreamCounts) -> None:
        before = self._lists
        losses, losses_left_out = largest(
            (*before.losses, *counts.losses), (before.losses_left_out, counts.losses_left_out)
        )
        refusals, refusals_left_out = largest_refusals(
            (*before.refusals, *counts.refusals),
            (before.refusals_left_out, counts.refusals_left_out),
        )
        self._lists = replace(
            before,
            worst=longest((*before.worst, *counts.worst)),
            losses=losses,
            losses_left_out=losses_left_out,
            refusals=refusals,
            refusals_left_out=refusals_left_out,
        )
