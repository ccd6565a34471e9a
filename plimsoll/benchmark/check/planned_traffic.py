"""What each stream and each port of the tester would send, at the ends of a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.record.results.check_result import (
    PlannedFrame,
    PlannedPort,
    PlannedRate,
    PlannedStream,
)
from plimsoll.search.text.wire import FCS_BYTES, l1_bits, l2_bits, max_pps
from plimsoll.traffic.frames.scapy_layers import Scapy, layer_class
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.stream import Stream

# Shapes streams whose load is not known yet: 10 Gbps is more than any probe takes of it.
_ANY_LINE_BPS = 10e9
_MAX_FRAMES = 8
_MAX_CHARACTERS = 100


@dataclass(frozen=True)
class PlannedTraffic:
    """The streams at the search's least and highest load, each None where it is not known."""

    experiment: Experiment
    minimum_pps: float | None
    maximum_pps: float | None

    @property
    def plans(self) -> tuple[StreamPlan, ...]:
        """As they would be requested of the engine, at the highest load that is known."""
        any_pps = max_pps(self.experiment.profile.mean_frame_size, _ANY_LINE_BPS)
        return self._plans_at(self.maximum_pps or self.minimum_pps or any_pps)

    def streams(self) -> tuple[PlannedStream, ...]:
        """Every stream in each direction."""
        by_name = {stream.name: stream for stream in self.experiment.profile.streams}
        least, most = self._rates(self.minimum_pps), self._rates(self.maximum_pps)
        return tuple(
            _stream(plan, by_name[plan.name.rpartition("/")[0]], *rates)
            for plan, *rates in zip(self.plans, least, most, strict=True)
        )

    def ports(self, line_rate_bps: float | None) -> tuple[PlannedPort, ...]:
        """Every port of the tester; `line_rate_bps` is L1, None where there is none."""
        ports = range(self.experiment.lab.port_count)
        return tuple(self._port(port, line_rate_bps) for port in ports)

    def _port(self, port: int, line_rate_bps: float | None) -> PlannedPort:
        least, most = (
            _sum(rate for plan, rate in zip(self.plans, rates, strict=True) if plan.tx_port == port)
            for rates in (self._rates(self.minimum_pps), self._rates(self.maximum_pps))
        )
        share = None if line_rate_bps is None or most is None else most.l1_bps / line_rate_bps
        return PlannedPort(port=port, at_minimum=least, at_maximum=most, line_share=share)

    def _plans_at(self, load_pps: float) -> tuple[StreamPlan, ...]:
        return compile_profile(self.experiment.profile, load_pps, self.experiment.lab.directions)

    def _rates(self, load_pps: float | None) -> Sequence[PlannedRate | None]:
        """Of each plan; None where the load, and so the rate, is not known."""
        if load_pps is None:
            return [_rate(plan) if plan.role == "latency" else None for plan in self.plans]
        return [_rate(plan) for plan in self._plans_at(load_pps)]


def _stream(
    plan: StreamPlan, stream: Stream, least: PlannedRate | None, most: PlannedRate | None
) -> PlannedStream:
    varies = [each if isinstance(each, str) else each.field for each in stream.vary]
    return PlannedStream(
        name=plan.name,
        role=plan.role,
        tx_port=plan.tx_port,
        rx_port=plan.rx_port,
        pacing=plan.pacing.kind,
        flows=stream.flows,
        varies=tuple(varies) if plan.fields else (),
        churn=stream.churn,
        mean_frame_size=plan.mean_frame_size,
        at_minimum=least,
        at_maximum=most,
        templates=len(plan.frames),
        frames=planned_frames(plan),
    )


def _rate(plan: StreamPlan) -> PlannedRate | None:
    """None of a stream that is paced by its port or by what comes back."""
    if plan.rate_pps is None:
        return None
    return PlannedRate(
        pps=plan.rate_pps,
        l1_bps=plan.rate_pps * l1_bits(plan.mean_frame_size),
        l2_bps=plan.rate_pps * l2_bits(plan.mean_frame_size),
    )


def _sum(rates: Iterable[PlannedRate | None]) -> PlannedRate | None:
    """None where one of them is not known."""
    known = list[PlannedRate]()
    for rate in rates:
        if rate is None:
            return None
        known.append(rate)
    return PlannedRate(
        pps=sum(each.pps for each in known),
        l1_bps=sum(each.l1_bps for each in known),
        l2_bps=sum(each.l2_bps for each in known),
    )


# A stream's frames as Scapy shows them.
def planned_frames(stream: StreamPlan) -> tuple[PlannedFrame, ...]:
    """The first of the frames that the stream is made from, each with its share."""
    order = stream.order or range(len(stream.frames))
    times = Counter(order)
    return tuple(
        _planned(frame, times[number] / len(order), stream.signature_bytes)
        for number, frame in enumerate(stream.frames[:_MAX_FRAMES])
    )


def _planned(frame: bytes, share: float, signature_bytes: int) -> PlannedFrame:
    packet = layer_class("Ether")(frame)
    payload = _take_payload(packet)
    shown = "\n".join(line[:_MAX_CHARACTERS] for line in packet.show(dump=True).splitlines())
    return PlannedFrame(
        size=len(frame) + FCS_BYTES,
        share=share,
        summary=packet.summary(),
        shown=f"{shown.rstrip()}\n{_said(payload, signature_bytes)}",
        hex=frame.hex(),
    )


def _take_payload(packet: Scapy) -> bytes:
    """Remove and return what is not a layer: the payload, or what fills a frame up."""
    innermost = packet
    while innermost.payload and innermost.payload.name not in ("Raw", "Padding"):
        innermost = innermost.payload
    payload = bytes(innermost.payload)
    innermost.remove_payload()
    return payload


def _said(payload: bytes, signature_bytes: int) -> str:
    before = payload[:-signature_bytes]
    content = "zeroes" if not any(before) else before[:16].hex() + "…"
    filled = f"{len(before)} bytes ({content}), then " if before else ""
    return f"payload: {filled}{signature_bytes} bytes of signature"
