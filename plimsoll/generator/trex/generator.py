"""TRex as a generator: trials by its client, and what is known of its measurements' limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import Histogram, bucket_of
from plimsoll.generator.interface import (
    GeneratorDied,
    GeneratorFacts,
    GeneratorRefused,
    Interval,
    PortInfo,
    TrialPlan,
    TrialReport,
)
from plimsoll.generator.port_streams import refused_in_trials
from plimsoll.generator.sampled_trial import (
    PortTotals,
    StreamTotals,
    Totals,
    run_sampled_trial,
)
from plimsoll.generator.trex.client import TrexClient
from plimsoll.generator.trex.stl_streams import group_of, stl_streams
from plimsoll.traffic.plan import StreamPlan

NOTES = (
    "TRex: load is counted by packet groups and carries neither time nor sequence: its order, "
    "duplicates and damage were not looked at, and losses are the difference of two counters",
    "TRex: latency streams are stamped in software by its sending thread and read by its "
    "receiving thread; stalls of either are in the latencies and are not separated, and "
    "nothing of them is known",
    "TRex: latencies are known by whole microseconds where it runs with --hdrh, else by one "
    "decimal digit (10 to 20 us, 100 to 200 us), all below 10 us together; each counts as its "
    "range's highest. The mean is TRex's moving average, and its maximum leaves out a stream's "
    "first frames",
    "TRex: where a sending thread cannot keep up its clock is slow, and it would send all that is "
    "due in a longer time: it is stopped 150 ms after its time, and what it has not sent by then "
    "is in the offered rate. None is reported as late or unsent",
)
_END_PATIENCE_S = 20.0
# Beyond which a trial was ended early, and not by the end of its time.
_CLOCKS_APART_S = 0.05
# By so much it may end later than this process's clock has it: an idle sending thread sleeps
# for up to 50 ms before it sees a start (idle_state_loop), the master looks for ends every 10 ms
# (FASTPATH_DELAY_MS), and the client hears of them on another socket (TRex v3.08).
_LATE_END_S = 0.15
_POLL_S = 0.02
# What TRex's lowest bucket, named 0, holds: all below 10 us.
_LOWEST_US = 10


@dataclass
class _Traffic:
    """The streams of one trial on a TRex."""

    client: TrexClient
    plan: TrialPlan
    began_s: float = 0.0
    # When it was first seen to send no more, in s after it began.
    over_s: float = math.inf

    def begin(self) -> None:
        ports = sorted({each.tx_port for each in self.plan.streams})
        self.client.ask("start", duration_s=self.plan.duration_s, ports=ports)
        self.began_s = time.monotonic()

    def totals(self) -> Totals:
        seen = self.client.ask("stats")
        self._sends(seen)
        streams = {each.stream: _stream(each, seen) for each in self.plan.streams}
        ours = {port["number"]: 0 for port in seen["ports"]}
        for flow in seen["flows"].values():
            for port in ours:
                ours[port] += _count(flow, "rx_pkts", port)
        return Totals(
            streams, {port["number"]: _port(port, ours[port["number"]]) for port in seen["ports"]}
        )

    def end(self) -> float:
        """Its own clock ends it, unless that is slow, as unpaced, or the trial is to end early.

        Where it was found to have ended, but only long after its time, it may have taken as
        long as that, and is said to have.
        """
        planned_s = self.plan.duration_s
        paced = all(each.rate_pps is not None for each in self.plan.streams)
        if paced and time.monotonic() - self.began_s >= planned_s - _CLOCKS_APART_S:
            while self._sends(self.client.ask("active")):
                if time.monotonic() - self.began_s >= planned_s + _LATE_END_S:
                    break
                time.sleep(_POLL_S)
            else:
                return planned_s if self.over_s < planned_s + _LATE_END_S else self.over_s
        sent_s = time.monotonic() - self.began_s
        self.client.ask("stop", settle_ms=round(self.plan.drain_s * 1000))
        return sent_s

    def drained(self) -> None:
        self.client.ask("stop", settle_ms=0)

    def _sends(self, answer: Mapping[str, Any]) -> bool:
        """Whether it sends; when it does no more is remembered."""
        active = bool(answer["active"])
        if self.began_s and not active:
            self.over_s = min(self.over_s, answer["at_s"] - self.began_s)
        return active


@dataclass
class StlTrex:
    """A connection to a TRex, and what `started` has to be ended after it."""

    client: TrexClient
    version: str
    ports: tuple[PortInfo, ...]
    pid: int | None = None
    notes: tuple[str, ...] = ()
    started: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def connect(
        cls, client: TrexClient, host: str, tcp: tuple[int, int], ports: int, *, take: bool
    ) -> StlTrex:
        """Take the first `ports` ports of the one that answers at the TCP ports `tcp`.

        Those are for requests and for events. Raises GeneratorRefused and GeneratorDied.
        """
        sync, events = tcp
        answer = client.ask(
            "connect", host=host, sync_port=sync, async_port=events, ports=ports, take=take
        )
        infos = tuple(_info(number, each) for number, each in enumerate(answer["ports"]))
        return cls(client, str(answer["version"]), infos)

    @property
    def facts(self) -> GeneratorFacts:
        """Its version is its server's."""
        return GeneratorFacts(
            name="trex", version=self.version, pid=self.pid, notes=(*self.notes, *NOTES)
        )

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Send by TRex for the time planned. Raises GeneratorRefused and GeneratorDied."""
        with refused_in_trials():
            streams = [part for each in plan.streams for part in stl_streams(each)]
        self.client.ask("prepare", streams=streams)
        return run_sampled_trial(_Traffic(self.client, plan), plan, watch)

    def close(self) -> None:
        """Leave the ports to others; end what was started."""
        with self.started:
            try:
                self.client.ask("close", _END_PATIENCE_S)
            except (GeneratorRefused, GeneratorDied):
                # Who is gone holds no ports.
                return
            finally:
                self.client.close()


def _stream(plan: StreamPlan, seen: Mapping[str, Any]) -> StreamTotals:
    """What TRex knows of a stream's group; nothing before it has sent."""
    group = str(group_of(plan.stream))
    flow, timed = seen["flows"].get(group, {}), seen["latency"].get(group, {})
    errors = timed.get("err_cntrs", {})
    received = _count(flow, "rx_pkts", plan.rx_port)
    return StreamTotals(
        sent=_count(flow, "tx_pkts", plan.tx_port),
        received=received,
        misdirected=_count(flow, "rx_pkts", "total") - received,
        out_of_order=int(errors.get("out_of_order", 0)),
        duplicate=int(errors.get("dup", 0)),
        latency=latency_histogram(timed.get("latency", {})),
    )


