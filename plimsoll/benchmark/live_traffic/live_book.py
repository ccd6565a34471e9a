"""The counters of live traffic, written by the thread that follows a trial, read by any."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LivePort, LiveStream
from plimsoll.generator.counters import added, fields_of, largest, largest_refusals, longest
from plimsoll.generator.histogram import Histogram, HistogramSum
from plimsoll.generator.interface import Interval, PortCounts, PortInfo, StreamCounts

# Who waits for the end of traffic, and then reads how fast it was, has done so by then, also on a
# machine whose CPUs are all busy.
RATES_KEPT_S = 10.0
_OF_PORT = frozenset({"port", "foreign_kinds", "buffers_in_use", "link_up", "host"})
# Of shorter intervals, which end with a stream, a rate says little.
_SHORTEST_S = 0.1


class LiveBook:
    """Sums by stream and port. The caller holds `changed` to write, which wakes who waits."""

    def __init__(
        self, ports: tuple[PortInfo, ...], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.changed = threading.Condition()
        self._clock = clock
        # Since when streams have not been sent any more, by number.
        self._still_s: dict[int, float] = {}
        self._port_infos = ports
        self._streams: dict[int, StreamTally] = {}
        self._ports: dict[int, PortCounts] = {}
        self._links_up = {port.port: port.link_up for port in ports}
        self._foreign_pps: dict[int, float] = {}
        self._earlier = EarlierFrames()
        self._at_unix_ns = 0
        self._elapsed_s = 0.0
        self._interval_s = 0.0
        self.intervals = 0

    def add_interval(self, interval: Interval, streams: Mapping[int, KnownStream]) -> None:
        """Account for an interval of the `streams` that its trial sends."""
        length_s = interval.end_s - interval.begin_s
        for counts in interval.streams:
            known = streams.get(counts.stream)
            if known is not None:
                known.note(counts)
                sending = known.sending and not known.was_over(length_s)
                self._tally(counts.stream).add(counts, interval, sending=sending)
                self._note_whether_still(known)
        for port in interval.ports:
            before = self._ports.get(port.port)
            self._ports[port.port] = port if before is None else _both(before, port)
            self._links_up[port.port] = port.link_up
            self._foreign_pps[port.port] = port.others / max(length_s, 1e-9)
        self._at_unix_ns = interval.end_unix_ns
        self._elapsed_s += length_s if interval.phase == "send" else 0.0
        self._interval_s = length_s
        self.intervals += 1
        self.changed.notify_all()

    def note_link(self, port: int, *, up: bool) -> None:
        """How a link is, seen between two intervals or while there are none."""
        self._links_up[port] = up

    def begin(self, streams: Iterable[int]) -> None:
        """These streams are to send anew."""
        for number in streams:
            self._still_s.pop(number, None)
            self._tally(number).forget_rates()

    def settle(self) -> None:
        """A trial has ended, its drain included."""
        for number, tally in self._streams.items():
            tally.settle()
            self._still_s.setdefault(number, self._clock())
        self._foreign_pps.clear()
        self.changed.notify_all()

    def clear(self, streams: Iterable[KnownStream], *, ports: bool) -> None:
        """Begin these streams' counters anew; `ports`: those of ports and time, too.

        Else what the streams have sent and received stays in the counters of their ports.
        """
        for known in streams:
            self._earlier.take(self._read_stream(known))
            self._streams.pop(known.plan.stream, None)
            self._still_s.pop(known.plan.stream, None)
        if ports:
            self._earlier = EarlierFrames()
            self._ports.clear()
            self._foreign_pps.clear()
            self._elapsed_s = 0.0

    def read(self, streams: Collection[KnownStream], *, sending: bool) -> LiveCounts:
        """All of it, as it stands."""
        long_still_s = self._clock() - RATES_KEPT_S
        for number, since_s in self._still_s.items():
            if since_s < long_still_s:
                self._tally(number).forget_rates()
        read = tuple(self._read_stream(known) for known in streams)
        return LiveCounts(
            at_unix_ns=self._at_unix_ns,
            elapsed_s=self._elapsed_s,
            interval_s=self._interval_s,
            sending=sending,
            streams=read,
            ports=tuple(self._read_port(info, read) for info in self._port_infos),
        )

    def _note_whether_still(self, known: KnownStream) -> None:
        if known.sending:
            self._still_s.pop(known.plan.stream, None)
        else:
            self._still_s.setdefault(known.plan.stream, self._clock())

    def _tally(self, stream: int) -> StreamTally:
        return self._streams.setdefault(stream, StreamTally(stream))

    def _read_stream(self, known: KnownStream) -> LiveStream:
        plan, tally = known.plan, self._tally(known.plan.stream)
        return LiveStream(
            stream=plan.stream,
            name=plan.name,
            tx_port=plan.tx_port,
            rx_port=plan.rx_port,
            state=known.state,
            rate_pps=plan.rate_pps,
            counts=tally.total(),
            mean_frame_size=plan.mean_frame_size,
            tx_pps=tally.tx_pps,
            rx_pps=tally.rx_pps,
            first_sent_unix_ns=tally.first_sent_unix_ns,
            last_sent_unix_ns=tally.last_sent_unix_ns,
            first_received_unix_ns=tally.first_received_unix_ns,
            last_received_unix_ns=tally.last_received_unix_ns,
        )

    def _read_port(self, info: PortInfo, streams: tuple[LiveStream, ...]) -> LivePort:
        sent = [each for each in streams if each.tx_port == info.port]
        received = [each for each in streams if each.rx_port == info.port]
        counts = self._ports.get(info.port)
        others = counts.others if counts else 0
        return LivePort(
            port=info.port,
            link_up=self._links_up[info.port],
            tx_frames=sum(each.counts.sent for each in sent) + self._earlier.sent[info.port],
            tx_bytes=sum(each.sent_bytes for each in sent) + self._earlier.sent_bytes[info.port],
            rx_frames=sum(each.counts.received for each in received)
            + self._earlier.received[info.port]
            + others,
            rx_bytes=sum(each.received_bytes for each in received)
            + self._earlier.received_bytes[info.port],
            tx_pps=sum(each.tx_pps for each in sent),
            rx_pps=sum(each.rx_pps for each in received) + self._foreign_pps.get(info.port, 0.0),
            tx_bps=sum(each.tx_bps for each in sent),
            rx_bps=sum(each.rx_bps for each in received),
            counts=counts,
        )


def _both(one: PortCounts, other: PortCounts) -> PortCounts:
    return replace(
        other,
        foreign_kinds=dict(Counter(one.foreign_kinds) + Counter(other.foreign_kinds)),
        host=dict(Counter(one.host) + Counter(other.host)),
        **added(one, other, _OF_PORT),
    )


# What streams have sent and received that are gone, or count anew: ports' counters never fall.
@dataclass
class EarlierFrames:
    """Sums by port."""

    sent: Counter[int] = field(default_factory=Counter)
    sent_bytes: Counter[int] = field(default_factory=Counter)
    received: Counter[int] = field(default_factory=Counter)
    received_bytes: Counter[int] = field(default_factory=Counter)

    def take(self, stream: LiveStream) -> None:
        """Keep what it has counted."""
        self.sent[stream.tx_port] += stream.counts.sent
        self.sent_bytes[stream.tx_port] += stream.sent_bytes
        self.received[stream.rx_port] += stream.counts.received
        self.received_bytes[stream.rx_port] += stream.received_bytes


# The counters of one stream, added up interval by interval in a room that does not grow.
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
