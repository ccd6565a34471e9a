from pathlib import Path

import pytest

from plimsoll.host.ports.ethtool import HardwareStamps
from plimsoll.host.ports.machine_ports import (
    HostAbilities,
    MachinePort,
    host_abilities,
    machine_ports,
)
from tests.unit.host.machine_tree import MachineTree
from tests.worded.says import Says

ALL = frozenset({"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_SYS_ADMIN", "CAP_BPF"})
READY = HostAbilities(
    capabilities=ALL, hugepages=True, vfio="loaded", iommu=True, unsafe_noiommu=False
)
STAMPS = HardwareStamps(rx_all=True, rx_some=True, tx=True, phc=0)
DEFAULT_ROUTE = "eno1\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0"


@pytest.fixture
def machine(tmp_path: Path) -> MachineTree:
    return MachineTree(tmp_path)


def listed(machine: MachineTree, host: HostAbilities = READY) -> dict[str, MachinePort]:
    found = machine_ports(
        machine.sys,
        machine.proc_net,
        abilities=host,
        environment={},
        driver=lambda name: "veth",
        stamps=lambda name: STAMPS if name.startswith("en") else None,
    )
    return {str(port.name or port.pci_address): port for port in found}


def test_a_card_and_its_interface_are_one_port(machine: MachineTree, says: Says) -> None:
    machine.interface("ens1", machine.card("0000:87:00.0", "ice", numa=1))
    (port,) = listed(machine).values()
    assert (port.name, port.pci_address, port.kind, port.driver) == (
        "ens1",
        "0000:87:00.0",
        "pci",
        "ice",
    )
    assert (port.link, port.speed_mbps, port.numa_node, port.stamps) == ("up", 25000, 1, STAMPS)
    assert port.netdev_needs == ()
    assert port.pci_needs == (says("0000:87:00.0", "plimsoll ports bind"),)


def test_a_card_bound_to_vfio_has_no_interface_and_lacks_nothing(machine: MachineTree) -> None:
    machine.card("0000:87:00.1", "vfio-pci")
    port = listed(machine)["0000:87:00.1"]
    assert (port.name, port.driver, port.link) == (None, "vfio-pci", None)
    assert (port.netdev_needs, port.pci_needs) == (None, ())


def test_mellanox_cards_need_no_vfio(machine: MachineTree) -> None:
    machine.interface("ens5", machine.card("0000:5e:00.0", "mlx5_core"))
    assert listed(machine)["ens5"].pci_needs == ()


def test_other_pci_functions_are_no_ports(machine: MachineTree) -> None:
    machine.card("0000:00:02.0", "virtio-pci", kind="0x018000")
    assert listed(machine) == {}


def test_cards_come_first_and_then_interfaces(machine: MachineTree) -> None:
    machine.interface("veth9")
    machine.interface("aaa")
    machine.card("0000:87:00.1", None)
    machine.interface("ens1", machine.card("0000:17:00.0", "ice"))
    assert list(listed(machine)) == ["ens1", "0000:87:00.1", "aaa", "veth9"]


def test_the_port_of_the_default_route_is_in_use(machine: MachineTree, says: Says) -> None:
    machine.interface("eno1", machine.card("0000:01:00.0", "tg3"))
    machine.interface("ens1", machine.card("0000:17:00.0", "ice"))
    machine.route(DEFAULT_ROUTE)
    ports = listed(machine)
    assert ports["eno1"].in_use == says()
    assert ports["ens1"].in_use is None


def test_an_unbound_card_on_a_bare_machine_lacks_everything(
    machine: MachineTree, says: Says
) -> None:
    machine.card("0000:87:00.1", None)
    bare = HostAbilities(
        capabilities=frozenset(), hugepages=False, vfio="absent", iommu=False, unsafe_noiommu=False
    )
    assert listed(machine, bare)["0000:87:00.1"].pci_needs == (
        says(),
        says("intel_iommu=on", "amd_iommu=on"),
        says("0000:87:00.1", "plimsoll ports bind"),
        says("root"),
        "root",
    )


@pytest.mark.parametrize(
    ("files", "capabilities", "needs"),
    [
        ({}, frozenset(), ("root, or CAP_NET_RAW",)),
        ({}, frozenset({"CAP_NET_RAW"}), ("for AF_XDP root, or CAP_NET_ADMIN, CAP_BPF",)),
        ({"flags": "0x1002"}, ALL, ("it is down: ip link set veth9 up",)),
        ({"carrier": "0"}, ALL, ("no carrier: check its cable and the other end",)),
    ],
)
def test_what_an_interface_lacks_is_said_with_its_remedy(
    machine: MachineTree,
    files: dict[str, str],
    capabilities: frozenset[str],
    needs: tuple[str, ...],
) -> None:
    machine.interface("veth9", **files)
    host = HostAbilities(
        capabilities=capabilities, hugepages=True, vfio="absent", iommu=False, unsafe_noiommu=False
    )
    port = listed(machine, host)["veth9"]
    assert (port.kind, port.driver) == ("veth", "veth")
    assert port.netdev_needs == needs
    assert port.pci_needs is None


def test_a_member_of_a_bridge_is_not_free(machine: MachineTree, says: Says) -> None:
    machine.interface("veth9")
    machine.interface("br0", uevent="DEVTYPE=bridge")
    machine.on_top("br0", "veth9")
    assert listed(machine)["veth9"].netdev_needs == (
        says("br0", "veth9", "ip link set veth9 nomaster"),
    )


@pytest.mark.parametrize(
    ("listing", "vfio"),
    [
        ("kernel/drivers/vfio/pci/vfio-pci.ko.xz: kernel/x.ko.xz", "module"),
        ("kernel/x.ko:", "absent"),
    ],
)
def test_vfio_is_looked_for_among_the_modules(
    machine: MachineTree, tmp_path: Path, listing: str, vfio: str
) -> None:
    machine.write(tmp_path / "modules/6.1/modules.dep", listing)
    assert host_abilities(machine.sys, tmp_path / "modules", "6.1").vfio == vfio


def test_abilities_are_read_from_sysfs(machine: MachineTree, tmp_path: Path) -> None:
    bare = host_abilities(machine.sys, tmp_path / "modules", "6.1")
    assert (bare.hugepages, bare.vfio, bare.iommu, bare.unsafe_noiommu) == (
        False,
        "absent",
        False,
        False,
    )
    machine.write(machine.sys / "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "64")
    (machine.sys / "bus/pci/drivers/vfio-pci").mkdir(parents=True)
    (machine.sys / "kernel/iommu_groups/0").mkdir(parents=True)
    noiommu = machine.sys / "module/vfio/parameters/enable_unsafe_noiommu_mode"
    machine.write(noiommu, "Y")
    full = host_abilities(machine.sys, tmp_path / "modules", "6.1")
    assert (full.hugepages, full.vfio, full.iommu, full.unsafe_noiommu) == (
        True,
        "loaded",
        True,
        True,
    )
