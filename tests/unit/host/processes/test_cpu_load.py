"""What half a second on a captured /proc comes to; the figures are worked out by hand."""

import os
from pathlib import Path

import pytest

from plimsoll.host.processes.schedule_stats import BusyCpu, look_at_cpus
from tests.worded.says import Says

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def write_stat(proc: Path, busy_ticks: dict[int, int], idle_ticks: int = 5000) -> None:
    lines = ["cpu  1 2 3 4 5 6 7 8 9 10"]
    lines += [f"cpu{cpu} {ticks} 0 0 {idle_ticks} 0 0 0 0 0 0" for cpu, ticks in busy_ticks.items()]
    (proc / "stat").write_text("\n".join([*lines, "intr 0"]))


def write_thread(proc: Path, tid: int, comm: str, cpu: int, run_ns: int) -> None:
    """A thread of process 7735."""
    pid = 7735
    stat = f"{tid} ({comm}) R " + " ".join(["0"] * 35) + f" {cpu} 0 0"
    task = proc / str(pid) / "task" / str(tid)
    task.mkdir(parents=True, exist_ok=True)
    (task / "stat").write_text(stat)
    (task / "schedstat").write_text(f"{run_ns} 0 1")
    if pid == tid:
        (proc / str(pid) / "stat").write_text(stat)


def look(
    proc: Path, cpus: tuple[int, ...], after: dict[int, int], ran_ns: int, ours: tuple[int, ...]
) -> tuple[BusyCpu, ...]:
    """A second process, whose thread 7736 runs on CPU 0, besides what `after` says of CPUs."""
    write_stat(proc, {0: 1000, 1: 1000})
    write_thread(proc, 7735, "python (x)", 1, 5)
    write_thread(proc, 7736, "worker", 0, 10)

    def wait(seconds: float) -> None:
        assert seconds == 0.5
        write_stat(proc, after)
        write_thread(proc, 7736, "worker", 0, 10 + ran_ns)

    return look_at_cpus(cpus, ours, proc, wait)


def ticks(seconds: float) -> int:
    return round(seconds * TICKS_A_SECOND)


def test_a_busy_cpu_is_reported_with_its_process(tmp_path: Path, says: Says) -> None:
    after = {0: 1000 + ticks(0.31), 1: 1000 + ticks(0.02)}
    (busy,) = look(tmp_path, (0, 1), after, 310_000_000, ())
    assert (busy.cpu, busy.processes) == (0, (("python (x)", 7735, pytest.approx(0.62)),))
    assert str(busy) == says("0", "62", "python", "7735")


def test_a_cpu_outside_the_question_is_not_reported(tmp_path: Path) -> None:
    assert look(tmp_path, (1,), {0: 1400, 1: 1000}, 310_000_000, ()) == ()


def test_what_our_own_processes_ran_is_not_counted(tmp_path: Path) -> None:
    after = {0: 1000 + ticks(0.31), 1: 1000}
    assert look(tmp_path, (0,), after, 310_000_000, (7735,)) == ()


def test_processes_that_came_and_went_are_counted_without_names(tmp_path: Path, says: Says) -> None:
    after = {0: 1000 + ticks(0.25), 1: 1000}
    (busy,) = look(tmp_path, (0,), after, 0, ())
    assert str(busy) == says("0", "50")


def test_no_cpus_take_no_time(tmp_path: Path) -> None:
    def wait(_: float) -> None:
        raise AssertionError("slept")

    assert look_at_cpus((), (), tmp_path, wait) == ()


def test_this_machine_can_be_looked_at() -> None:
    for busy in look_at_cpus(os.sched_getaffinity(0)):
        assert 0.1 <= busy.share <= 1
        assert os.getpid() not in {pid for _, pid, _ in busy.processes}
