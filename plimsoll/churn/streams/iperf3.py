"""iperf3's command lines, and what it says of a stream: its intervals, by its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import MachineError

IPERF3 = "iperf3"
# Its own, as far as no two servers share an address.
FIRST_PORT = 5201
# The longest that it takes; every stream is ended by a signal.
_LONGEST_S = 86_400
# Small writes, so that a paced stream does not come in lumps of a tenth of a second.
_WRITE_BYTES = 8192
# As proc(5) has a socket's state.
_ESTABLISHED, _LISTENING = "01", "0A"
# One for the stream, one for what client and server have to say to each other.
_CONNECTIONS = 2


@dataclass(frozen=True, slots=True)
class TcpStreamPlan:
    """`rate_bps` is the pace of each stream, None for as fast as it goes."""

    rate_bps: float | None
    interval_s: float

    @property
    def pace(self) -> str:
        """As iperf3 takes it, in bits per second."""
        return "0" if self.rate_bps is None else f"{self.rate_bps:.0f}"


def server_options(plan: TcpStreamPlan, port: int) -> tuple[str, ...]:
    """Of a server that ends with its first stream."""
    return ("--server", "--one-off", *_alike(plan, port))


def client_options(plan: TcpStreamPlan, address: str, port: int) -> tuple[str, ...]:
    """Of a client that sends until a signal."""
    stream = ("--bitrate", plan.pace, "--time", str(_LONGEST_S), "--length", str(_WRITE_BYTES))
    return ("--client", address, *_alike(plan, port), *stream)


def _alike(plan: TcpStreamPlan, port: int) -> tuple[str, ...]:
    return ("--json", "--interval", f"{plan.interval_s:g}", "--port", str(port))


def is_listening(net: Path, port: int) -> bool:
    """Whether a server does, by a namespace's /proc/PID/net."""
    return any(
        own.endswith(f":{port:04X}") and state == _LISTENING for own, _, state in _sockets(net)
    )


def is_streaming(net: Path, port: int) -> bool:
    """Whether a client has all its connections to that port, by the same."""
    end = f":{port:04X}"
    found = [
        peer for _, peer, state in _sockets(net) if peer.endswith(end) and state == _ESTABLISHED
    ]
    return len(found) >= _CONNECTIONS


def _sockets(net: Path) -> Iterator[tuple[str, str, str]]:
    """Of each TCP socket both ends, as hexadecimal ADDRESS:PORT, and its state."""
    for table in ("tcp", "tcp6"):
        try:
            lines = (net / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, own, peer, state, *_ = line.split()
            yield own, peer, state


@dataclass(frozen=True, slots=True)
class StreamInterval:
    """What arrived in [begin_s, end_s) since the stream's beginning; retransmits by the sender."""

    begin_s: float
    end_s: float
    bits: float


@dataclass(frozen=True, slots=True)
class StreamReport:
    """One side's report of a stream: its intervals, and how it ended early, if it did."""

    version: str
    intervals: tuple[StreamInterval, ...]
    retransmits: tuple[int, ...]
    error: str | None

    @property
    def length_s(self) -> float:
        """To the end of the last interval."""
        return self.intervals[-1].end_s if self.intervals else 0.0


def read_report(path: Path) -> StreamReport:
    """The report in a file. Raises MachineError for one that is none."""
    try:
        return parse_report(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MachineError(
            f"iperf3 left no report: {error}",
            where=str(path),
            remedy="look at what it printed; it is to be version 3.7 or later",
        ) from error


def parse_report(document: Mapping[str, Any]) -> StreamReport:
    """The same of a document. Raises KeyError, TypeError and ValueError."""
    sums = [each["sum"] for each in document["intervals"] if not each["sum"].get("omitted")]
    return StreamReport(
        version=str(document["start"]["version"]),
        intervals=tuple(
            StreamInterval(float(each["start"]), float(each["end"]), 8.0 * each["bytes"])
            for each in sums
        ),
        retransmits=tuple(int(each.get("retransmits", 0)) for each in sums),
        error=document.get("error"),
    )


# What streams carried, by time.
@dataclass(frozen=True, slots=True)
class Throughput:
    """What arrived of one pair's stream, by intervals since the epoch; its sender's resends.

    `connect_s` is how long the client took from its start to its first interval. `nodes` are the
    client's and the server's, of a cluster's pods; `clock_error_ns` is by how much its times may
    then be off, for they are by the client's node's clock.
    """

    pair: int
    begin_ns: tuple[int, ...]
    end_ns: tuple[int, ...]
    bps: tuple[float, ...]
    retransmits: int
    version: str
    connect_s: float
    nodes: tuple[str, str] | None = None
    clock_error_ns: int = 0


@dataclass(frozen=True, slots=True)
class StreamTimes:
    """When a client was started, and when it was ended, in ns since the epoch."""

    started_ns: int
    ended_ns: int


def throughput_of(
    pair: int, sent: StreamReport, received: StreamReport, times: StreamTimes
) -> Throughput:
    """The server's intervals, which are of what arrived, on the clock of the client's end.

    The client ends its last interval with the signal; both sides begin to count together. Raises
    MachineError where nothing arrived.
    """
    if not received.intervals:
        raise MachineError(
            f"nothing arrived of pair {pair}: {received.error or 'no intervals'}",
            where="streams",
            remedy="look whether the network carries it",
        )
    begin_ns = max(times.started_ns, times.ended_ns - round(sent.length_s * 1e9))
    return Throughput(
        pair=pair,
        begin_ns=tuple(begin_ns + round(each.begin_s * 1e9) for each in received.intervals),
        end_ns=tuple(begin_ns + round(each.end_s * 1e9) for each in received.intervals),
        bps=tuple(each.bits / (each.end_s - each.begin_s) for each in received.intervals),
        retransmits=sum(sent.retransmits),
        version=received.version,
        connect_s=max(0.0, (begin_ns - times.started_ns) / 1e9),
    )
