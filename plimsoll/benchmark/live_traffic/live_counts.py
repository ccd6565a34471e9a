"""What live traffic counts: each stream and port since the start, and its last rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.generator.interface import PortCounts, StreamCounts

StreamState = Literal["stopped", "sending", "finished"]


@dataclass(frozen=True, slots=True)
class LiveStream:
    """One stream, since the session began or its counters were cleared.

    `state` is "finished" when its frame count was sent. `rate_pps` is the intended rate, None
    where it sends as fast as it can; a paused stream has 0. `counts` are those of the engine's
    protocol: their `missing` is what the gaps in the sequence show while frames are sent, and
    `sent - (received - duplicate)`, exactly, once everything was stopped. Bytes are those of
    frames with FCS: sent ones of a mix of sizes are the frames times their mean size, and so are
    received ones where the generator does not count their bytes. `tx_pps` to `rx_bps` are of the
    last interval in which it sent, and 0 from ten seconds after its end on; bits are those of
    frames as they are sent, with FCS. The four times (ns since 1970) are
    begins and ends of intervals in which a frame was sent or received, None before the first.
    """

    stream: int
    name: str
    tx_port: int
    rx_port: int
    state: StreamState
    rate_pps: float | None
    counts: StreamCounts
    mean_frame_size: float
    tx_pps: float = 0.0
    rx_pps: float = 0.0
    first_sent_unix_ns: int | None = None
    last_sent_unix_ns: int | None = None
    first_received_unix_ns: int | None = None
    last_received_unix_ns: int | None = None

    @property
    def lost(self) -> int:
        """Frames known to be missing; never below 0."""
        return max(0, self.counts.missing)

    @property
    def sent_bytes(self) -> int:
        """With FCS, without preamble and gap."""
        return round(self.counts.sent * self.mean_frame_size)

    @property
    def received_bytes(self) -> int:
        """With FCS, without preamble and gap."""
        return self.counts.received_bytes or round(self.counts.received * self.mean_frame_size)

    @property
    def tx_bps(self) -> float:
        """Bits a second of the last interval, of frames with FCS."""
        return self.tx_pps * self.mean_frame_size * 8

    @property
    def rx_bps(self) -> float:
        """Bits a second of the last interval, of frames with FCS."""
        return self.rx_pps * self.mean_frame_size * 8


@dataclass(frozen=True, slots=True)
class LivePort:
    """One port of the tester: sums of its streams, and what else it received.

    `rx_frames` are the frames of streams that are to come in on it, and all `foreign` and
    `stale` ones, whose bytes are not known and not in `rx_bytes`. `counts` has them by kind,
    and the driver's own counters.
    """

    port: int
    link_up: bool
    tx_frames: int
    tx_bytes: int
    rx_frames: int
    rx_bytes: int
    tx_pps: float
    rx_pps: float
    tx_bps: float
    rx_bps: float
    counts: PortCounts | None


@dataclass(frozen=True, slots=True)
class LiveCounts:
    """All of it, as of the end of the last interval (ns since 1970).

    `elapsed_s` is for how long something was sent since the counters were cleared, `interval_s`
    the length of the interval that the rates are of.
    """

    at_unix_ns: int
    elapsed_s: float
    interval_s: float
    sending: bool
    streams: tuple[LiveStream, ...]
    ports: tuple[LivePort, ...]

    def stream(self, number: int) -> LiveStream:
        """The stream of that number. Raises KeyError."""
        for each in self.streams:
            if each.stream == number:
                return each
        raise KeyError(number)

    def port(self, number: int) -> LivePort:
        """The port of that number. Raises KeyError."""
        for each in self.ports:
            if each.port == number:
                return each
        raise KeyError(number)
