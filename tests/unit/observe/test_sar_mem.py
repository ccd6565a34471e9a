"""Paging, used memory and hugepages."""

from pathlib import Path

import pytest

from plimsoll.observe.agent.agent import Sampler
from plimsoll.observe.procfs.sar_mem_paging import Paging
from plimsoll.observe.procfs.sar_mem_used import MemoryUsed
from plimsoll.observe.reading.host_files import HostFiles
from plimsoll.observe.reading.observer import NotObservable, ObservedHost
from plimsoll.observe.reading.readings import Readings
from plimsoll.observe.sysfs.sar_mem_hugepages import SarMemHugepages
from plimsoll.record.metrics.metric_log import MetricLog
from tests.unit.observe.trees import HostTree
from tests.unit.observe.watched import Watched


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path, cpus=2, interrupts=0)


def test_paging_and_faults_are_counted(tree: HostTree) -> None:
    vmstat = tree.tables.vmstat
    paging = Watched(Paging, ObservedHost(tree.files))
    vmstat["pgpgin"] += 31
    vmstat["pgfault"] += 9000
    vmstat["pgmajfault"] += 2
    tree.write()
    paging.read()
    vmstat["pgpgin"] += 1
    tree.write()
    rows = paging.read()
    assert rows.counts("KB-Paged-in-sec") == [31, 1]
    assert rows.counts("KB-Paged-out-sec") == [0]
    assert rows.counts("Page-faults-sec") == [9000, 0]
    assert rows.counts("Page-major-faults-sec") == [2, 0]
    assert {row.unit for row in rows.matching("KB-Paged-in-sec")} == {"KiB/s"}


def test_a_kernel_that_counts_no_paging_is_not_observable(tree: HostTree) -> None:
    (tree.files.proc / "vmstat").write_text("nr_free_pages 1\n")
    sampler = Sampler(ObservedHost(tree.files), [Paging, MemoryUsed], "host", "trial-0001")
    assert sampler.missing == {"sar-mem paging": f"{tree.files.proc}/vmstat counts no paging"}


def test_used_is_what_is_neither_free_nor_cache(tree: HostTree) -> None:
    used = Watched(MemoryUsed, ObservedHost(tree.files))
    tree.tables.meminfo_kb.update(
        MemTotal=1000, MemFree=300, MemAvailable=900, Buffers=50, Cached=200, Slab=25
    )
    tree.write()
    # 1000 - 300 - 50 - 200 - 25 of 1000.
    assert used.read().values("Memory-Used-Percent") == [42.5]


def test_used_is_never_below_zero(tree: HostTree) -> None:
    used = Watched(MemoryUsed, ObservedHost(tree.files))
    tree.tables.meminfo_kb.update(MemTotal=100, MemFree=90, Buffers=9, Cached=9, Slab=9)
    tree.write()
    assert used.read().values("Memory-Used-Percent") == [0]


def test_memory_without_a_total_ends_it(tree: HostTree) -> None:
    (tree.files.proc / "meminfo").write_text("")
    sampler = Sampler(ObservedHost(tree.files), [MemoryUsed], "host", "trial-0001")
    assert sampler.missing["sar-mem used"].endswith("does not say how much memory there is")


def test_hugepages_are_reported_by_node_and_size(tree: HostTree) -> None:
    pages = Watched(SarMemHugepages, ObservedHost(tree.files))
    pages.read()
    pool = "devices/system/node/node1/hugepages/hugepages-1048576kB"
    tree.set_sys(f"{pool}/free_hugepages", 12)
    rows = pages.read()
    big = {"node": "1", "size": "1048576kB"}
    assert rows.values("Hugepages-Total", **big) == [16]
    assert rows.times("Hugepages-Total", **big) == [(0, 2)]
    assert rows.values("Hugepages-Free", **big) == [16, 12]
    assert rows.values("Hugepages-Total", node="0", size="2048kB") == [0]


def test_without_nodes_hugepages_are_the_hosts(tmp_path: Path) -> None:
    pool = tmp_path / "sys/kernel/mm/hugepages/hugepages-2048kB"
    pool.mkdir(parents=True)
    for name in ("nr_hugepages", "free_hugepages"):
        (pool / name).write_text("512\n")
    files = HostFiles(tmp_path / "proc", tmp_path / "sys")
    rows = Watched(SarMemHugepages, ObservedHost(files)).read()
    assert rows.values("Hugepages-Free", size="2048kB") == [512]
    assert "node" not in rows.rows[0].names


def test_a_kernel_without_hugepages_is_not_observable(tmp_path: Path) -> None:
    host = ObservedHost(HostFiles(tmp_path / "proc", tmp_path / "sys"))
    with pytest.raises(NotObservable, match="the kernel has no hugepages"):
        SarMemHugepages(host, Readings("sar-mem", MetricLog("trial-0001", 0)))
