from pathlib import Path

import pytest

from plimsoll.observe.reading.observer import NotObservable
from plimsoll.observe.sysfs.cpuidle import Cpuidle
from tests.unit.observe.cpu_tree import STATES, CpuTree
from tests.unit.observe.watched import Watched


@pytest.fixture
def tree(tmp_path: Path) -> CpuTree:
    tree = CpuTree(tmp_path, cpus=40)
    for cpu in range(40):
        for state in range(len(STATES)):
            tree.idle(cpu, state, entries=1000 * cpu, usec=10**6 * cpu)
    return tree


def test_time_and_entries_are_reported_by_state(tree: CpuTree) -> None:
    cpuidle = Watched(Cpuidle, tree.host())
    tree.idle(7, 1, entries=7_100, usec=7_250_000)
    tree.idle(7, 4, entries=7_020, usec=7_600_000)
    rows = cpuidle.read()
    assert rows.values("residency", num="7", state="C1") == [0.25]
    assert rows.values("residency", num="7", state="C6") == [0.6]
    assert rows.counts("residency", num="7", state="C6") == [600_000]
    assert rows.counts("entries-sec", num="7", state="C1") == [100]
    assert rows.counts("entries-sec", num="7", state="POLL") == [0]
    assert dict(rows.matching("residency", num="7", state="C1")[0].names) == {
        "hostname": "host", "cstype": "profiler", "num": "7", "package": "0", "core": "7",
        "thread": "0", "state": "C1",
    }  # fmt: skip


def test_all_states_of_all_cpus_are_there(tree: CpuTree) -> None:
    rows = Watched(Cpuidle, tree.host()).read()
    assert len(rows.matching("residency")) == len(rows.matching("entries-sec")) == 40 * 5
    assert {row.value for row in rows.rows} == {0}


def test_a_stay_counts_in_the_second_in_which_it_ends(tree: CpuTree) -> None:
    cpuidle = Watched(Cpuidle, tree.host())
    cpuidle.read()
    tree.idle(3, 4, entries=3_001, usec=3_000_000 + 2_500_000)
    rows = cpuidle.read()
    assert rows.values("residency", num="3", state="C6") == [0, 2.5]


def test_a_cpu_that_goes_offline_is_absent(tree: CpuTree, monkeypatch: pytest.MonkeyPatch) -> None:
    cpuidle = Watched(Cpuidle, tree.host())
    cpuidle.read()
    tree.remove("cpu7/cpuidle", monkeypatch)
    cpuidle.read()
    rows = cpuidle.read()
    assert rows.times("residency", num="7", state="C6") == [(0, 1)]
    assert rows.times("entries-sec", num="7", state="C6") == [(0, 1)]
    assert rows.times("residency", num="8", state="C6") == [(0, 3)]


def test_a_guest_that_cannot_idle_says_so(tmp_path: Path) -> None:
    tree = CpuTree(tmp_path, cpus=2)
    with pytest.raises(NotObservable, match=r"no idle states of its own.*a guest.*idle=poll"):
        Watched(Cpuidle, tree.host())
