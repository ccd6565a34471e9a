"""Check 31. Formats: Linux, Documentation/admin-guide/mm/hugetlbpage.rst."""

from typing import Any

from plimsoll.tune.audit.checks.hugepages import CHECK
from plimsoll.tune.host.capture.capture import CapturedHost
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.processes import KTHREADD, process
from tests.worded.says import Says

NODE = "/sys/devices/system/node"
GIB_KB = 1 << 20


def machine(cards_node: str = "0") -> dict[str, str]:
    """Two nodes, CPUs 0-3 and 4-7, a card on one of them."""
    return {
        "/sys/devices/system/cpu/online": "0-7\n",
        f"{NODE}/online": "0-1\n",
        f"{NODE}/node0/cpulist": "0-3\n",
        f"{NODE}/node1/cpulist": "4-7\n",
        "/sys/class/net/ens7f0/device/numa_node": f"{cards_node}\n",
    }


def pool(node: int, total: int, free: int, page_kb: int = GIB_KB) -> dict[str, str]:
    folder = f"{NODE}/node{node}/hugepages/hugepages-{page_kb}kB"
    return {f"{folder}/nr_hugepages": f"{total}\n", f"{folder}/free_hugepages": f"{free}\n"}


def requested(**pages: Any) -> Any:
    return intent(
        hugepages={"default_size": "1G", "pages": [{"size": "1G", "count": 4} | pages]},
        nics=[{"name": "east", "pf_names": ["ens7f0"]}],
    )


def test_all_there_and_free_on_the_cards_node_is_ok() -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 4, 2) | pool(1, 0, 0)), requested(node=0))
    assert finding.verdict == "ok"


def test_too_few_fail(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 1, 1) | pool(1, 2, 2)), requested())
    assert finding.verdict == "fail"
    # 1 on node 0 and 2 on node 1.
    assert finding.text == says("3", "1G", "4")


def test_pages_on_the_other_node_fail(says: Says) -> None:
    view = host(CHECK, machine(cards_node="1") | pool(0, 4, 4) | pool(1, 0, 0))
    finding = CHECK.judge(view, requested(node=0))
    assert finding.verdict == "fail"
    assert finding.text == says("1G", "1", "ens7f0")


def test_the_node_of_a_virtio_card_is_its_functions(says: Says) -> None:
    """The interface's device is virtio's, one directory below the PCI function."""
    address = "0000:11:00.0"
    files = machine() | pool(0, 4, 4) | pool(1, 0, 0)
    del files["/sys/class/net/ens7f0/device/numa_node"]
    files |= {
        "/sys/class/net/ens7f0/mtu": "1500\n",
        f"/sys/bus/pci/devices/{address}/numa_node": "1\n",
    }
    path = f"../../devices/pci0000:10/0000:10:00.0/{address}/virtio0/net/ens7f0"
    view = host(CHECK, files, links={"/sys/class/net/ens7f0": path})
    finding = CHECK.judge(view, requested(node=0))
    assert finding.verdict == "fail"
    assert finding.text == says("1G", "1", "ens7f0")


def test_a_capture_without_links_falls_back_to_the_isolated_cpus(says: Says) -> None:
    files = machine() | pool(0, 4, 4) | pool(1, 0, 0) | {"/sys/class/net/ens7f0/mtu": "1500\n"}
    del files["/sys/class/net/ens7f0/device/numa_node"]
    finding = CHECK.judge(CapturedHost(files=files, collected=CHECK.reads), requested(node=0))
    assert finding.text == says("1G", "1")


def test_large_pages_of_a_node_are_no_argument() -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 0, 0)), requested(node=0))
    assert any("nr_hugepages of node 0" in step.text for step in finding.steps)


def test_large_pages_of_any_node_are_arguments_all_at_once(says: Says) -> None:
    """Alone default_hugepagesz=1G sets none aside: hugetlbpage.rst."""
    wrong = {"/proc/meminfo": "MemTotal: 65536000 kB\nHugepagesize:       2048 kB\n"}
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 0, 0) | wrong), requested())
    assert finding.text == says("0", "hugepages", "1G", "4", "2048", "kB", "ens7f0")
    # A node is no matter where there are none on any.
    assert [step.text for step in finding.steps] == [
        "grubby --update-kernel=ALL '--args=default_hugepagesz=1G hugepagesz=1G hugepages=4'"
    ]


