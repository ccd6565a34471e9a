"""Check 31. Formats: Linux, Documentation/admin-guide/mm/hugetlbpage.rst."""

from typing import Any

from plimsoll.tune.audit.checks.hugepages import CHECK
from plimsoll.tune.host.captured_host import CapturedHost
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

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


def asked(**pages: Any) -> Any:
    return intent(
        hugepages={"default_size": "1G", "pages": [{"size": "1G", "count": 4, **pages}]},
        nics=[{"name": "east", "pf_names": ["ens7f0"]}],
    )


def test_all_there_and_free_on_the_cards_node_is_ok() -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 4, 2) | pool(1, 0, 0)), asked(node=0))
    assert finding.verdict == "ok"


def test_too_few_fail() -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 1, 1) | pool(1, 2, 2)), asked())
    assert finding.verdict == "fail"
    # 1 on node 0 and 2 on node 1.
    assert finding.text == "3 hugepages of 1G, and 4 are wanted"


def test_pages_on_the_other_node_fail() -> None:
    view = host(CHECK, machine(cards_node="1") | pool(0, 4, 4) | pool(1, 0, 0))
    finding = CHECK.judge(view, asked(node=0))
    assert finding.verdict == "fail"
    assert finding.text == "no hugepages of 1G on node 1, where ens7f0 is"


def test_the_node_of_a_virtio_card_is_its_functions() -> None:
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
    finding = CHECK.judge(view, asked(node=0))
    assert (finding.verdict, finding.text) == (
        "fail",
        "no hugepages of 1G on node 1, where ens7f0 is",
    )


def test_a_capture_without_links_falls_back_to_the_isolated_cpus() -> None:
    files = machine() | pool(0, 4, 4) | pool(1, 0, 0) | {"/sys/class/net/ens7f0/mtu": "1500\n"}
    del files["/sys/class/net/ens7f0/device/numa_node"]
    finding = CHECK.judge(CapturedHost(files=files, collected=CHECK.reads), asked(node=0))
    assert finding.text == "no hugepages of 1G on node 1, where isolated CPUs are"


def test_large_pages_of_a_node_are_no_argument() -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 0, 0)), asked(node=0))
    assert any("nr_hugepages of node 0" in step.text for step in finding.steps)
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 0, 0)), asked())
    assert any("hugepagesz=1G hugepages=4" in step.text for step in finding.steps)


def test_none_free_is_warned() -> None:
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 4, 0)), asked(node=0))
    assert finding.verdict == "warn"
    assert "all 4 hugepages of 1G on node 0 are in use" in finding.text


def test_small_pages_can_be_set_aside_at_once() -> None:
    wanted = intent(hugepages={"default_size": "2M", "pages": [{"size": "2M", "count": 512}]})
    single = {"/sys/devices/system/cpu/online": "0-7", **pool(0, 0, 0, 2048)}
    finding = CHECK.judge(host(CHECK, single), wanted)
    assert finding.verdict == "fail"
    folder = f"{NODE}/node0/hugepages/hugepages-2048kB"
    assert commands(finding) == [f"echo 512 > {folder}/nr_hugepages"]


def test_without_cards_the_isolated_cpus_nodes_count() -> None:
    wanted = intent(hugepages={"default_size": "1G", "pages": [{"size": "1G", "count": 4}]})
    finding = CHECK.judge(host(CHECK, machine() | pool(0, 4, 4) | pool(1, 0, 0)), wanted)
    assert finding.text == "no hugepages of 1G on node 1, where isolated CPUs are"


def test_not_asked_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, machine()), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    free = f"{NODE}/node0/hugepages/hugepages-{GIB_KB}kB/free_hugepages"
    files = machine() | pool(0, 4, 4)
    del files[free]
    assert CHECK.judge(host(CHECK, files, forbidden=[free]), asked(node=0)).verdict == "unknown"
    assert CHECK.judge(host(CHECK, pool(0, 4, 4)), asked()).verdict == "unknown"


def test_another_default_size_fails() -> None:
    """The kernel's own default on x86-64 is 2 MB: hugetlbpage.rst, default_hugepagesz."""
    files = (
        machine() | pool(0, 4, 4) | {"/proc/meminfo": "MemTotal: 1 kB\nHugepagesize:  2048 kB\n"}
    )
    finding = CHECK.judge(host(CHECK, files), asked(node=0))
    assert finding.verdict == "fail"
    assert "hugepages are of 2048 kB by default" in finding.text
    assert any("default_hugepagesz=1G" in step.text for step in finding.steps)


def test_the_default_size_as_asked_for_is_ok() -> None:
    files = machine() | pool(0, 4, 4) | {"/proc/meminfo": "Hugepagesize:    1048576 kB\n"}
    assert CHECK.judge(host(CHECK, files), asked(node=0)).verdict == "ok"
