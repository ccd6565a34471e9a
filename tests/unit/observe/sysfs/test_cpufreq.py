from pathlib import Path

import pytest

from plimsoll.observe.reading.observer import NotObservable
from plimsoll.observe.sysfs.cpufreq import Cpufreq
from tests.unit.observe.cpu_tree import CpuTree, write
from tests.unit.observe.watched import Watched


@pytest.fixture
def tree(tmp_path: Path) -> CpuTree:
    tree = CpuTree(tmp_path, cpus=4)
    for cpu in range(4):
        tree.frequency((cpu,), 2_000_000 + cpu)
    return tree


def test_whole_megahertz_are_reported_by_cpu(tree: CpuTree) -> None:
    cpufreq = Watched(Cpufreq, tree.host())
    tree.frequency((1,), 3_599_640)
    cpufreq.read()
    tree.frequency((1,), 800_000)
    rows = cpufreq.read()
    assert rows.values("MHz", num="1", package="0") == [3600, 800]
    assert rows.values("MHz", num="3", package="1") == [2000]
    assert rows.times("MHz", num="3") == [(0, 2)]


def test_polled_cpus_are_read_where_that_interrupts_none(tree: CpuTree) -> None:
    rows = Watched(Cpufreq, tree.host(polled_cpus=[2, 3])).read()
    assert {row.names["num"] for row in rows.matching("MHz")} == {"0", "1", "2", "3"}


@pytest.mark.parametrize("release", ["5.18.19", "5.14.0-570.el9.x86_64", "4.18.0", "odd"])
def test_kernels_that_interrupt_a_cpu_to_read_it_are_not_queried(
    release: str, tree: CpuTree
) -> None:
    write(tree.files.proc / "sys/kernel/osrelease", release)
    with pytest.raises(NotObservable, match=f"kernel {release} interrupts a CPU .* 5.19"):
        Watched(Cpufreq, tree.host())


@pytest.mark.parametrize("release", ["5.19.0", "6.1.0-28-amd64", "10.0.1"])
def test_later_kernels_are_queried(release: str, tree: CpuTree) -> None:
    write(tree.files.proc / "sys/kernel/osrelease", release)
    assert len(Watched(Cpufreq, tree.host()).read().matching("MHz")) == 4


def test_other_processors_are_read_on_any_kernel(tree: CpuTree) -> None:
    write(tree.files.proc / "sys/kernel/osrelease", "5.14.0-570.el9.aarch64")
    tree.write("modalias", "cpu:type:aarch64:feature:,0000,0001")
    tree.write("nohz_full", "1-3")
    assert len(Watched(Cpufreq, tree.host()).read().matching("MHz")) == 4


def test_cpus_without_a_tick_do_not_know_their_frequency(tree: CpuTree) -> None:
    tree.write("nohz_full", "1,3")
    rows = Watched(Cpufreq, tree.host()).read()
    assert {row.names["num"] for row in rows.matching("MHz")} == {"0", "2"}


def test_cpus_of_one_policy_have_one_frequency(tmp_path: Path) -> None:
    tree = CpuTree(tmp_path, cpus=4)
    tree.frequency((0, 1), 1_000_000)
    tree.frequency((2, 3), 2_500_000)
    rows = Watched(Cpufreq, tree.host()).read()
    assert {row.names["num"]: row.value for row in rows.matching("MHz")} == {
        "0": 1000, "1": 1000, "2": 2500, "3": 2500,
    }  # fmt: skip


def test_a_cpu_whose_frequency_is_not_known_any_more_is_absent(tree: CpuTree) -> None:
    cpufreq = Watched(Cpufreq, tree.host())
    cpufreq.read()
    tree.frequency((1,), "<unknown>")
    cpufreq.read()
    rows = cpufreq.read()
    assert rows.times("MHz", num="1") == [(0, 1)]
    assert rows.times("MHz", num="0") == [(0, 3)]


def test_a_host_without_cpufreq_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotObservable, match="no cpufreq driver"):
        Watched(Cpufreq, CpuTree(tmp_path, cpus=2).host())
