"""What a real dpdk-testpmd tells by telemetry, against its lab's own counters."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.dut.lab import DutPortCounters
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.dut.userspace.testpmd import TestpmdLab
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger, ledgers
from plimsoll.observe.dpdk.dpdk import Dpdk
from plimsoll.observe.reading.observer import Observation, ObservedHost
from tests.integration.command import until
from tests.integration.test_testpmd_lab import forwarder_of, make_lab, start_client
from tests.unit.observe.watched import Rows, Watched

PATIENCE_S = 60

pytestmark = [
    pytest.mark.skipif(
        shutil.which("dpdk-testpmd") is None,
        reason="dpdk-testpmd is missing: install dpdk-dev (Debian 12) or dpdk (Fedora)",
    ),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs"),
]


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    directory = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("PLIMSOLL_STATE", str(directory))
    with swept_ledger("test") as ledger:
        yield ledger
    for each in ledgers():
        each.undo()
    shutil.rmtree(directory)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine is busy with, an answer is waited for."""
    monkeypatch.setattr("plimsoll.observe.dpdk.dpdk._PATIENCE_S", PATIENCE_S)


def observed(ledger: Ledger) -> Watched:
    socket = ledger.directory / "dpdk" / "dut" / "dpdk_telemetry.v2"
    observation = Observation(telemetry={"dut": str(socket)}, interval_s=3600)
    return Watched(Dpdk, ObservedHost(observation=observation))


def settled_counters(lab: TestpmdLab, ledger: Ledger) -> tuple[DutPortCounters, ...]:
    """The lab's counters once nothing moves any more while its loop has its CPU."""
    pid = forwarder_of(ledger).pid
    enough = os.sysconf("SC_CLK_TCK") // 4
    before, now = None, lab.counters()
    while now != before:
        begun = cpu_ticks(pid)
        until(lambda since=begun: cpu_ticks(pid) > since + enough, "testpmd to poll")
        before, now = now, lab.counters()
    return now


def cpu_ticks(pid: int) -> int:
    """What a process has had of its CPUs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def total(rows: Rows, kind: str, **names: str) -> int:
    return sum(count or 0 for count in rows.counts(kind, app="dut", **names))


def test_port_counters_agree_with_the_labs_own(ledger: Ledger) -> None:
    lab = make_lab(ledger)
    ports = lab.up()
    before = lab.counters()
    dpdk = observed(ledger)
    client = start_client(ports, ledger)
    lab.wait_links(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while not all(counters.rx_frames for counters in lab.counters()):
        assert time.monotonic() < deadline
        dpdk.read()
    # Stopped, not ended: testpmd may crash when its client hangs up.
    os.kill(client.pid, signal.SIGSTOP)
    try:
        after = settled_counters(lab, ledger)
        rows = dpdk.read()
    finally:
        os.kill(client.pid, signal.SIGCONT)
        client.end(0)
        lab.down()
    for then, now in zip(before, after, strict=True):
        port = str(now.port)
        assert now.rx_frames > then.rx_frames
        assert total(rows, "rx-packets-sec", port=port) == now.rx_frames - then.rx_frames
        assert total(rows, "tx-packets-sec", port=port) == now.tx_frames - then.tx_frames
        assert total(rows, "rx-missed-sec", port=port) == now.rx_missed - then.rx_missed
        good = total(rows, "xstat-sec", port=port, name="rx_good_packets")
        assert good == now.rx_frames - then.rx_frames


def test_a_killed_testpmd_is_absent_and_its_successor_is_read(ledger: Ledger) -> None:
    lab = make_lab(ledger)
    lab.up()
    dpdk = observed(ledger)
    dpdk.read()
    lab.down()
    rows = dpdk.read()
    assert rows.times("rx-packets-sec", port="0") == [(0, 1)]
    successor = TestpmdSettings(cpu=max(os.sched_getaffinity(0)))
    again = successor.make(ledger, MemoryPlan(huge=False, megabytes=128), "ours")
    again.up()
    for _ in range(3):
        rows = dpdk.read()
    again.down()
    assert rows.times("rx-packets-sec", port="0") == [(0, 1), (4, 5)]
