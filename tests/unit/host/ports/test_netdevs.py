from pathlib import Path

import pytest

from plimsoll.host.ports.netdevs import Netdev, netdevs, read_netdev
from tests.unit.host.machine_tree import MachineTree


@pytest.fixture
def machine(tmp_path: Path) -> MachineTree:
    return MachineTree(tmp_path)


def test_a_card_is_read_with_its_place(machine: MachineTree) -> None:
    card = machine.card("0000:87:00.0", "ice", numa=1)
    more = {f"queues/rx-{number}/rps_cpus": "0" for number in range(8)}
    machine.interface("ens3f0", card, mtu="9000", **more)
    assert netdevs(machine.sys) == (
        Netdev(
            name="ens3f0",
            kind="pci",
            driver="ice",
            pci_address="0000:87:00.0",
            numa_node=1,
            mac="02:00:00:00:00:01",
            mtu=9000,
            up=True,
            carrier=True,
            speed_mbps=25000,
            rx_queues=8,
            tx_queues=1,
            masters=(),
        ),
    )


def test_a_virtio_interface_finds_its_card_above_it(machine: MachineTree) -> None:
    virtio = machine.card("0000:00:03.0", "virtio-pci", numa=-1) / "virtio2"
    machine.link(virtio / "driver", machine.sys / "bus/virtio/drivers/virtio_net")
    machine.interface("eth0", virtio, speed="-1")
    netdev = read_netdev("eth0", machine.sys)
    assert netdev is not None
    assert (netdev.pci_address, netdev.driver) == ("0000:00:03.0", "virtio_net")
    assert (netdev.numa_node, netdev.speed_mbps) == (None, None)


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({}, "virtual"),
        ({"uevent": "DEVTYPE=bridge\nINTERFACE=x"}, "bridge"),
        ({"tun_flags": "0x1002"}, "tap"),
    ],
)
def test_virtual_interfaces_have_the_kind_that_sysfs_tells(
    machine: MachineTree, files: dict[str, str], kind: str
) -> None:
    machine.interface("x", **files)
    netdev = read_netdev("x", machine.sys)
    assert netdev is not None
    assert (netdev.kind, netdev.driver, netdev.pci_address) == (kind, None, None)


def test_an_interface_that_is_down_has_no_carrier_to_read(machine: MachineTree) -> None:
    path = machine.interface("x", flags="0x1002")
    # The kernel answers EINVAL; so does a folder, with another errno.
    (path / "carrier").unlink()
    (path / "carrier").mkdir()
    netdev = read_netdev("x", machine.sys)
    assert netdev is not None
    assert (netdev.up, netdev.carrier) == (False, None)


def test_masters_are_what_is_built_upon_it(machine: MachineTree) -> None:
    machine.interface("port")
    machine.interface("br0", uevent="DEVTYPE=bridge")
    machine.on_top("br0", "port")
    assert [(each.name, each.masters) for each in netdevs(machine.sys)] == [
        ("br0", ()),
        ("port", ("br0",)),
    ]


def test_what_is_not_ethernet_is_left_out(machine: MachineTree) -> None:
    machine.interface("lo", type="772")
    machine.interface("tun0", type="65534")
    assert netdevs(machine.sys) == ()
    assert read_netdev("nowhere", machine.sys) is None
