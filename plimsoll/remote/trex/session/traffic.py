"""What TRex's sessions need of live traffic, so that tests can stand in for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from plimsoll.benchmark.live_traffic.live_captures import CapturedPort, PortCapture
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts
from plimsoll.errors import PlimsollError
from plimsoll.generator.interface import NO_ENDS, PortInfo, StreamCourse
from plimsoll.traffic.plan import StreamPlan


class SentTraffic(Protocol):
    """Streams that are started, changed and stopped while others go on."""

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """The tester's ports, by number."""

    @property
    def paths(self) -> tuple[tuple[int, int], ...]:
        """(tx_port, rx_port) of each direction."""

    @property
    def line_rate_bps(self) -> float | None:
        """L1, of the slowest port; None where there is no wire."""

    @property
    def sending(self) -> frozenset[int]:
        """The streams that are started and have frames left to send."""

    @property
    def courses(self) -> Mapping[int, StreamCourse]:
        """From when to when streams send or sent last, as far as that is known."""

    @property
    def failure(self) -> PlimsollError | None:
        """What ended the session before its time."""

    def add(self, streams: Iterable[StreamPlan]) -> None:
        """Make streams known."""

    def remove(self, streams: Iterable[int] | None = None) -> None:
        """Stop streams and forget them."""

    def notify_ends(self, on_end: Callable[[], None]) -> None:
        """Call this whenever streams have ended."""

    def start(
        self, streams: Iterable[int] | None = None, durations_s: Mapping[int, float] = NO_ENDS
    ) -> object:
        """Start streams, which end by themselves where they have a duration."""

    def stop(self, streams: Iterable[int] | None = None) -> None:
        """Stop streams."""

    def set_rates(self, rates_pps: Mapping[int, float]) -> None:
        """Give streams new rates; 0 pauses one."""

    def prepare_captures(self, ports: Mapping[int, PortCapture]) -> None:
        """Let these ports be captured; nothing is sent yet."""

    def start_capture(self, port: int) -> None:
        """Capture what a port receives from now on, anew."""

    def stop_capture(self, port: int) -> None:
        """Capture no more of it."""

    def captured(self, port: int) -> CapturedPort:
        """What was captured of it."""

    def counts(self, *, fresh: bool = False) -> LiveCounts:
        """All counters, as of the end of the last interval; where all has ended, of everything."""
