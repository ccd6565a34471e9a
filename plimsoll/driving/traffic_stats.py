"""Live traffic's counters, as tables for people and notebooks."""

from __future__ import annotations

from plimsoll.analysis.column import Column
from plimsoll.analysis.plain_table import PlainTable
from plimsoll.analysis.shown import html_facts
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LivePort, LiveStream
from plimsoll.text.units import format_duration

_STREAM_COLUMNS = (
    Column("stream", "text"),
    Column("state", "text"),
    Column("rate_pps", "number"),
    Column("tx_pps", "number"),
    Column("rx_pps", "number"),
    Column("sent", "integer"),
    Column("received", "integer"),
    Column("lost", "integer"),
    Column("late", "integer"),
    Column("refused", "integer"),
    Column("out_of_order", "integer"),
    Column("duplicate", "integer"),
    Column("corrupt", "integer"),
    Column("samples", "integer"),
    Column("min_ns", "integer"),
    Column("mean_ns", "number"),
    Column("p50_ns", "integer"),
    Column("p99_ns", "integer"),
    Column("p99_9_ns", "integer"),
    Column("max_ns", "integer"),
)
_PORT_COLUMNS = (
    Column("port", "integer"),
    Column("link_up", "boolean"),
    Column("tx_pps", "number"),
    Column("tx_bps", "number"),
    Column("rx_pps", "number"),
    Column("rx_bps", "number"),
    Column("sent", "integer"),
    Column("sent_bytes", "integer"),
    Column("received", "integer"),
    Column("received_bytes", "integer"),
    Column("foreign", "integer"),
)


class TrafficStats:
    """What live traffic had counted by the end of an interval; `counts` has all of it."""

    def __init__(self, counts: LiveCounts) -> None:
        self.counts = counts

    @property
    def streams(self) -> PlainTable:
        """A row for each stream; latencies in ns, rates of the last interval."""
        return PlainTable("Streams", _STREAM_COLUMNS, map(_stream_row, self.counts.streams))

    @property
    def ports(self) -> PlainTable:
        """A row for each port; bytes and bits are of frames with FCS."""
        return PlainTable("Ports", _PORT_COLUMNS, map(_port_row, self.counts.ports))

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self._facts())
        return f"<traffic: {facts}>\n{self.streams!r}\n{self.ports!r}"

    def _repr_html_(self) -> str:
        tables = (self.streams, self.ports)
        shown = "".join(table._repr_html_() for table in tables)
        return html_facts("Traffic", self._facts()) + shown

    def _facts(self) -> list[tuple[str, object]]:
        state = "sending" if self.counts.sending else "stopped"
        return [("state", state), ("for", format_duration(self.counts.elapsed_s))]


def _stream_row(stream: LiveStream) -> tuple[object, ...]:
    counts, latency = stream.counts, stream.counts.latency
    return (
        stream.name,
        stream.state,
        stream.rate_pps,
        stream.tx_pps,
        stream.rx_pps,
        counts.sent,
        counts.received,
        stream.lost,
        counts.skipped,
        counts.refused,
        counts.out_of_order,
        counts.duplicate,
        counts.corrupt,
        latency.count,
        latency.min_ns,
        latency.mean_ns,
        *(latency.quantile_ns(quantile) for quantile in (0.5, 0.99, 0.999)),
        latency.max_ns,
    )


def _port_row(port: LivePort) -> tuple[object, ...]:
    return (
        port.port,
        port.link_up,
        port.tx_pps,
        port.tx_bps,
        port.rx_pps,
        port.rx_bps,
        port.tx_frames,
        port.tx_bytes,
        port.rx_frames,
        port.rx_bytes,
        port.counts.foreign if port.counts else 0,
    )
