"""The polling loops of a test bed: the tester's, and the DUT's here and on other hosts."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.dut.lab import DutProcess
from plimsoll.host.processes.schedule_stats import pinned_to, polling_threads
from plimsoll.observe.agent.remote_trace import RemoteTrace

_TESTER = "tester"


def loops_of_tester(program: str | None, pid: int | None) -> Iterator[PollingLoop]:
    """The loops of the tester's process; nothing where it has none."""
    if pid is not None:
        for thread, cpu in polling_threads(pid).items():
            yield PollingLoop("tester", program or _TESTER, cpu, thread)


def loops_of_dut(process: DutProcess) -> Iterator[PollingLoop]:
    """The loops of a process of the DUT, its main thread among them where that forwards."""
    for thread, cpu in polling_threads(process.pid).items():
        yield PollingLoop("dut", process.name, cpu, thread)
    if process.main_forwards and (main_cpu := pinned_to(process.pid)) is not None:
        yield PollingLoop("dut", process.name, main_cpu, process.pid, sleeps=True)


def loops_of_host(trace: RemoteTrace) -> Iterator[PollingLoop]:
    """Those of the DUT that poll on another host."""
    for each in trace.loops:
        yield PollingLoop(
            "dut", each.process, each.cpu, each.thread_id, sleeps=each.sleeps, host=trace.host
        )
