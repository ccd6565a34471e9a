"""Counters of resctrl groups, from mon_data as the kernel's documentation lays it out."""

from pathlib import Path

import pytest

from plimsoll.observe.reading.observer import NotObservable
from plimsoll.observe.sysfs.resctrl import ResctrlCounters
from tests.unit.observe.cpu_tree import CpuTree
from tests.unit.observe.watched import Watched


class Group:
    """One with two L3 caches, 0 and 1; counts in bytes."""

    def __init__(self, root: Path, name: str) -> None:
        self.folder = root / name
        for cache in (0, 1):
            self.count(cache, 4096, 1000, 600)

    def count(self, cache: int, occupancy: int | str, total: int | str, local: int | str) -> None:
        domain = self.folder / f"mon_data/mon_L3_{cache:02d}"
        domain.mkdir(parents=True, exist_ok=True)
        counts = {"llc_occupancy": occupancy, "mbm_total_bytes": total, "mbm_local_bytes": local}
        for event, value in counts.items():
            (domain / event).write_text(f"{value}\n")


@pytest.fixture
def tree(tmp_path: Path) -> CpuTree:
    """Eight CPUs, of which four share each L3."""
    tree = CpuTree(tmp_path, cpus=8)
    for cpu in range(8):
        for index, level in enumerate((1, 1, 2, 3)):
            tree.write(f"cpu{cpu}/cache/index{index}/level", level)
            tree.write(f"cpu{cpu}/cache/index{index}/id", cpu // 4 if level == 3 else cpu)
    return tree


@pytest.fixture
def group(tmp_path: Path) -> Group:
    return Group(tmp_path / "resctrl", "plimsoll-run-1-neighbours")


def watched(tree: CpuTree, group: Group, *polled: int) -> Watched:
    return Watched(
        ResctrlCounters, tree.host(polled_cpus=polled, resctrl={"noise": str(group.folder)})
    )


def test_occupancy_is_a_value_and_bandwidth_is_counted(tree: CpuTree, group: Group) -> None:
    observer = watched(tree, group)
    group.count(0, 8192, 4000, 1600)
    rows = observer.read()
    first = {"group": "noise", "cache": "0"}
    assert rows.values("llc-occupancy-bytes", **first) == [8192]
    assert rows.counts("mbm-total-bytes-sec", **first) == [3000]
    assert rows.counts("mbm-local-bytes-sec", **first) == [1000]
    assert rows.values("llc-occupancy-bytes", group="noise", cache="1") == [4096]
    assert rows.counts("mbm-total-bytes-sec", group="noise", cache="1") == [0]


def test_what_the_hardware_cannot_tell_is_absent(tree: CpuTree, group: Group) -> None:
    observer = watched(tree, group)
    group.count(1, "Unavailable", "Unavailable", "Error")
    observer.read()
    group.count(1, 64, 5000, 700)
    observer.read()
    group.count(1, 64, 5300, 700)
    rows = observer.read()
    second = {"group": "noise", "cache": "1"}
    # What was counted up to the first reading after it is not known.
    assert rows.times("mbm-total-bytes-sec", **second) == [(2, 3)]
    assert rows.counts("mbm-total-bytes-sec", **second) == [300]
    assert rows.times("llc-occupancy-bytes", **second) == [(1, 3)]


def test_a_cache_of_cpus_under_test_is_not_read(tree: CpuTree, group: Group) -> None:
    rows = watched(tree, group, 5).read()
    assert {row.names["cache"] for row in rows.rows} == {"0"}


def test_cpus_without_a_tick_are_spared_by_the_kernel(tree: CpuTree, group: Group) -> None:
    tree.write("nohz_full", "4-6")
    rows = watched(tree, group, 5).read()
    assert {row.names["cache"] for row in rows.rows} == {"0", "1"}


@pytest.mark.parametrize(
    ("polled", "groups", "why"),
    [
        ((), False, "the experiment has no resctrl groups"),
        ((2, 5), True, "reading the counters could interrupt CPU 2,5, under test"),
    ],
)
def test_what_is_not_read_says_why(
    tree: CpuTree, group: Group, polled: tuple[int, ...], groups: bool, why: str
) -> None:
    resctrl = {"noise": str(group.folder)} if groups else {}
    with pytest.raises(NotObservable, match=why):
        Watched(ResctrlCounters, tree.host(polled_cpus=polled, resctrl=resctrl))


def test_a_cpu_that_counts_nothing_is_named(tree: CpuTree, tmp_path: Path) -> None:
    (tmp_path / "silent").mkdir()
    with pytest.raises(NotObservable, match="does not count for resctrl groups"):
        Watched(ResctrlCounters, tree.host(resctrl={"noise": str(tmp_path / "silent")}))
