"""Live counters in OTG's form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LiveStream
from plimsoll.generator.histogram import merge
from plimsoll.generator.latency_ends import LatencyEnds
from plimsoll.remote.otg.flows.ends import OtgPort
from plimsoll.remote.otg.flows.flow import Flow
from plimsoll.remote.otg.model.published import Content
from plimsoll.remote.otg.session.transmission import FlowState
from plimsoll.search.text.wire import PREAMBLE_AND_GAP_BYTES

_PORT_NAMES = frozenset({"name", "location"})


def port_metric(
    port: OtgPort, counts: LiveCounts, *, sends: bool, captures: bool, speed_bps: float | None
) -> Content:
    """A port's. Bytes are of frames with FCS, rates are frames and bytes a second."""
    live = counts.port(port.number)
    content: Content = {
        "name": port.name,
        "location": port.location,
        "link": "up" if live.link_up else "down",
        "capture": "started" if captures else "stopped",
        "frames_tx": live.tx_frames,
        "frames_rx": live.rx_frames,
        "bytes_tx": live.tx_bytes,
        "bytes_rx": live.rx_bytes,
        "frames_tx_rate": live.tx_pps,
        "frames_rx_rate": live.rx_pps,
        "bytes_tx_rate": live.tx_bps / 8,
        "bytes_rx_rate": live.rx_bps / 8,
        "transmit": "started" if sends else "stopped",
    }
    return content | ({"speed": round(speed_bps / 1e6)} if speed_bps else {})


def flow_metric(flow: Flow, counts: LiveCounts, state: FlowState) -> Content:
    """A flow's, summed up over its streams; rates of a mix of sizes by their mean."""
    streams = [counts.stream(plan.stream) for plan in flow.streams]
    sent = sum(each.counts.sent for each in streams)
    received = sum(_received(each, flow) for each in streams)
    tx_pps, rx_pps = sum(each.tx_pps for each in streams), sum(each.rx_pps for each in streams)
    content: Content = {
        "name": flow.name,
        "port_tx": flow.tx_name,
        "transmit": state,
        "frames_tx": sent,
        "frames_rx": received,
        "bytes_tx": sum(each.sent_bytes for each in streams),
        "bytes_rx": sum(round(_received(each, flow) * each.mean_frame_size) for each in streams),
        "frames_tx_rate": tx_pps,
        "frames_rx_rate": rx_pps,
    }
    content |= {"port_rx": flow.rx_name} if flow.rx_name else {}
    for way in ("tx", "rx"):
        content |= _bit_rates(way, streams)
    if flow.metrics.loss:
        content["loss"] = max(0.0, 100 * (sent - received) / sent) if sent else 0.0
    if flow.metrics.timestamps:
        content["timestamps"] = _timestamps(streams)
    if flow.metrics.latency:
        content["latency"] = _latency(streams)
    return content


def not_sent(flow: Flow, counts: LiveCounts) -> str | None:
    """What to warn of where frames that were due did not leave; None where all did."""
    streams = [counts.stream(plan.stream).counts for plan in flow.streams]
    skipped = sum(each.skipped for each in streams)
    if not skipped:
        return None
    due = skipped + sum(each.sent for each in streams)
    return (
        f"flow {flow.name!r}: {skipped:,} of {due:,} frames that were due were not sent: the "
        "tester's polling loop was kept off its CPU for too long"
    )


def only(content: Mapping[str, Any], names: Collection[str]) -> Content:
    """The columns of these names, and whose they are; all where none is named."""
    if not names:
        return dict(content)
    return {key: value for key, value in content.items() if key in names or key in _PORT_NAMES}


def _received(stream: LiveStream, flow: Flow) -> int:
    counts = stream.counts
    return counts.received + (counts.misdirected if flow.anywhere else 0)


def _bit_rates(way: str, streams: Iterable[LiveStream]) -> Content:
    """The rates of one direction, of frames with FCS; on layer 1 with preamble and gap."""
    rates = [
        (each.tx_pps if way == "tx" else each.rx_pps, each.mean_frame_size) for each in streams
    ]
    bits = sum(pps * size * 8 for pps, size in rates)
    return {
        f"{way}_l1_rate_bps": sum(pps * (s + PREAMBLE_AND_GAP_BYTES) * 8 for pps, s in rates),
        f"{way}_rate_bytes": bits / 8,
        f"{way}_rate_bps": bits,
        f"{way}_rate_kbps": bits / 1e3,
        f"{way}_rate_mbps": bits / 1e6,
    }


def _timestamps(streams: Sequence[LiveStream]) -> Content:
    firsts = [each.first_received_unix_ns for each in streams if each.first_received_unix_ns]
    lasts = [each.last_received_unix_ns for each in streams if each.last_received_unix_ns]
    if not firsts or not lasts:
        return {}
    return {"first_timestamp_ns": float(min(firsts)), "last_timestamp_ns": float(max(lasts))}


def _latency(streams: Sequence[LiveStream]) -> Content:
    """Of all frames as measured: the DUT's is no more, of those that a stall delayed, too.

    OTG has one field for each, and no room for what it is at least.
    """
    found = merge(LatencyEnds.of(each.counts).high for each in streams)
    if found.min_ns is None or found.max_ns is None or found.mean_ns is None:
        return {}
    return {
        "minimum_ns": float(found.min_ns),
        "maximum_ns": float(found.max_ns),
        "average_ns": found.mean_ns,
    }
