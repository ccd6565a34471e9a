"""What streams that are no longer there could not send: ports' counters never fall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from plimsoll.benchmark.live_traffic.live_counts import LiveStream


@dataclass
class RetiredStreams:
    """Sums by port, and by stream number how often its counters began anew."""

    refused: Counter[int] = field(default_factory=Counter)
    no_buffer: Counter[int] = field(default_factory=Counter)
    versions: Counter[int] = field(default_factory=Counter)

    def take(self, streams: Iterable[LiveStream]) -> None:
        """Keep what these have counted, which are about to go."""
        for each in streams:
            self.refused[each.tx_port] += each.counts.refused
            self.no_buffer[each.tx_port] += each.counts.no_buffer
            self.versions[each.stream] += 1
