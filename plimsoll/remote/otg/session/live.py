"""What a session needs of live traffic, which `LiveTraffic` is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from plimsoll.benchmark.live_traffic.live_captures import CapturedPort, PortCapture
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts
from plimsoll.generator.interface import NO_ENDS
from plimsoll.traffic.plan import StreamPlan


class FlowTraffic(Protocol):
    """Streams that are started, changed and stopped while others go on."""

    @property
    def sending(self) -> frozenset[int]:
        """Those that have frames left to send."""

    def add(self, streams: Iterable[StreamPlan]) -> None:
        """Make streams known."""

    def remove(self, streams: Iterable[int] | None = None) -> None:
        """Stop and forget streams, by default all."""

    def start(
        self, streams: Iterable[int] | None = None, durations_s: Mapping[int, float] = NO_ENDS
    ) -> object:
        """Start streams, which end by themselves where they have a duration; with none, receive."""

    def stop(self, streams: Iterable[int] | None = None) -> None:
        """Stop streams."""

    def set_rates(self, rates_pps: Mapping[int, float]) -> None:
        """New rates, by number."""

    def hold(self, streams: Iterable[int]) -> None:
        """Pause streams, and what is left of their durations."""

    def go_on(self, streams: Iterable[int]) -> None:
        """Go on with streams that were held."""

    def prepare_captures(self, ports: Mapping[int, PortCapture]) -> None:
        """Let these ports be captured; what was captured before is gone."""

    def start_capture(self, port: int) -> None:
        """Capture what a port receives from now on, anew."""

    def stop_capture(self, port: int) -> None:
        """Capture no more of it."""

    def captured(self, port: int) -> CapturedPort:
        """What was captured of it."""

    def set_link(self, port: int, *, up: bool) -> bool:
        """Take the link of a port down or bring it up; whether it is up then."""

    def counts(self, *, fresh: bool = False) -> LiveCounts:
        """All counters."""

    def clear(self, streams: Iterable[int] | None = None) -> None:
        """Begin counters anew."""
