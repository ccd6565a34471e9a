"""Counters in the names and units that TRex's clients read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hdrh.histogram import HdrHistogram

from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LivePort, LiveStream
from plimsoll.generator.histogram import Histogram, bucket_bounds_ns, merge
from plimsoll.remote.trex.session.stl_port import StlPort

# What TRex's clients also list; we have no figure for them, and say 0.
_NOT_KEPT = (
    "m_cpu_util", "m_cpu_util_raw", "m_bw_per_core", "m_rx_cpu_util", "m_rx_core_pps",
    "m_platform_factor", "m_tx_cps", "m_tx_expected_cps", "m_tx_expected_pps",
    "m_tx_expected_bps", "m_total_alloc_error", "m_active_flows", "m_open_flows",
    "m_total_clients", "m_total_servers", "m_active_sockets", "m_socket_util",
    "m_total_nat_time_out", "m_total_nat_time_out_wait_ack", "m_total_nat_no_fid",
    "m_total_nat_active", "m_total_nat_syn_wait", "m_total_nat_open",
    "m_total_nat_learn_error",
)  # fmt: skip
# TRex's histogram: tens of microseconds, then hundreds, up to 900 ms.
_MAX_DECADE_US = 100_000
_HDR_MOST_US = 60_000_000
# Of a port: the names, and how each is read.
XSTATS = (
    "tx_good_packets", "rx_good_packets", "tx_good_bytes", "rx_good_bytes",
    "tx_refused_packets", "tx_late_packets", "tx_no_buffer_packets", "rx_missed_errors",
    "rx_errors", "rx_mbuf_allocation_errors", "rx_foreign_packets", "rx_stale_packets",
    "rx_corrupt_packets", "rx_misdirected_packets",
)  # fmt: skip


def port_statistics(counts: LiveCounts, gone: RetiredStreams, number: int) -> dict[str, Any]:
    """What get_port_stats returns; bytes and bits are those of frames with FCS."""
    port = counts.port(number)
    sent = [each for each in counts.streams if each.tx_port == number]
    return {
        "opackets": port.tx_frames,
        "obytes": port.tx_bytes,
        "ipackets": port.rx_frames,
        "ibytes": port.rx_bytes,
        "oerrors": sum(s.counts.refused + s.counts.no_buffer for s in sent)
        + gone.refused[number]
        + gone.no_buffer[number],
        "ierrors": _receive_errors(port),
        "m_total_tx_bps": port.tx_bps,
        "m_total_tx_pps": port.tx_pps,
        "m_total_rx_bps": port.rx_bps,
        "m_total_rx_pps": port.rx_pps,
        "m_cpu_util": 0.0,
    }


def global_statistics(counts: LiveCounts, gone: RetiredStreams) -> dict[str, Any]:
    """What get_global_stats returns."""
    ports = counts.ports
    refused = sum(each.counts.refused for each in counts.streams) + gone.refused.total()
    tx_bps, rx_bps = sum(p.tx_bps for p in ports), sum(p.rx_bps for p in ports)
    return dict.fromkeys(_NOT_KEPT, 0) | {
        "m_tx_bps": tx_bps,
        "m_rx_bps": rx_bps,
        "m_tx_pps": sum(p.tx_pps for p in ports),
        "m_rx_pps": sum(p.rx_pps for p in ports),
        "m_rx_drop_bps": max(0.0, tx_bps - rx_bps),
        "m_total_tx_pkts": sum(p.tx_frames for p in ports),
        "m_total_rx_pkts": sum(p.rx_frames for p in ports),
        "m_total_tx_bytes": sum(p.tx_bytes for p in ports),
        "m_total_rx_bytes": sum(p.rx_bytes for p in ports),
        "m_total_queue_full": refused,
        "m_total_queue_drop": refused,
    }


def port_xstats(counts: LiveCounts, gone: RetiredStreams, number: int) -> list[int]:
    """A port's counters in the order of `XSTATS`."""
    port = counts.port(number)
    sent = [each.counts for each in counts.streams if each.tx_port == number]
    back = [each.counts for each in counts.streams if each.rx_port == number]
    own = port.counts
    return [
        port.tx_frames,
        port.rx_frames,
        port.tx_bytes,
        port.rx_bytes,
        sum(each.refused for each in sent) + gone.refused[number],
        sum(each.skipped for each in sent),
        sum(each.no_buffer for each in sent) + gone.no_buffer[number],
        own.rx_missed if own else 0,
        own.rx_errors if own else 0,
        own.rx_no_mbuf if own else 0,
        own.foreign if own else 0,
        own.stale + own.truncated if own else 0,
        sum(each.corrupt for each in back),
        sum(each.misdirected for each in back),
    ]


def active_groups(ports: Iterable[StlPort]) -> dict[str, list[int]]:
    """The packet groups that streams have, by what is measured of them."""
    found: dict[str, set[int]] = {"flow_stats": set(), "latency": set()}
    for port in ports:
        for profile in port.profiles.values():
            for stored in profile.streams.values():
                stream = stored.translated.stream
                if stream.packet_group is not None:
                    kind = "latency" if stream.timed else "flow_stats"
                    found[kind].add(stream.packet_group)
    return {kind: sorted(groups) for kind, groups in found.items()}