def _count(flow: Mapping[str, Any], name: str, port: int | str) -> int:
    return int(flow.get(name, {}).get(str(port), 0))


def _port(seen: Mapping[str, Any], ours: int) -> PortTotals:
    return PortTotals(
        foreign=max(0, int(seen["ipackets"]) - ours),
        rx_errors=int(seen["ierrors"]),
        link_up=seen.get("link") != "DOWN",
    )


def _info(number: int, seen: Mapping[str, Any]) -> PortInfo:
    gbps = seen.get("speed_gbps")
    return PortInfo(
        port=number,
        devargs=str(seen.get("description")),
        driver=str(seen.get("driver")),
        mac=str(seen.get("mac")),
        link_up=seen.get("link") != "DOWN",
        link_mbps=round(float(gbps) * 1000) if gbps else None,
    )


# TRex's latency statistics as a histogram of ours: never too low, and as coarse as TRex's.
def latency_histogram(latency: Mapping[str, object]) -> Histogram:
    """Of the `latency` part of a packet group's statistics.

    Started with `--hdrh` TRex counts by whole microseconds, else by one decimal digit of them: a
    sample of 137 us is among "100 to 200 us". Each is counted at its bucket's highest value, or at
    the maximum where that lies in it. The maximum leaves out a stream's first samples, so buckets
    may lie above it.
    """
    spans = [span for span in _spans(latency) if span.samples]
    samples = sum(span.samples for span in spans)
    if not samples:
        return Histogram()
    slowest = max(spans, key=lambda span: span.lowest_us)
    max_ns = _ns(latency.get("total_max"))
    if max_ns < slowest.lowest_us * 1000:
        max_ns = slowest.highest_ns
    min_ns = min(_ns(latency.get("total_min")), max_ns)
    buckets: dict[int, int] = {}
    for span in spans:
        index = bucket_of(max(1, min(span.highest_ns, max_ns)))
        buckets[index] = buckets.get(index, 0) + span.samples
    return Histogram(
        count=samples,
        sum_ns=_ns(latency.get("average")) * samples,
        min_ns=min_ns,
        max_ns=max_ns,
        buckets=tuple(sorted(buckets.items())),
    )


class _Span(NamedTuple):
    """Samples of `lowest_us` and more, and less than `end_us`."""

    lowest_us: int
    end_us: int
    samples: int

    @property
    def highest_ns(self) -> int:
        """The highest whole nanosecond in it."""
        return self.end_us * 1000 - 1


def _spans(latency: Mapping[str, object]) -> Iterator[_Span]:
    """Of the HdrHistogram where there is one (`--hdrh`), else of the decimal one."""
    encoded, decimal = latency.get("hdrh"), latency.get("histogram")
    if isinstance(encoded, str):
        for each in HdrHistogram.decode(encoded).get_recorded_iterator():
            value_us = each.value_iterated_to
            yield _Span(value_us, value_us + 1, each.count_at_value_iterated_to)
    elif isinstance(decimal, Mapping):
        for us, count in decimal.items():
            yield _Span(int(us), _decimal_end_us(int(us)), int(count))


def _decimal_end_us(lowest_us: int) -> int:
    """Where the decimal bucket ends that begins there."""
    if lowest_us < _LOWEST_US:
        return _LOWEST_US
    digit: int = 10 ** (len(str(lowest_us)) - 1)
    return lowest_us + digit


def _ns(us: object) -> int:
    return round(us * 1000) if isinstance(us, int | float) else 0
