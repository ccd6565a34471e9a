"""What streams carried, by time."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.benchmark.churn.streams.iperf3 import StreamReport
from plimsoll.errors import MachineError


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
