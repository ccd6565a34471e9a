"""The counters of live traffic, written by the thread that follows a trial, read by any."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from plimsoll.benchmark.live_traffic.earlier_frames import EarlierFrames
from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LivePort, LiveStream
from plimsoll.benchmark.live_traffic.stream_tally import StreamTally
from plimsoll.generator.counters import added
from plimsoll.generator.interface import Interval, PortCounts, PortInfo

# Who waits for the end of traffic, and then reads how fast it was, has done so by then, also on a
# machine whose CPUs are all busy.
RATES_KEPT_S = 10.0
_OF_PORT = frozenset({"port", "foreign_kinds", "buffers_in_use", "link_up", "host"})


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
