"""Topologies as sysfs tells them."""

from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.tune.fit.topology import ports_of, read_topology
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.intent.host_tree import HostTree, tree_of_2, tree_of_40, tree_of_64
from tests.worded.says import Says


def test_two_nodes_with_smt(tmp_path: Path) -> None:
    topology = read_topology(LiveHost(tree_of_64(tmp_path).root).read)
    assert topology.online == set(range(64))
    assert topology.siblings[0] == topology.siblings[32] == {0, 32}
    assert topology.nodes == {
        0: frozenset(range(16)) | frozenset(range(32, 48)),
        1: frozenset(range(16, 32)) | frozenset(range(48, 64)),
    }
    assert topology.memory_kb == {0: 192 * 2**20, 1: 192 * 2**20}
    assert (len(topology.cores), topology.smt) == (32, True)
    assert (topology.node_of(47), topology.node_of(48), topology.node_of(64)) == (0, 1, None)


def test_forty_cores_without_smt(tmp_path: Path) -> None:
    topology = read_topology(LiveHost(tree_of_40(tmp_path, smt=False).root).read)
    assert (len(topology.cores), topology.smt) == (40, False)
    assert topology.nodes[1] == set(range(1, 40, 2))


def test_a_sibling_that_is_offline_shares_nothing(tmp_path: Path) -> None:
    tree = tree_of_2(tmp_path)
    tree.cpus("0", ["0,1"])
    topology = read_topology(LiveHost(tree.root).read)
    assert topology.siblings == {0: {0}}
    assert topology.nodes == {0: {0}}


def test_older_kernels_call_them_thread_siblings(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.write(tree.sys / "devices/system/cpu/online", "0-1")
    for cpu in (0, 1):
        path = tree.sys / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        tree.write(path, "0-1")
    assert read_topology(LiveHost(tree.root).read).siblings[1] == {0, 1}


def test_a_kernel_without_numa_is_one_node_of_all_the_memory(tmp_path: Path) -> None:
    tree = HostTree(tmp_path)
    tree.cpus("0-3", ["0", "1", "2", "3"])
    tree.write(tree.root / "proc/meminfo", "MemTotal:        4096 kB\nMemFree: 1 kB")
    topology = read_topology(LiveHost(tree.root).read)
    assert topology.nodes == {0: {0, 1, 2, 3}}
    assert topology.memory_kb == {0: 4096}


def test_a_node_may_be_memory_alone(tmp_path: Path) -> None:
    tree = tree_of_2(tmp_path)
    tree.node(1, "", 8)
    topology = read_topology(LiveHost(tree.root).read)
    assert topology.nodes == {0: {0, 1}, 1: set()}
    assert topology.memory_kb[1] == 8 * 2**20


def test_ports_are_found_by_interface_and_by_pci_address(tmp_path: Path) -> None:
    tree = tree_of_40(tmp_path, smt=False)
    tree.interface("ens1", tree.card("0000:87:00.0", "ice", numa=1))
    tree.card("0000:88:00.0", "vfio-pci", numa=-1)
    tree.interface("veth0")
    requested = ("ens1", "0000:87:00.0", "0000:88:00.0", "veth0", "ens9")
    topology = read_topology(LiveHost(tree.root).read, requested)
    assert topology.port_nodes == {
        "ens1": 1,
        "0000:87:00.0": 1,
        "0000:88:00.0": None,
        "veth0": None,
    }


VIRTIO = {
    "/sys/devices/system/cpu/online": "0-3",
    "/sys/class/net/eth0/mtu": "1500",
    "/sys/bus/pci/devices/0000:10:00.0/numa_node": "0",
    "/sys/bus/pci/devices/0000:11:00.0/numa_node": "1",
}
# As a guest's kernel has it: the function behind a root port, and the device of virtio's bus.
ETH0 = "../../devices/pci0000:10/0000:10:00.0/0000:11:00.0/virtio0/net/eth0"


def test_a_virtio_port_is_on_the_node_of_its_function() -> None:
    topology = read_topology(VIRTIO.get, ("eth0",), {"/sys/class/net/eth0": ETH0}.get)
    assert topology.port_nodes == {"eth0": 1}


@pytest.mark.parametrize(
    "says", [None, "", "../../devices/virtual/net/eth0", "../../devices/platform/virtio2/net/eth0"]
)
def test_a_port_that_is_no_pci_function_has_no_known_node(says: str | None) -> None:
    """The last is a virtio device without PCI (virtio-mmio)."""
    topology = read_topology(VIRTIO.get, ("eth0",), lambda path: says)
    assert topology.port_nodes == {"eth0": None}


def test_without_links_the_node_of_a_virtio_port_is_unknown() -> None:
    assert read_topology(VIRTIO.get, ("eth0",)).port_nodes == {"eth0": None}


def test_the_ports_of_an_intent_are_those_it_names() -> None:
    assert ports_of(load_preset("openshift-deterministic")) == ("ens7f0", "ens7f1")


@pytest.mark.parametrize("online", [None, "", "garbage"])
def test_without_a_list_of_cpus_there_is_none(online: str | None, says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        read_topology(lambda path: online)
    assert caught.value == says("/sys/devices/system/cpu/online")
