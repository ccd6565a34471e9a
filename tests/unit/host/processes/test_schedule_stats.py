import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.host.processes.schedule_stats import (
    RunningProcess,
    ThreadSchedule,
    parse_schedstat,
    parse_stat,
    pinned_to,
    polling_threads,
    read_thread,
    running_processes,
    status_field,
)

# As proc(5) numbers them: 2 the command, 14 and 15 the ticks, 20 the threads, 39 the CPU.
STAT = (
    "812 (a) b (c)) R 1 812 812 0 -1 4194560 99 0 0 0 1201 34 0 0 20 0 {threads} 0 5000 1 2 3 "
    "4 5 6 7 8 9 10 11 12 13 14 15 17 {cpu} 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)
STATUS = "Name:\tjava\nCpus_allowed_list:\t{cpus}\nnonvoluntary_ctxt_switches:\t{switches}\n"

CHURN = "while True: pass"


def a_task(folder: Path, comm: str, cpus: str, schedstat: str, *, cpu: int = 0) -> None:
    folder.mkdir(parents=True)
    (folder / "comm").write_text(f"{comm}\n")
    (folder / "stat").write_text(STAT.format(threads=1, cpu=cpu))
    (folder / "status").write_text(STATUS.format(cpus=cpus, switches=17))
    (folder / "schedstat").write_text(schedstat)


def test_a_schedstat_is_time_on_the_cpu_time_waiting_and_slices() -> None:
    assert parse_schedstat("36030681 47160281 105\n") == (36030681, 47160281, 105)


@pytest.mark.parametrize("text", ["", "1 2", "1 2 3 4", "a b c"])
def test_another_schedstat_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unpack|invalid literal"):
        parse_schedstat(text)


def test_a_command_may_hold_blanks_and_parentheses() -> None:
    stat = parse_stat(STAT.format(threads=7, cpu=3))
    assert stat == ("a) b (c)", 7, 3, 1235)


@pytest.mark.parametrize("text", ["", "812 (java) R 1 2", "no parentheses at all"])
def test_another_stat_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a stat file"):
        parse_stat(text)


def test_a_status_line_is_found_by_its_whole_name() -> None:
    text = "voluntary_ctxt_switches:\t78\nnonvoluntary_ctxt_switches:\t27\n"
    assert status_field(text, "voluntary_ctxt_switches") == "78"
    assert status_field(text, "ctxt_switches") is None


def test_what_was_added_between_two_readings() -> None:
    before = ThreadSchedule(100, 20, 3, 1)
    assert ThreadSchedule(150, 25, 9, 4).since(before) == ThreadSchedule(50, 5, 6, 3)


def test_a_threads_totals(tmp_path: Path) -> None:
    a_task(tmp_path / "5/task/6", "rte-worker-1", "1", "10 20 30\n")
    assert read_thread(5, 6, tmp_path) == ThreadSchedule(10, 20, 30, 17)
    assert read_thread(5, 7, tmp_path) is None


def test_a_thread_without_schedstat_has_none(tmp_path: Path) -> None:
    a_task(tmp_path / "5/task/6", "rte-worker-1", "1", "not counted\n")
    assert read_thread(5, 6, tmp_path) is None


def test_polling_threads_are_those_that_dpdk_and_switches_name_so(tmp_path: Path) -> None:
    tasks = tmp_path / "5/task"
    a_task(tasks / "5", "dpdk-testpmd", "0-1", "0 0 0")
    a_task(tasks / "6", "rte-worker-3", "3", "0 0 0")
    a_task(tasks / "7", "lcore-worker-2", "2", "0 0 0")
    a_task(tasks / "8", "dpdk-worker4", "0,4", "0 0 0", cpu=4)
    a_task(tasks / "9", "rte_mp_handle", "0-1", "0 0 0")
    a_task(tasks / "10", "pmd-c01/id:3", "1", "0 0 0")
    a_task(tasks / "11", "handler12", "0-1", "0 0 0")
    a_task(tasks / "12", "vpp_wk_0", "5", "0 0 0")
    assert polling_threads(5, tmp_path) == {6: 3, 7: 2, 8: 4, 10: 1, 12: 5}


def test_a_process_that_is_gone_polls_nothing(tmp_path: Path) -> None:
    assert polling_threads(5, tmp_path) == {}


def test_a_process_is_all_its_threads(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    a_task(tmp_path / "5", "one", "0-1", "10 0 3", cpu=1)
    a_task(tmp_path / "6", "two", "0-1", "999 0 999")
    (tmp_path / "6/stat").write_text(STAT.format(threads=2, cpu=0))
    a_task(tmp_path / "6/task/6", "two", "0-1", "100 0 1")
    a_task(tmp_path / "6/task/7", "two", "0-1", "200 0 2")
    assert running_processes(tmp_path) == {
        5: RunningProcess("a) b (c)", 10, 3, 1),
        6: RunningProcess("a) b (c)", 300, 3, 0),
    }


def test_without_schedstat_a_process_is_counted_in_clock_ticks(tmp_path: Path) -> None:
    a_task(tmp_path / "5", "one", "0-1", "")
    (tmp_path / "5/schedstat").unlink()
    ticks_ns = 1235 * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert running_processes(tmp_path) == {5: RunningProcess("a) b (c)", ticks_ns, 0, 0)}


@pytest.fixture
def churner() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", CHURN])
    yield process
    process.kill()
    process.wait()


def test_a_busy_process_is_seen_to_run_on_its_cpu(churner: subprocess.Popen[bytes]) -> None:
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(churner.pid, {cpu})
    before = running_processes()[churner.pid]
    while running_processes()[churner.pid].run_ns < before.run_ns + 10_000_000:
        pass
    after = running_processes()[churner.pid]
    assert after.comm == Path(sys.executable).resolve().name[:15] or after.comm.startswith("python")
    assert after.cpu == cpu
    assert pinned_to(churner.pid) == cpu
    schedule = read_thread(churner.pid, churner.pid)
    assert schedule is not None
    assert schedule.run_ns >= after.run_ns
