"""VPP's startup configuration, on machines with one memory node and with two."""

from pathlib import Path

import pytest

from plimsoll.dut.userspace.vpp_startup import (
    HUGEPAGES,
    VppCardPorts,
    VppMemifPorts,
    VppPorts,
    VppStartup,
    hugepages_suffice,
    main_cpu,
)
from tests.worded.says import Says


@pytest.fixture
def two_nodes(tmp_path: Path) -> Path:
    """CPU 0 on node 0, which has no free hugepages; CPU 1 on node 1, which has just enough."""
    for node, free in ((0, 0), (1, HUGEPAGES)):
        (tmp_path / f"cpu/cpu{node}/node{node}").mkdir(parents=True)
        pool = tmp_path / f"node/node{node}/hugepages/hugepages-2048kB"
        pool.mkdir(parents=True)
        (pool / "free_hugepages").write_text(f"{free}\n")
    return tmp_path


MACS = ("02:00:01:00:00:01", "02:00:00:00:00:01")
MEMIF = VppMemifPorts(1518, MACS, Path("/run/x/memif.sock"), ring_frames=1024, buffer_bytes=2048)
CARDS = VppCardPorts(1518, MACS, ("0000:86:00.0", "0000:86:00.1"))


def startup(*, huge: bool = False, ports: VppPorts = MEMIF) -> VppStartup:
    return VppStartup(
        *(Path("/run/x/vpp"), 1, 0),
        huge=huge,
        api_prefix="plimsoll-run-1",
        ports=ports,
    )


def test_everything_it_makes_is_of_this_run(tmp_path: Path, says: Says) -> None:
    text = startup().text(tmp_path)
    assert "cli-listen /run/x/vpp/cli.sock runtime-dir /run/x/vpp }" in text
    assert "cpu { main-core 0 corelist-workers 1 }" in text
    assert text == says("memif_plugin.so")
    assert "dpdk" not in text
    assert [str(path) for path in startup().shared_files] == [
        *("/dev/shm/plimsoll-run-1-global_vm", "/dev/shm/plimsoll-run-1-vpe-api"),
    ]


def test_buffers_are_in_hugepages_only_where_the_run_has_them(tmp_path: Path) -> None:
    assert "page-size 4K }" in startup().text(tmp_path)
    assert "page-size 2M }" in startup(huge=True).text(tmp_path)


def test_there_are_buffers_on_the_workers_node_alone(two_nodes: Path) -> None:
    assert "page-size 2M numa 0 { buffers 0 } }" in startup(huge=True).text(two_nodes)


def test_hugepages_count_that_are_on_the_workers_node(two_nodes: Path) -> None:
    assert hugepages_suffice(1, MEMIF.hugepages, two_nodes)
    assert not hugepages_suffice(0, MEMIF.hugepages, two_nodes)


@pytest.mark.parametrize(
    ("free", "suffices"), [((8, HUGEPAGES + 8), True), ((8, HUGEPAGES + 7), False)]
)
def test_dpdk_wants_pages_on_each_node(
    two_nodes: Path, free: tuple[int, int], *, suffices: bool
) -> None:
    assert not hugepages_suffice(1, CARDS.hugepages, two_nodes)
    for node, pages in enumerate(free):
        pool = two_nodes / f"node/node{node}/hugepages/hugepages-2048kB"
        (pool / "free_hugepages").write_text(f"{pages}\n")
    assert hugepages_suffice(1, CARDS.hugepages, two_nodes) is suffices


def test_a_kernel_without_hugepages_has_too_few(tmp_path: Path) -> None:
    assert not hugepages_suffice(1, MEMIF.hugepages, tmp_path)


def test_dpdk_has_the_cards_and_memif_is_off(tmp_path: Path) -> None:
    text = startup(huge=True, ports=CARDS).text(tmp_path)
    assert "plugins { plugin default { disable } plugin dpdk_plugin.so { enable } }" in text
    assert (
        "dpdk { dev 0000:86:00.0 { name port0 num-rx-queues 1 } "
        "dev 0000:86:00.1 { name port1 num-rx-queues 1 } uio-driver vfio-pci }\n"
    ) in text
    assert "memif" not in text


def test_without_hugepages_dpdk_takes_none(tmp_path: Path) -> None:
    text = startup(ports=CARDS).text(tmp_path)
    assert "page-size 4K }" in text
    assert "uio-driver vfio-pci no-hugetlb no-shconf }\n" in text


def test_the_buffers_fit_into_the_pages() -> None:
    """With v26.06 and 19 pages `show buffers` told of 16808 buffers of 2304 bytes."""
    assert HUGEPAGES >= 19


def test_the_main_thread_keeps_off_the_workers_cpu() -> None:
    assert main_cpu(1, {0, 1}) == 0
    assert main_cpu(0, {0, 1, 2}) == 1
    assert main_cpu(1, {1}) is None