def test_pages_that_are_all_on_another_node_are_to_be_requested_for_by_node(says: Says) -> None:
    view = host(CHECK, machine(cards_node="1") | pool(0, 4, 4) | pool(1, 0, 0))
    finding = CHECK.judge(view, requested())
    assert [step.text for step in finding.steps] == [says("1")]
    assert CHECK.judge(view, requested(node=0)).steps[0].text == says("1")


def holding(pid: int, comm: str, kib: int) -> dict[str, str]:
    files = process(pid, comm)
    status = f"/proc/{pid}/task/{pid}/status"
    return files | {status: f"Name:\t{comm}\nHugetlbPages:\t {kib} kB\n"}


TAKEN = machine() | pool(0, 4, 0) | KTHREADD


def test_pages_of_a_run_that_died_are_warned_of(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, TAKEN | holding(900, "bash", 0)), requested(node=0))
    assert finding.verdict == "warn"
    assert finding.text == says("4", "1G", "0")


def test_pages_that_the_workload_holds_are_where_they_belong(says: Says) -> None:
    expected = requested(node=0).model_copy(update={"expected_processes": ("dpdk-testpmd",)})
    files = TAKEN | holding(900, "dpdk-testpmd", 4 * GIB_KB)
    finding = CHECK.judge(host(CHECK, files), expected)
    assert finding.verdict == "ok"
    assert finding.text == says("4", "1G", "0", "dpdk-testpmd", "900")


def test_pages_that_a_stranger_holds_are_warned_of_by_name() -> None:
    files = TAKEN | holding(900, "qemu-kvm", 3 * GIB_KB) | holding(901, "vpp", GIB_KB)
    finding = CHECK.judge(host(CHECK, files), requested(node=0))
    assert finding.verdict == "warn"
    assert finding.text.endswith(": held by qemu-kvm (900), vpp (901)")


def test_who_holds_them_is_unknown_where_processes_do_not_show() -> None:
    assert (
        CHECK.judge(host(CHECK, machine() | pool(0, 4, 0)), requested(node=0)).verdict == "unknown"
    )


def test_one_page_is_one(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 1, 1)), requested(node=0, count=1))
    assert finding.text == says("1", "1G", "0")


def test_small_pages_can_be_set_aside_at_once() -> None:
    expected = intent(hugepages={"default_size": "2M", "pages": [{"size": "2M", "count": 512}]})
    single = {"/sys/devices/system/cpu/online": "0-7", **pool(0, 0, 0, 2048)}
    finding = CHECK.judge(host(CHECK, single), expected)
    assert finding.verdict == "fail"
    folder = f"{NODE}/node0/hugepages/hugepages-2048kB"
    assert commands(finding) == [f"echo 512 > {folder}/nr_hugepages"]


def test_without_cards_the_isolated_cpus_nodes_count(says: Says) -> None:
    expected = intent(hugepages={"default_size": "1G", "pages": [{"size": "1G", "count": 4}]})
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 4, 4) | pool(1, 0, 0)), expected)
    assert finding.text == says("1G", "1")


def test_not_requested_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, machine()), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    free = f"{NODE}/node0/hugepages/hugepages-{GIB_KB}kB/free_hugepages"
    files = machine() | pool(0, 4, 4)
    del files[free]
    assert CHECK.judge(host(CHECK, files, forbidden=[free]), requested(node=0)).verdict == "unknown"
    assert CHECK.judge(host(CHECK, pool(0, 4, 4)), requested()).verdict == "unknown"


def test_another_default_size_fails(says: Says) -> None:
    """The kernel's own default on x86-64 is 2 MB: hugetlbpage.rst, default_hugepagesz."""
    files = (
        machine() | pool(0, 4, 4) | {"/proc/meminfo": "MemTotal: 1 kB\nHugepagesize:  2048 kB\n"}
    )
    finding = CHECK.judge(host(CHECK, files), requested(node=0))
    assert finding.verdict == "fail"
    assert finding.text == says("2048", "kB")
    assert any("default_hugepagesz=1G" in step.text for step in finding.steps)


def test_the_default_size_as_requested_for_is_ok() -> None:
    files = machine() | pool(0, 4, 4) | {"/proc/meminfo": "Hugepagesize:    1048576 kB\n"}
    assert CHECK.judge(host(CHECK, files), requested(node=0)).verdict == "ok"
