"""Shares of CPU time, by hand-written /proc/stat."""

from pathlib import Path

import pytest

from plimsoll.observe.procfs.mpstat import Mpstat
from plimsoll.observe.reading.host_files import HostFiles
from plimsoll.observe.reading.observer import ObservedHost
from tests.unit.observe.watched import Watched


def stat(*cpus: str) -> str:
    return (
        "cpu 1 1 1 1 1 1 1 1 1 1\n" + "".join(f"{cpu}\n" for cpu in cpus) + "intr 9 1 2\nctxt 4\n"
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "proc").mkdir()
    return tmp_path


def watched(tree: Path) -> Watched:
    files = HostFiles(tree / "proc", tree / "sys")
    return Watched(Mpstat, ObservedHost(files))


def test_shares_are_of_the_time_that_passed(tree: Path) -> None:
    file = tree / "proc/stat"
    #                     user nice sys idle iowait irq soft steal guest gnice
    file.write_text(stat("cpu0 1000 0 50 9000 3 0 7 0 0 0", "cpu1 10 0 0 90 0 0 0 0 0 0"))
    mpstat = watched(tree)
    # CPU 0: 60 user, 20 system, 10 idle, 5 irq, 5 steal of 100; CPU 1: all user.
    file.write_text(stat("cpu0 1060 0 70 9010 3 5 7 5 0 0", "cpu1 110 0 0 90 0 0 0 0 0 0"))
    rows = mpstat.read()
    assert rows.of("Busy-CPU", num="0") == {
        "usr": 0.6, "nice": 0, "sys": 0.2, "irq": 0.05, "soft": 0, "steal": 0.05,
        "guest": 0, "gnice": 0,
    }  # fmt: skip
    assert rows.of("NonBusy-CPU", num="0") == {"idle": 0.1, "iowait": 0}
    assert rows.of("Busy-CPU", num="1")["usr"] == 1


def test_guests_time_is_not_counted_twice(tree: Path) -> None:
    file = tree / "proc/stat"
    file.write_text(stat("cpu0 0 0 0 0 0 0 0 0 0 0"))
    mpstat = watched(tree)
    # The kernel counts the 30 of the guest in user, and the 10 of the niced one in nice.
    file.write_text(stat("cpu0 40 20 0 40 0 0 0 0 30 10"))
    busy = mpstat.read().of("Busy-CPU", num="0")
    assert busy["usr"] == pytest.approx(0.1)
    assert busy["guest"] == pytest.approx(0.3)
    assert busy["nice"] == pytest.approx(0.1)
    assert busy["gnice"] == pytest.approx(0.1)


def test_a_cpu_that_goes_offline_is_absent_and_comes_back(tree: Path) -> None:
    file = tree / "proc/stat"
    file.write_text(stat("cpu0 0 0 0 0 0 0 0 0 0 0", "cpu1 0 0 0 0 0 0 0 0 0 0"))
    mpstat = watched(tree)
    file.write_text(stat("cpu0 10 0 0 0 0 0 0 0 0 0"))
    mpstat.read()
    file.write_text(stat("cpu0 20 0 0 0 0 0 0 0 0 0", "cpu1 5 0 0 0 0 0 0 0 0 0"))
    mpstat.read()
    file.write_text(stat("cpu0 30 0 0 0 0 0 0 0 0 0", "cpu1 5 0 0 10 0 0 0 0 0 0"))
    rows = mpstat.read()
    assert rows.times("NonBusy-CPU", num="1", type="idle") == [(2, 3)]
    assert rows.times("Busy-CPU", num="0", type="usr") == [(0, 3)]


def test_where_a_cpu_sits_is_in_its_names(tree: Path) -> None:
    topology = tree / "sys/devices/system/cpu/cpu21/topology"
    topology.mkdir(parents=True)
    for name, value in (
        ("physical_package_id", "1"),
        ("die_id", "0"),
        ("core_id", "9"),
        ("thread_siblings_list", "1,21"),
    ):
        (topology / name).write_text(value + "\n")
    (tree / "proc/stat").write_text(stat("cpu21 0 0 0 0 0 0 0 0 0 0"))
    mpstat = watched(tree)
    (tree / "proc/stat").write_text(stat("cpu21 1 0 0 0 0 0 0 0 0 0"))
    names = mpstat.read().rows[0].names
    assert {key: names[key] for key in ("num", "package", "die", "core", "thread")} == {
        "num": "21", "package": "1", "die": "0", "core": "9", "thread": "1",
    }  # fmt: skip


def test_the_live_host_has_shares_that_add_up() -> None:
    live = Watched(Mpstat, ObservedHost())
    total = sum(range(3_000_000))  # Some work, so that clock ticks pass.
    rows = live.read()
    while not rows.rows:
        total += sum(range(1_000_000))
        rows = live.read()
    assert total > 0
    by_cpu: dict[str, float] = {}
    for row in rows.rows:
        by_cpu[row.names["num"]] = by_cpu.get(row.names["num"], 0) + row.value
    assert all(share == pytest.approx(1) for share in by_cpu.values())
