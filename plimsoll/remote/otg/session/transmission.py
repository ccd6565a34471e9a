"""Flows started, paused, resumed and stopped by name."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol

from plimsoll.benchmark.live_traffic.live_captures import CapturedPort, PortCapture
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts
from plimsoll.errors import PlimsollError
from plimsoll.generator.interface import NO_ENDS
from plimsoll.remote.otg.flows.flow import Flow
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


FlowState = Literal["started", "stopped", "paused"]


class Transmission:
    """The flows of one configuration, as they are sent."""

    def __init__(self, traffic: FlowTraffic) -> None:
        self._traffic = traffic
        self._lock = threading.RLock()
        self._alarms = Alarms()
        self._flows: dict[str, Flow] = {}
        self._paused: dict[str, Flow] = {}
        self._delayed: set[str] = set()

    @property
    def flows(self) -> Mapping[str, Flow]:
        """By name."""
        return self._flows

    def replace_all(self, flows: Mapping[str, Flow]) -> None:
        """Stop and forget all flows, and know these. Raises PlimsollError."""
        with self._lock:
            self._alarms.cancel_all()
            self._paused.clear()
            self._delayed.clear()
            self._flows = {}
            # Which ends receiving, too, where all flows were delayed.
            self._traffic.stop()
            self._traffic.remove()
            self._traffic.clear()
            self._traffic.add(plan for flow in flows.values() for plan in flow.streams)
            self._flows = dict(flows)

    def replace(self, changed: Flow) -> None:
        """Know a flow of that name by other streams, with the old ones' numbers."""
        with self._lock:
            self._traffic.remove(_numbers([self._flows[changed.name]]))
            self._traffic.add(changed.streams)
            self._flows[changed.name] = changed

    def change_rate(self, changed: Flow) -> None:
        """Go on at the rate of a flow of that name."""
        with self._lock:
            self._flows[changed.name] = changed
            if changed.name in self._paused:
                self._paused[changed.name] = changed
            self._traffic.set_rates(_rates(changed))

    def state_of(self, name: str) -> FlowState:
        """What a flow does."""
        if name in self._paused:
            return "paused"
        if name in self._delayed:
            return "started"
        return "started" if self._is_sending(self._flows[name]) else "stopped"

    def is_sending(self, name: str) -> bool:
        """Whether frames of a flow leave now; not of one whose delay has not passed."""
        return self.state_of(name) == "started" and name not in self._delayed

    def start(self, names: Sequence[str]) -> None:
        """Send, each flow from its start; those that send already go on."""
        with self._lock:
            flows = [self._flows[name] for name in names if self.state_of(name) != "started"]
            for flow in flows:
                self._forget(flow.name)
            if not any(self.state_of(name) == "started" for name in self._flows):
                self._traffic.stop()
                self._traffic.clear()
            else:
                self._traffic.clear(_numbers(flows))
            self._traffic.set_rates({n: r for flow in flows for n, r in _rates(flow).items()})
            at_once = [flow for flow in flows if flow.sending.delay_s == 0]
            self._begin(at_once)
            for flow in flows:
                if flow.sending.delay_s > 0:
                    self._delayed.add(flow.name)
                    self._later(flow, flow.sending.delay_s, self._begin_delayed)

    def stop(self, names: Iterable[str]) -> None:
        """Send no more."""
        with self._lock:
            for name in names:
                self._forget(name)
            self._traffic.stop(_numbers(self._flows[name] for name in names))
            if not any(self.state_of(name) != "stopped" for name in self._flows):
                self._traffic.stop()

    def pause(self, names: Iterable[str]) -> None:
        """Send nothing until flows are resumed; what does not send is left alone."""
        with self._lock:
            flows = [self._flows[n] for n in names if self._is_sending(self._flows[n])]
            flows = [flow for flow in flows if flow.name not in self._paused]
            self._traffic.hold(_numbers(flows))
            self._paused |= {flow.name: flow for flow in flows}

    def resume(self, names: Iterable[str]) -> None:
        """Go on with what was paused."""
        with self._lock:
            for name in [name for name in names if name in self._paused]:
                flow = self._paused.pop(name)
                self._traffic.go_on(_numbers([flow]))

    def close(self) -> None:
        """Do nothing more by itself."""
        self._alarms.cancel_all()

    def _is_sending(self, flow: Flow) -> bool:
        return not self._traffic.sending.isdisjoint(_numbers([flow]))

    def _begin(self, flows: Sequence[Flow]) -> None:
        # With none the ports receive until the first delay is over.
        self._traffic.start(
            _numbers(flows),
            {
                number: flow.sending.duration_s
                for flow in flows
                if flow.sending.duration_s is not None
                for number in _numbers([flow])
            },
        )

    def _begin_delayed(self, flow: Flow) -> None:
        self._begin([flow])
        self._delayed.discard(flow.name)

    def _later(self, flow: Flow, after_s: float, deed: Callable[[Flow], None]) -> None:
        def done() -> None:
            with self._lock, suppress(PlimsollError):
                # A new configuration may have come by then.
                if self._flows.get(flow.name) is flow:
                    deed(flow)

        self._alarms.set(flow.name, after_s, done)

    def _forget(self, name: str) -> None:
        self._alarms.cancel(name)
        self._paused.pop(name, None)
        self._delayed.discard(name)


def _numbers(flows: Iterable[Flow]) -> list[int]:
    return [plan.stream for flow in flows for plan in flow.streams]


def _rates(flow: Flow) -> dict[int, float]:
    return {plan.stream: plan.rate_pps or 0.0 for plan in flow.streams}


# Deeds at a later time: flows that begin after a delay, and flows whose time is over.
@dataclass
class _Alarm:
    due_s: float
    deed: Callable[[], None]
    timer: threading.Timer = field(init=False)


class Alarms:
    """At most one for each key. Deeds run on threads of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alarms: dict[str, _Alarm] = {}

    def set(self, key: str, after_s: float, deed: Callable[[], None]) -> None:
        """Do it after so many s, in place of what was to be done under that key."""
        alarm = _Alarm(time.monotonic() + after_s, deed)
        alarm.timer = threading.Timer(after_s, self._ring, (key, alarm))
        alarm.timer.daemon = True
        with self._lock:
            self._take(key)
            self._alarms[key] = alarm
        alarm.timer.start()

    def cancel(self, key: str) -> float | None:
        """Do not do it. Returns how many s were left, None where nothing was to be done."""
        with self._lock:
            alarm = self._take(key)
        return max(0.0, alarm.due_s - time.monotonic()) if alarm else None

    def cancel_all(self) -> None:
        """Do nothing of it."""
        with self._lock:
            for key in list(self._alarms):
                self._take(key)

    def _take(self, key: str) -> _Alarm | None:
        alarm = self._alarms.pop(key, None)
        if alarm is not None:
            alarm.timer.cancel()
        return alarm

    def _ring(self, key: str, alarm: _Alarm) -> None:
        with self._lock:
            if self._alarms.get(key) is not alarm:
                return
            del self._alarms[key]
        alarm.deed()
