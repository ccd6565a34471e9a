"""Which thread polls on a CPU, by a /proc that is written here."""

import os
import time
from pathlib import Path

import pytest

from plimsoll.host.processes.polling_loops import FoundLoop, loops_on
from tests.this_thread import in_this_thread

TENTH_NS = 100_000_000
# Fields 3 to 38 of /proc/PID/stat, then the CPU.
STAT = f"{{tid}} ({{comm}}) S 1 1 1 0 -1 {'0 ' * 11}1 {'0 ' * 18}{{cpu}} 0"


class Proc:
    """A /proc; threads run while loops are looked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs_ns: dict[tuple[int, int], int] = {}

    def add(  # noqa: PLR0917
        self, pid: int, tid: int, comm: str, cpus: str, runs_ns: int = 0, parent: int = 1
    ) -> None:
        process, task = self.folder / str(pid), self.folder / str(pid) / "task" / str(tid)
        task.mkdir(parents=True)
        self.runs_ns[pid, tid] = runs_ns
        for place in [task] if pid != tid else [task, process]:
            (place / "comm").write_text(f"{comm}\n")
            status = f"Name:\t{comm}\nPPid:\t{parent}\nCpus_allowed_list:\t{cpus}\n"
            (place / "status").write_text(status)
            (place / "stat").write_text(STAT.format(tid=tid, comm=comm, cpu=cpus.partition("-")[0]))
        (task / "schedstat").write_text("0 0 0\n")

    def run(self, _: float) -> None:
        for (pid, tid), ran_ns in self.runs_ns.items():
            path = self.folder / str(pid) / "task" / str(tid) / "schedstat"
            path.write_text(f"{ran_ns} 0 7\n")

    def loops_on(self, *cpus: int) -> tuple[FoundLoop, ...]:
        return loops_on(cpus, self.folder, self.run)


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proc:
    # A reading takes no time here, so that a loop has run all of it.
    times = iter(range(0, 10 * TENTH_NS, TENTH_NS))
    monkeypatch.setattr(
        time, "monotonic_ns", in_this_thread(time.monotonic_ns, lambda: next(times))
    )
    return Proc(tmp_path)


def test_loops_are_found_by_what_dpdk_ovs_and_vpp_call_them(proc: Proc) -> None:
    proc.add(10, 10, "dpdk-testpmd", "0-3")
    proc.add(10, 11, "dpdk-worker1", "2", TENTH_NS)
    proc.add(20, 20, "ovs-vswitchd", "0-3")
    proc.add(20, 21, "pmd-c03/id:9", "3", TENTH_NS)
    proc.add(30, 30, "vpp_main", "1")
    proc.add(30, 31, "vpp_wk_0", "4", TENTH_NS)
    assert proc.loops_on(2, 3, 4) == (
        FoundLoop("dpdk-testpmd", 2, 11),
        FoundLoop("ovs-vswitchd", 3, 21),
        FoundLoop("vpp_main", 4, 31),
    )


def test_other_loops_are_found_by_where_alone_they_may_run(proc: Proc) -> None:
    proc.add(10, 10, "forwarder", "0-3")
    proc.add(10, 11, "fastpath", "2", TENTH_NS)
    proc.add(10, 12, "monitor", "2", 1000)
    proc.add(40, 40, "elsewhere", "1", TENTH_NS)
    assert proc.loops_on(2) == (FoundLoop("forwarder", 2, 11),)


def test_one_that_slept_when_it_was_looked_at_is_away_only_while_it_could_run(proc: Proc) -> None:
    proc.add(10, 10, "forwarder", "2", 1000)
    assert proc.loops_on(2) == (FoundLoop("forwarder", 2, 10, sleeps=True),)


def test_a_name_counts_more_than_time(proc: Proc) -> None:
    """While no frame comes a thief may have had the CPU all the time."""
    proc.add(10, 10, "dpdk-testpmd", "0-3")
    proc.add(10, 11, "rte-worker-2", "2", 10)
    proc.add(50, 50, "thief", "2", TENTH_NS)
    assert [each.thread_id for each in proc.loops_on(2)] == [11]
    assert not proc.loops_on(2)[0].sleeps


def test_threads_of_the_kernel_and_our_own_are_none(proc: Proc) -> None:
    proc.add(2, 2, "kthreadd", "0-3", parent=0)
    proc.add(18, 18, "ksoftirqd/2", "2", TENTH_NS, parent=2)
    proc.add(os.getpid(), os.getpid(), "plimsoll-observe", "2", TENTH_NS)
    assert proc.loops_on(2) == ()


def test_a_cpu_on_which_nothing_polls_has_none(proc: Proc) -> None:
    proc.add(10, 10, "dpdk-testpmd", "0-3")
    proc.add(10, 11, "dpdk-worker1", "2", TENTH_NS)
    assert proc.loops_on(3) == ()
    assert proc.loops_on() == ()
