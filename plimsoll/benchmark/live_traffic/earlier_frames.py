"""What streams have sent and received that are gone, or count anew: ports' counters never fall."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from plimsoll.benchmark.live_traffic.live_counts import LiveStream


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
