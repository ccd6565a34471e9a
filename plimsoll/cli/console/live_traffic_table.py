"""Live traffic as tables: streams, ports, latencies."""

from __future__ import annotations

from rich.table import Table

from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LiveStream
from plimsoll.generator.latency_ends import LatencyEnds
from plimsoll.text.units import format_ns_between, format_number, format_pps

_ABSENT = "-"
_QUANTILES = (0.5, 0.99, 0.999)


def streams_table(counts: LiveCounts) -> Table:
    """A line for each stream: what it is to send, does, and has done."""
    table = _table("stream", "state", *(f"> {name}" for name in _STREAM_NUMBERS))
    for each in counts.streams:
        rate = "as fast as it can" if each.rate_pps is None else format_pps(each.rate_pps)
        table.add_row(
            each.name,
            each.state,
            rate,
            format_pps(each.tx_pps),
            format_pps(each.rx_pps),
            f"{each.counts.sent:,}",
            f"{each.counts.received:,}",
            f"{each.lost:,}",
            *_latencies(each),
        )
    return table


def ports_table(counts: LiveCounts) -> Table:
    """A line for each port: rates, sums, and foreign frames."""
    table = _table("port", "link", *(f"> {name}" for name in _PORT_NUMBERS))
    for each in counts.ports:
        kinds = each.counts.foreign_kinds if each.counts else {}
        foreign = ", ".join(f"{name} {count:,}" for name, count in kinds.items() if count)
        table.add_row(
            str(each.port),
            "up" if each.link_up else "down",
            format_pps(each.tx_pps),
            _bps(each.tx_bps),
            format_pps(each.rx_pps),
            _bps(each.rx_bps),
            f"{each.tx_frames:,}",
            f"{each.rx_frames:,}",
            foreign or _ABSENT,
        )
    return table


def faults_line(counts: LiveCounts) -> str:
    """What the tester did not send as it should have, in words; empty where it did."""
    streams = [each.counts for each in counts.streams]
    sums = {
        "late": sum(each.skipped for each in streams),
        "refused by the port": sum(each.refused for each in streams),
        "without a buffer": sum(each.no_buffer for each in streams),
        "out of order": sum(each.out_of_order for each in streams),
        "duplicate": sum(each.duplicate for each in streams),
        "corrupt": sum(each.corrupt for each in streams),
        "misdirected": sum(each.misdirected for each in streams),
    }
    return ", ".join(f"{name}: {count:,}" for name, count in sums.items() if count)


def short_line(counts: LiveCounts, load_pps: float | None) -> str:
    """All of it in one line."""
    load = "no load" if load_pps is None else f"load {format_pps(load_pps)}"
    sent = sum(each.tx_pps for each in counts.streams)
    received = sum(each.rx_pps for each in counts.streams)
    lost = sum(each.lost for each in counts.streams)
    state = "sending" if counts.sending else "stopped"
    return (
        f"{state} · {load} a direction · tx {format_pps(sent)} · rx {format_pps(received)} · "
        f"lost {lost:,}"
    )


_STREAM_NUMBERS = ("rate", "tx", "rx", "sent", "received", "lost", "p50", "p99", "p99.9", "max")
_PORT_NUMBERS = ("tx", "tx bps", "rx", "rx bps", "sent", "received", "foreign")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        right = name.startswith("> ")
        table.add_column(name.removeprefix("> "), justify="right" if right else "left")
    return table


def _latencies(stream: LiveStream) -> list[str]:
    """Both ends, where stalls of the tester leave it open."""
    ends = LatencyEnds.of(stream.counts)
    if ends.low.max_ns is None or ends.high.max_ns is None:
        return [_ABSENT] * (len(_QUANTILES) + 1)
    lows = (*ends.low.quantiles_ns(_QUANTILES), ends.low.max_ns)
    highs = (*ends.high.quantiles_ns(_QUANTILES), ends.high.max_ns)
    return [format_ns_between(*each) for each in zip(lows, highs, strict=True)]


def _bps(bps: float) -> str:
    for unit, size in (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3)):
        if bps >= size:
            return f"{format_number(bps / size)} {unit}"
    return f"{format_number(bps)} bps"
