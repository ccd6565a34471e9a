"""What streams that are no longer there have sent and received: ports' counters never fall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from plimsoll.benchmark.live_traffic.live_counts import LiveStream


@dataclass
class RetiredStreams:
    """Sums by port, and by stream number how often its counters began anew."""

    tx_frames: Counter[int] = field(default_factory=Counter)
    tx_bytes: Counter[int] = field(default_factory=Counter)
    rx_frames: Counter[int] = field(default_factory=Counter)
    rx_bytes: Counter[int] = field(default_factory=Counter)
    refused: Counter[int] = field(default_factory=Counter)
    no_buffer: Counter[int] = field(default_factory=Counter)
    versions: Counter[int] = field(default_factory=Counter)

    def take(self, streams: Iterable[LiveStream]) -> None:
        """Keep what these have counted, which are about to go."""
        for each in streams:
            self.tx_frames[each.tx_port] += each.counts.sent
            self.tx_bytes[each.tx_port] += each.sent_bytes
            self.rx_frames[each.rx_port] += each.counts.received
            self.rx_bytes[each.rx_port] += each.received_bytes
            self.refused[each.tx_port] += each.counts.refused
            self.no_buffer[each.tx_port] += each.counts.no_buffer
            self.versions[each.stream] += 1
