"""Who had the polled CPUs, by a /proc of our own that changes between two readings."""

import os
from pathlib import Path

from plimsoll.record.trials.trial_parts import (
    OtherProcessRecord,
    PollingThreadRecord,
    ScheduleRecord,
)
from plimsoll.trial.running.schedule_watch import ScheduleWatch

MS = 1_000_000
STAT = (
    "1 ({comm}) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 5 1 2 3 4 5 6 7 8 9 10 11 12 13 "
    "14 15 17 {cpu} 0 0 0 0\n"
)


def _task(
    folder: Path, comm: str, cpu: int, counts: tuple[int, int, int], *, cpus: str = "0-1"
) -> None:
    """`counts` are ns run, ns waited, and slices; as often it is taken off its CPU."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "comm").write_text(f"{comm}\n")
    (folder / "stat").write_text(STAT.format(comm=comm, threads=1, cpu=cpu))
    switches = f"nonvoluntary_ctxt_switches:\t{counts[2]}\n"
    (folder / "status").write_text(f"Cpus_allowed_list:\t{cpus}\n{switches}")
    (folder / "schedstat").write_text("{} {} {}\n".format(*counts))


def _engine(proc: Path, counts: tuple[int, int, int]) -> None:
    _task(proc / "10", "plimsoll-engine", 0, (0, 0, 0))
    _task(proc / "10/task/11", "rte-worker-1", 0, counts, cpus="0")


def test_the_loops_waits_and_what_ran_then(tmp_path: Path) -> None:
    _engine(tmp_path, (100 * MS, 10 * MS, 5))
    _task(tmp_path / "20", "java", 0, (900 * MS, 0, 100), cpus="0")
    _task(tmp_path / "21", "elsewhere", 1, (0, 0, 0))
    _task(tmp_path / "22", "idle", 0, (7 * MS, 0, 9))
    _task(tmp_path / "24", "former", 0, (800 * MS, 0, 9))
    watch = ScheduleWatch({"tester": 10}, tmp_path)
    _engine(tmp_path, (1100 * MS, 60 * MS, 25))
    _task(tmp_path / "20", "java", 0, (950 * MS, 0, 140), cpus="0")
    _task(tmp_path / "21", "elsewhere", 1, (500 * MS, 0, 10))
    _task(tmp_path / "22", "idle", 0, (7 * MS, 0, 10))
    _task(tmp_path / "23", "new", 0, (30 * MS, 0, 3))
    # Another process has the pid by now.
    _task(tmp_path / "24", "latter", 0, (2 * MS, 0, 1))
    _task(tmp_path / str(os.getpid()), "python", 0, (1 * MS, 0, 2))
    found = watch.ended()
    assert found is not None
    thread = PollingThreadRecord(
        process="tester",
        pid=10,
        tid=11,
        cpu=0,
        run_ns=1000 * MS,
        wait_ns=50 * MS,
        slices=20,
        involuntary_switches=20,
        last_cpu=0,
    )

    def other(comm: str, pid: int, run_ms: int, slices: int, pinned: bool) -> OtherProcessRecord:
        return OtherProcessRecord(
            comm=comm, pid=pid, cpu=0, pinned=pinned, run_ns=run_ms * MS, slices=slices
        )

    assert found == ScheduleRecord(
        watched_s=found.watched_s,
        threads=(thread,),
        others=(
            other("java", 20, 50, 40, pinned=True),
            other("new", 23, 30, 3, pinned=False),
            other("latter", 24, 2, 1, pinned=False),
            other("plimsoll", os.getpid(), 1, 2, pinned=False),
        ),
    )


def test_where_nothing_polls_there_is_nothing_to_say(tmp_path: Path) -> None:
    _task(tmp_path / "20", "java", 0, (1, 2, 3))
    assert ScheduleWatch({}, tmp_path).ended() is None
    assert ScheduleWatch({"tester": 99}, tmp_path).ended() is None


def test_a_loop_that_ended_in_between_is_left_out(tmp_path: Path) -> None:
    _engine(tmp_path, (1, 2, 3))
    watch = ScheduleWatch({"tester": 10}, tmp_path)
    (tmp_path / "10/task/11/schedstat").unlink()
    assert watch.ended() is None


def test_a_loop_that_was_moved_has_the_cpu_that_it_ended_on(tmp_path: Path) -> None:
    _task(tmp_path / "30", "dpdk-testpmd", 1, (0, 0, 0))
    _task(tmp_path / "30/task/31", "rte-worker-1", 1, (0, 0, 0), cpus="0-1")
    watch = ScheduleWatch({"testpmd": 30}, tmp_path)
    _task(tmp_path / "30/task/31", "rte-worker-1", 0, (900 * MS, 0, 2), cpus="0-1")
    found = watch.ended()
    assert found is not None
    (thread,) = found.threads
    assert (thread.cpu, thread.last_cpu) == (1, 0)