def group_statistics(
    counts: LiveCounts, gone: RetiredStreams, ports: tuple[StlPort, ...], groups: Iterable[int]
) -> dict[str, Any]:
    """What get_pgid_stats returns of some packet groups.

    Clients forget what they have read of a group when its version changes.
    """
    by_number = {each.stream: each for each in counts.streams}
    flow_stats: dict[str, Any] = {}
    latency: dict[str, Any] = {}
    versions: dict[str, int] = {}
    for group in dict.fromkeys(groups):
        live, timed, known = _of_group(ports, by_number, group)
        if not known:
            continue
        flow_stats[str(group)] = _flow_statistics(live, len(ports))
        versions[str(group)] = 1 + sum(gone.versions[each.stream] for each in live)
        if timed:
            latency[str(group)] = _latency_statistics(live)
    none = {str(port.number): 0 for port in ports}
    flow_stats["g"] = {"rx_err": none, "tx_err": none}
    latency["g"] = {"old_flow": 0, "bad_hdr": 0}
    return {"flow_stats": flow_stats, "latency": latency, "ver_id": versions}


def _of_group(
    ports: Iterable[StlPort], by_number: dict[int, LiveStream], group: int
) -> tuple[list[LiveStream], bool, bool]:
    """Its streams that have been started, whether they are timed, and whether there are any."""
    live: list[LiveStream] = []
    timed = known = False
    for port in ports:
        for profile in port.profiles.values():
            for stream_id, stored in profile.streams.items():
                stream = stored.translated.stream
                if stream.packet_group != group:
                    continue
                known, timed = True, timed or stream.timed
                number = profile.numbers.get(stream_id, -1)
                if number in by_number:
                    live.append(by_number[number])
    return live, timed, known


def _flow_statistics(streams: list[LiveStream], port_count: int) -> dict[str, Any]:
    names = ("rp", "rb", "tp", "tb", "rps", "rbs", "tps", "tbs")
    found: dict[str, dict[str, Any]] = {n: {str(p): 0 for p in range(port_count)} for n in names}
    for each in streams:
        came, went = str(each.rx_port), str(each.tx_port)
        for name, port, value in (
            ("rp", came, each.counts.received),
            ("rb", came, each.received_bytes),
            ("tp", went, each.counts.sent),
            ("tb", went, each.sent_bytes),
            ("rps", came, each.rx_pps),
            ("rbs", came, each.rx_bps),
            ("tps", went, each.tx_pps),
            ("tbs", went, each.tx_bps),
        ):
            found[name][port] += value
    return found


def _latency_statistics(streams: list[LiveStream]) -> dict[str, Any]:
    histograms = [h for s in streams for h in (s.counts.latency, s.counts.latency_across_stalls)]
    lost = [(len(s.counts.losses) + s.counts.losses_left_out.events, s) for s in streams]
    return {
        "er": {
            "drp": sum(each.lost for each in streams),
            "ooo": sum(each.counts.out_of_order for each in streams),
            "dup": sum(each.counts.duplicate for each in streams),
            "sth": sum(events for events, _ in lost),
            "stl": sum(each.counts.out_of_order + each.counts.duplicate for each in streams),
        },
        "lat": latency_figures(merge(histograms)),
    }


def latency_figures(histogram: Histogram) -> dict[str, Any]:
    """In us, with TRex's histogram and HdrHistogram's; there is no jitter.

    `last_max` is that of all frames so far: the maximum of a period is not kept.
    """
    most_us = (histogram.max_ns or 0) / 1000
    return {
        "average": round((histogram.mean_ns or 0) / 1000, 3),
        "total_max": round(most_us, 3),
        "total_min": round((histogram.min_ns or 0) / 1000, 3),
        "last_max": round(most_us, 3),
        "histogram": _by_leading_digit(histogram),
        "hdrh": _hdr_text(histogram),
    }


def _by_leading_digit(histogram: Histogram) -> dict[str, int]:
    """Frames by the leading digit of their latency in us; below 10 us together, as 0."""
    found: dict[int, int] = {}
    for index, frames in histogram.buckets:
        low_ns, high_ns = bucket_bounds_ns(index)
        microseconds = (low_ns + high_ns) // 2 // 1000
        decade = 10
        while decade < _MAX_DECADE_US and microseconds >= 10 * decade:
            decade *= 10
        key = 0 if microseconds < 10 else min(9, microseconds // decade) * decade
        found[key] = found.get(key, 0) + frames
    return {str(key): frames for key, frames in sorted(found.items())}


def _hdr_text(histogram: Histogram) -> str:
    hdr = HdrHistogram(1, _HDR_MOST_US, 2)
    for index, frames in histogram.buckets:
        low_ns, high_ns = bucket_bounds_ns(index)
        hdr.record_value(min(_HDR_MOST_US, max(1, (low_ns + high_ns) // 2000)), frames)
    text: str = hdr.encode().decode("ascii")
    return text


def _receive_errors(port: LivePort) -> int:
    own = port.counts
    return own.rx_missed + own.rx_errors + own.rx_no_mbuf if own else 0


# What streams that are no longer there could not send: ports' counters never fall.
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
