"""One-way TCP streams between pairs of pods, by iperf3, for as long as a cell lasts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.benchmark.churn.streams.iperf3 import StreamReport, read_report
from plimsoll.benchmark.churn.streams.networks import Fabric, PodPair
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import find_program
from plimsoll.host.processes.child import Child

IPERF3 = "iperf3"
# The longest that it takes; every stream is ended by a signal.
_LONGEST_S = 86_400
# Small writes, so that a paced stream does not come in lumps of a tenth of a second.
_WRITE_BYTES = 8192
_LONGEST_START_S = 20.0
_LONGEST_END_S = 20.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class TcpStreamPlan:
    """`rate_bps` is the pace of each stream, None for as fast as it goes."""

    rate_bps: float | None
    interval_s: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """What arrived of one pair's stream, by intervals since the epoch; its sender's resends.

    `connect_s` is how long the client took from its start to its first interval.
    """

    pair: int
    begin_ns: tuple[int, ...]
    end_ns: tuple[int, ...]
    bps: tuple[float, ...]
    retransmits: int
    version: str
    connect_s: float


@dataclass
class _Stream:
    pair: PodPair
    server: Child
    client: Child
    started_ns: int
    ended_ns: int = 0


class Streams:
    """Streams that run. `streaming` opens them."""

    def __init__(self, running: Sequence[_Stream]) -> None:
        self._running = running

    def check(self) -> None:
        """Raise MachineError where a stream has ended."""
        for stream in self._running:
            for child in (stream.client, stream.server):
                if child.exit_status() is not None:
                    raise MachineError(
                        f"the stream of pair {stream.pair.number} has ended: {_said(child)}",
                        where="streams",
                        remedy="look whether the network still carries it",
                    )

    def stop(self) -> tuple[Throughput, ...]:
        """End all of them, and read what they did. Raises MachineError."""
        for stream in self._running:
            stream.ended_ns = time.time_ns()
            stream.client.interrupt()
        for stream in self._running:
            for child in (stream.client, stream.server):
                if not child.wait(_LONGEST_END_S):
                    raise MachineError(
                        f"the stream of pair {stream.pair.number} does not end",
                        where="streams",
                        remedy="look whether the network still carries it",
                    )
        return tuple(_throughput(stream) for stream in self._running)


@contextmanager
def streaming(fabric: Fabric, plan: TcpStreamPlan, ledger: Ledger, name: str) -> Iterator[Streams]:
    """Start a stream for each pair; `name` begins the names of their files."""
    with ExitStack() as stack:
        starter = _Starter(plan, ledger, name, stack)
        yield Streams([starter.start(pair) for pair in fabric.pairs])


class _Starter:
    """Starts streams that end with an exit stack."""

    def __init__(self, plan: TcpStreamPlan, ledger: Ledger, name: str, stack: ExitStack) -> None:
        self._program = find_program(IPERF3, IPERF3, where="streams")
        self._plan = plan
        self._ledger = ledger
        self._name = name
        self._stack = stack

    def start(self, pair: PodPair) -> _Stream:
        """The server, and once it listens the client. Raises MachineError."""
        interval = f"{self._plan.interval_s:g}"
        common = ("--json", "--interval", interval, "--port", str(pair.port))
        argv = pair.server.enter(self._program, "--server", "--one-off", *common)
        server = self._child(pair, "server", argv)
        _wait_until_listening(server, pair)
        started_ns = time.time_ns()
        pace = "0" if self._plan.rate_bps is None else f"{self._plan.rate_bps:.0f}"
        argv = pair.client.enter(
            *(self._program, "--client", pair.address, *common, "--bitrate", pace),
            *("--time", str(_LONGEST_S), "--length", str(_WRITE_BYTES)),
        )
        return _Stream(pair, server, self._child(pair, "client", argv), started_ns)

    def _child(self, pair: PodPair, role: str, argv: tuple[str, ...]) -> Child:
        child = Child.start(
            argv,
            log=self._ledger.directory / f"{self._name}-{pair.number}-{role}.json",
            environment=self._ledger.environment,
            favoured=False,
        )
        self._stack.callback(child.end, 1.0)
        self._ledger.note_process(f"{IPERF3} {role} {pair.number}", child.identity)
        return child


def _wait_until_listening(server: Child, pair: PodPair) -> None:
    deadline = time.monotonic() + _LONGEST_START_S
    while server.exit_status() is None and time.monotonic() < deadline:
        if _listens(pair):
            return
        time.sleep(_POLL_S)
    raise MachineError(
        f"iperf3's server does not start: {_said(server)}",
        where="streams",
        remedy="start it again on a less busy machine",
    )


def _listens(pair: PodPair) -> bool:
    """By the server's own namespace: a state of 0A on its port."""
    port = f":{pair.port:04X}"
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pair.server.pid}/net/{table}").read_text().splitlines()[1:]
        except OSError:
            continue
        fields = (line.split() for line in lines)
        if any(each[1].endswith(port) and each[3] == "0A" for each in fields):
            return True
    return False


def _throughput(stream: _Stream) -> Throughput:
    """The server's intervals, which are of what arrived, on the clock of the client's end.

    The client ends its last interval with the signal; both sides begin to count together.
    """
    sent, received = read_report(stream.client.log), read_report(stream.server.log)
    if not received.intervals:
        raise MachineError(
            f"nothing arrived of pair {stream.pair.number}: {received.error or 'no intervals'}",
            where="streams",
            remedy="look whether the network carries it",
        )
    begin_ns = _begin_ns(stream, sent)
    return Throughput(
        pair=stream.pair.number,
        begin_ns=tuple(begin_ns + round(each.begin_s * 1e9) for each in received.intervals),
        end_ns=tuple(begin_ns + round(each.end_s * 1e9) for each in received.intervals),
        bps=tuple(each.bits / (each.end_s - each.begin_s) for each in received.intervals),
        retransmits=sum(sent.retransmits),
        version=received.version,
        connect_s=max(0.0, (begin_ns - stream.started_ns) / 1e9),
    )


def _begin_ns(stream: _Stream, sent: StreamReport) -> int:
    return max(stream.started_ns, stream.ended_ns - round(sent.length_s * 1e9))


def _said(child: Child) -> str:
    return " / ".join(child.log_tail(3)) or "it says nothing"
