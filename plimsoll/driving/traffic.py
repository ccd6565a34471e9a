"""`plimsoll.traffic`: an experiment's streams, started, changed and stopped from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from plimsoll.analysis.shown import html_facts
from plimsoll.analysis.table import Column, PlainTable
from plimsoll.benchmark.live_traffic.experiment_traffic import (
    ExperimentTraffic,
    experiment_traffic,
)
from plimsoll.benchmark.live_traffic.live_captures import PortCapture, as_pcap
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LivePort, LiveStream
from plimsoll.driving.chosen_experiment import AnyExperiment, chosen_experiment
from plimsoll.host.ledger.ledger import sweep
from plimsoll.text.units import format_duration, format_pps, parse_duration, parse_rate

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


class Traffic:
    """Streams have a name for each direction, such as "load/0-1"; "load" names both.

    All methods may be called from any thread. They raise plimsoll.errors.InputError for what
    is misspelt or impossible, and what the session failed by, such as a DUT that died.
    """

    def __init__(self, sends: ExperimentTraffic) -> None:
        """`plimsoll.traffic` makes one."""
        self._sends = sends

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams' names."""
        return self._sends.names

    @property
    def load_pps(self) -> float | None:
        """Per direction; None before one was given, where the profile states none."""
        return self._sends.load_pps

    def start(self, *streams: str, load: str | None = None, duration: str | None = None) -> None:
        """Start streams, by default all, at a `load` per direction ("500kpps", "60%").

        Without one, at the load that they had. Each ends `duration` ("10s") after its first frame.
        Returns when they are about to be sent.
        """
        self._sends.start(
            streams,
            load=None if load is None else parse_rate(load),
            duration_s=None if duration is None else parse_duration(duration),
        )

    def stop(self, *streams: str) -> None:
        """Stop streams, by default all; then losses are known exactly."""
        self._sends.stop(streams)

    def set_load(self, load: str) -> None:
        """Change the load, per direction, while it is sent; probes keep their rates."""
        self._sends.set_load(parse_rate(load))

    def set_rate(self, stream: str, rate_pps: float) -> None:
        """Give one stream a rate of its own; 0 pauses it."""
        self._sends.set_rate(stream, rate_pps)

    def stats(self, *, fresh: bool = False) -> TrafficStats:
        """What was counted by the end of the last interval; with `fresh`, of the one under way."""
        return TrafficStats(self._sends.counts(fresh=fresh))

    def capture(
        self, *ports: int, most_frames: int = 100_000, snap_bytes: int | None = None
    ) -> None:
        """Capture what these ports of the tester receive from the next start on, by default all.

        A port's capture takes its first `most_frames`, and of each the first `snap_bytes`, None
        for all. What was captured before is gone. Raises InputError while anything is sent.
        """
        kept = PortCapture(most_frames, snap_bytes)
        live = self._sends.live
        chosen = ports or tuple(port.port for port in live.ports)
        live.prepare_captures(dict.fromkeys(chosen, kept))
        for port in chosen:
            live.start_capture(port)

    def captured(self, port: int) -> bytes:
        """What was captured of a port up to now, as a pcap file with times in ns."""
        captured = self._sends.live.captured(port)
        return as_pcap(captured.frames(), captured.snap_bytes)

    def set_link(self, port: int, *, up: bool) -> bool:
        """Take the link of a tester's port down, or bring it up; whether it is up then.

        Streams go on, and what is refused or lost is counted as ever. Of a card the link may be
        up seconds later; `stats` has it. Raises GeneratorRefused (plimsoll.generator.interface)
        where the port's driver cannot. What was taken down is up again after the block.
        """
        return self._sends.live.set_link(port, up=up)

    def clear(self) -> None:
        """Begin all counters anew."""
        self._sends.clear()

    def wait(self, timeout: str | None = None) -> bool:
        """Wait until nothing is sent any more; returns whether that is so."""
        return self._sends.wait(None if timeout is None else parse_duration(timeout))

    def __repr__(self) -> str:
        load = "no load yet" if self.load_pps is None else f"{format_pps(self.load_pps)}"
        return f"<traffic of {', '.join(self.streams)} at {load}>"

    def _repr_html_(self) -> str:
        return self.stats()._repr_html_()


@contextmanager
def open_traffic(
    experiment: AnyExperiment, *, fields: Iterable[str], tell: Callable[[str], None]
) -> Iterator[Traffic]:
    """The experiment's test bed, up for as long as the block lasts."""
    planned = chosen_experiment(experiment, fields)
    sweep()
    with experiment_traffic(planned, tell=tell) as sends:
        yield Traffic(sends)


# Live traffic's counters, as tables for people and notebooks.
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
