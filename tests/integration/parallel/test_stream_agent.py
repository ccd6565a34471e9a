"""The agents of a stream's two ends with real iperf3 between them, as pods run them."""

from __future__ import annotations

import gzip
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.churn.latency.probes import parse_probe_log
from plimsoll.churn.pod_streams.pod_agent import END, FOLDER, end_command
from plimsoll.churn.pod_streams.pod_streams import NodeClock
from plimsoll.churn.pod_streams.probe_agent import probe_command, reflect_command
from plimsoll.churn.pod_streams.stream_agent import EndReport, client_command, server_command
from plimsoll.churn.streams.iperf3 import StreamTimes, TcpStreamPlan, throughput_of
from tests.free_ports import free_port
from tests.integration.command import ROOT, until
from tests.integration.machine_watch import spoilt_where_away

PLAN = TcpStreamPlan(rate_bps=20e6, interval_s=0.1)
PPS = 500
_PATIENCE_S = 300.0

pytestmark = pytest.mark.skipif(shutil.which("iperf3") is None, reason="install iperf3")


class Agents:
    """A server's and a client's, each with a folder where a pod has its volume."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, side: str) -> None:
        folder = self._folder / side
        folder.mkdir()
        if side == "client":
            command = client_command(PLAN, self._port, "127.0.0.1")
        elif side == "server":
            command = server_command(PLAN, self._port)
        elif side == "probe":
            command = probe_command(self._port, "127.0.0.1", PPS)
        else:
            command = reflect_command(self._port)
        self.running[side] = self._command(side, command, stderr=(folder / "stderr").open("wb"))

    def is_ready(self, side: str) -> bool:
        return (self._folder / side / "ready").exists()

    def said(self, side: str) -> str:
        return (self._folder / side / "stderr").read_text()

    def end(self, side: str) -> tuple[NodeClock, bytes]:
        """Over pipes, where a run has exec's."""
        with self._command(side, end_command(), stdin=subprocess.PIPE) as process:
            lines = _Pipes(process)
            clock = NodeClock.read(lines)
            lines.write(END + b"\n")
            report = lines.read(int(lines.read_line(_PATIENCE_S)))
        assert process.returncode == 0
        return clock, report

    def _command(self, side: str, command: list[str], **pipes: object) -> subprocess.Popen[bytes]:
        own = [str(self._folder / side) if word == str(FOLDER) else word for word in command]
        assert own[0] == "python3"
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            [sys.executable, *own[1:]], cwd=ROOT, stdout=subprocess.PIPE, **pipes
        )


class _Pipes:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout

    def write(self, data: bytes) -> None:
        self._in.write(data)
        self._in.flush()

    def read_line(self, timeout_s: float) -> bytes:
        assert timeout_s > 0
        return self._out.readline().rstrip(b"\n")

    def read(self, length: int) -> bytes:
        return self._out.read(length)


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Agents]:
    made = Agents(tmp_path, free_port())
    yield made
    for process in made.running.values():
        process.kill()
        process.wait()


def bits(report: EndReport) -> float:
    return sum(each.bits for each in report.stream.intervals)


def test_a_stream_runs_until_it_is_ended_and_both_ends_report(agents: Agents) -> None:
    begin_ns = time.time_ns()
    # The client is first: it tries until there is a server.
    agents.start("client")
    agents.start("server")
    for side in ("server", "client"):
        until(lambda side=side: agents.is_ready(side), f"the {side} to be ready", _PATIENCE_S)
    time.sleep(2)
    clock, of_client = agents.end("client")
    end_ns = time.time_ns()
    sent = EndReport.of_json(of_client)
    received = EndReport.of_json(agents.end("server")[1])
    # One machine has one clock, which the exchange finds within what it says of itself.
    assert abs(clock.ahead_ns) <= clock.error_ns
    assert begin_ns < sent.started_ns < sent.ended_ns < end_ns
    times = StreamTimes(sent.started_ns, sent.ended_ns)
    carried = throughput_of(1, sent.stream, received.stream, times)
    assert carried.begin_ns[0] >= sent.started_ns
    assert (carried.end_ns[-1] - carried.begin_ns[0]) / 1e9 > 2
    assert bits(received) > 0
    for process in agents.running.values():
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(_PATIENCE_S) == 0


def test_a_stream_that_ends_by_itself_has_failed_and_says_why(agents: Agents) -> None:
    agents.start("server")
    agents.start("client")
    until(lambda: agents.is_ready("client"), "the client to stream", _PATIENCE_S)
    agents.running["server"].send_signal(signal.SIGTERM)
    assert agents.running["server"].wait(_PATIENCE_S) == 0
    # 1 would say that a DUT failed.
    assert agents.running["client"].wait(_PATIENCE_S) == 3
    # In words of iperf3's own.
    assert "socket" in agents.said("client")


@spoilt_where_away(longest_s=0.1)
def test_datagrams_go_there_and_back_next_to_a_stream(agents: Agents) -> None:
    agents.start("reflect")
    agents.start("probe")
    for side in ("reflect", "probe"):
        until(lambda side=side: agents.is_ready(side), f"{side} to be ready", _PATIENCE_S)
    time.sleep(2)
    # Whatever the reflector is kept from is no part of the way.
    reflector = agents.running["reflect"]
    reflector.send_signal(signal.SIGSTOP)
    time.sleep(0.4)
    reflector.send_signal(signal.SIGCONT)
    time.sleep(0.5)
    _, report = agents.end("probe")
    log = parse_probe_log(gzip.decompress(report).decode().splitlines(), 1)
    assert len(log.samples) > 100
    latencies_ms = sorted(each.latency_ns / 1e6 for each in log.samples if each.latency_ns)
    assert latencies_ms[0] > 0
    assert len(latencies_ms) == len(log.samples)
    assert log.duplicates == 0
    # Some 200 of them were held for up to 400 ms.
    assert sum(ms > 100 for ms in latencies_ms) < 100
    for side in ("reflect", "probe"):
        agents.running[side].send_signal(signal.SIGTERM)
        assert agents.running[side].wait(_PATIENCE_S) == 0
