"""Binding cards on a /sys of files whose writes do what a kernel does on them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ports.binding import Binding, PortBinder
from plimsoll.host.ports.machine_ports import HostAbilities
from tests.unit.host.machine_tree import MachineTree
from tests.worded.says import Says

CARD, OTHER = "0000:87:00.0", "0000:87:00.1"
ROUTE = "ens1\t{}\t0100A8C0\t0003\t0\t0\t0\t{}\t0\t0\t0"
READY = HostAbilities(
    capabilities=frozenset(), hugepages=True, vfio="loaded", iommu=True, unsafe_noiommu=False
)


class Kernel:
    """What writing into these files of sysfs does; `own` is the driver that matches each card."""

    def __init__(self, tree: MachineTree) -> None:
        self.tree = tree
        self.own: dict[str, str] = {}
        self.refusing: set[str] = set()
        self.written: list[tuple[str, str]] = []

    def write(self, path: Path, text: str) -> None:
        place = path.relative_to(self.tree.sys / "bus/pci")
        self.written.append((str(place), text))
        if path.name == "driver_override":
            path.write_text(text)
        elif path.name == "unbind":
            assert path.parent.name == "driver"
            assert path.parent == self.device(text) / "driver"
            path.parent.unlink()
        else:
            assert str(place) == "drivers_probe"
            self.probe(self.device(text), text)

    def probe(self, device: Path, address: str) -> None:
        named = (device / "driver_override").read_text().strip()
        driver = named or self.own.get(address)
        if driver and driver not in self.refusing and not (device / "driver").exists():
            self.tree.link(device / "driver", self.tree.sys / "bus/pci/drivers" / driver)

    def device(self, address: str) -> Path:
        return self.tree.sys / "bus/pci/devices" / address


class Bed:
    """A machine with a card `ens1` that the driver ice has."""

    def __init__(self, folder: Path) -> None:
        self.tree = MachineTree(folder)
        self.kernel = Kernel(self.tree)
        self.card = self.add(CARD, "ice")
        self.tree.interface("ens1", self.card)

    def add(self, address: str, driver: str | None, **more: int) -> Path:
        path = self.tree.card(address, driver, **more)
        self.tree.write(path / "driver_override", "")
        self.kernel.own[address] = "ice"
        return path

    def binder(
        self, abilities: HostAbilities = READY, environment: dict[str, str] | None = None
    ) -> PortBinder:
        proc = self.tree.proc_net.parent / "proc"
        if not proc.exists():
            proc.mkdir()
            (proc / "net").symlink_to(self.tree.proc_net)
        return PortBinder(
            sys=self.tree.sys,
            proc=proc,
            abilities=abilities,
            environment=environment or {},
            write=self.kernel.write,
        )

    def driver(self, address: str = CARD) -> str | None:
        link = self.kernel.device(address) / "driver"
        return link.resolve().name if link.exists() else None

    def refusal(self, port: str = CARD, binder: PortBinder | None = None) -> MachineError:
        """Of binding, which must have changed nothing."""
        before = self.driver()
        with pytest.raises(MachineError) as refused:
            (binder or self.binder()).bind(port)
        assert self.kernel.written == []
        assert self.driver() == before
        return refused.value


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


@pytest.mark.parametrize("port", [CARD, "87:00.0", "ens1"])
def test_a_card_changes_to_vfio_by_its_address_or_interface(bed: Bed, port: str) -> None:
    assert bed.binder().bind(port) == Binding(CARD, "ice", "vfio-pci")
    assert bed.driver() == "vfio-pci"
    assert bed.kernel.written == [
        (f"devices/{CARD}/driver_override", "vfio-pci\n"),
        (f"devices/{CARD}/driver/unbind", CARD),
        ("drivers_probe", CARD),
    ]


def test_it_goes_back_to_the_driver_that_the_kernel_has_for_it(bed: Bed) -> None:
    bed.binder().bind(CARD)
    assert bed.binder().unbind(CARD) == Binding(CARD, "vfio-pci", "ice")
    assert bed.driver() == "ice"
    assert (bed.card / "driver_override").read_text().strip() == ""


def test_what_is_bound_is_left_as_it_is(bed: Bed) -> None:
    bed.add(OTHER, "vfio-pci", group=8)
    assert bed.binder().bind(OTHER) == Binding(OTHER, "vfio-pci", "vfio-pci")
    assert bed.binder().unbind(CARD) == Binding(CARD, "ice", "ice")
    assert bed.kernel.written == []


def test_a_card_without_a_driver_can_be_bound(bed: Bed) -> None:
    bed.add(OTHER, None, group=8)
    assert bed.binder().bind(OTHER) == Binding(OTHER, None, "vfio-pci")


def test_what_is_left_of_its_iommu_group_is_named(bed: Bed) -> None:
    bed.add(OTHER, "ice")
    assert bed.binder().bind(CARD).group_mates == (OTHER,)
    assert bed.binder().bind(OTHER).group_mates == ()


def test_the_port_of_the_default_route_is_refused(bed: Bed, says: Says) -> None:
    bed.tree.route(ROUTE.format("00000000", "00000000"))
    refused = bed.refusal()
    assert refused.where == CARD
    assert refused == says("ens1", "plimsoll ports")


def test_the_port_below_the_bridge_of_the_default_route_is_refused(bed: Bed, says: Says) -> None:
    bed.tree.interface("br0", uevent="DEVTYPE=bridge")
    bed.tree.on_top("br0", "ens1")
    bed.tree.route(ROUTE.format("00000000", "00000000").replace("ens1", "br0"))
    assert bed.refusal("ens1").message == says("ens1", "br0")


def test_the_port_of_the_ssh_session_is_refused(bed: Bed, says: Says) -> None:
    bed.tree.route(ROUTE.format("0000000A", "000000FF"))
    binder = bed.binder(environment={"SSH_CONNECTION": "10.1.2.3 5555 10.1.2.4 22"})
    assert bed.refusal(binder=binder).message == says("ens1")


def test_a_port_with_a_route_is_refused(bed: Bed, says: Says) -> None:
    bed.tree.route(ROUTE.format("0000000A", "000000FF"))
    refused = bed.refusal()
    assert refused == says("ens1", "10.0.0.0/8", "ip link set ens1 down")


def test_a_link_local_route_is_no_use(bed: Bed) -> None:
    name = "ens1".rjust(8)
    local = "fe80000000000000" + "0" * 16
    everyone = "ff00000000000000" + "0" * 16
    nowhere = "0" * 32
    bed.tree.write(
        bed.tree.proc_net / "ipv6_route",
        f"{local} 40 {nowhere} 00 {nowhere} 00000100 00000001 00000000 00000001 {name}\n"
        f"{everyone} 08 {nowhere} 00 {nowhere} 00000100 00000004 00000000 00000001 {name}",
    )
    assert bed.binder().bind(CARD).after == "vfio-pci"


def test_a_member_of_a_bridge_is_refused(bed: Bed, says: Says) -> None:
    bed.tree.interface("br0", uevent="DEVTYPE=bridge")
    bed.tree.on_top("br0", "ens1")
    refused = bed.refusal()
    assert refused == says("ens1", "br0", "ip link set ens1 nomaster")


def test_virtual_functions_are_not_taken_away(bed: Bed, says: Says) -> None:
    bed.tree.write(bed.card / "sriov_numvfs", "2")
    assert bed.refusal().message == says("2")
    bed.tree.write(bed.card / "sriov_numvfs", "0")
    assert bed.binder().bind(CARD).after == "vfio-pci"


def test_a_mellanox_card_stays_with_its_driver(bed: Bed, says: Says) -> None:
    bed.add(OTHER, "mlx5_core")
    assert bed.refusal(OTHER).message == says("mlx5_core")


@pytest.mark.parametrize(
    ("vfio", "iommu", "facts"),
    [
        ("absent", True, ("0000:87:00.0",)),
        ("module", True, ("modprobe vfio-pci", "0000:87:00.0")),
        (
            "loaded",
            False,
            ("intel_iommu=on", "amd_iommu=on"),
        ),
    ],
)
def test_a_machine_without_vfio_is_told_what_it_lacks(
    bed: Bed, vfio: str, iommu: bool, facts: tuple[str, ...], says: Says
) -> None:
    machine = HostAbilities(frozenset(), True, vfio, iommu, False)
    refused = bed.refusal(binder=bed.binder(machine))
    assert refused == says(*facts)


@pytest.mark.parametrize("port", ["0000:99:00.0", "eth7", "", "../x"])
def test_no_such_port(bed: Bed, port: str, says: Says) -> None:
    assert bed.refusal(port).message == says("port", str(port))


def test_other_devices_are_no_ports(bed: Bed, says: Says) -> None:
    bed.tree.card("0000:00:1f.2", "ahci", kind="0x010601")
    assert bed.refusal("0000:00:1f.2").message == says()


def test_an_interface_that_is_no_card(bed: Bed) -> None:
    bed.tree.interface("veth9")
    assert bed.refusal("veth9").message == "veth9 is no card"


def test_a_card_that_vfio_refuses_goes_back(bed: Bed, says: Says) -> None:
    bed.kernel.refusing.add("vfio-pci")
    with pytest.raises(MachineError) as refused:
        bed.binder().bind(CARD)
    assert refused.value == says("vfio-pci")
    assert bed.driver() == "ice"


def test_a_user_without_rights_is_told_so(bed: Bed, says: Says) -> None:
    def denied(path: Path, text: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    binder = bed.binder()
    with pytest.raises(MachineError) as refused:
        PortBinder(binder.sys, binder.proc, READY, {}, denied).bind(CARD)
    assert refused.value == says("0000:87:00.0")


def test_a_card_that_a_process_has_open_is_not_given_back(bed: Bed, says: Says) -> None:
    binder = bed.binder()
    binder.bind(CARD)
    bed.kernel.written.clear()
    process = binder.proc / "4711"
    (process / "fd").mkdir(parents=True)
    (process / "comm").write_text("dpdk-testpmd\n")
    os.symlink("/dev/vfio/7", process / "fd/9")
    with pytest.raises(MachineError) as refused:
        binder.unbind(CARD)
    assert refused.value == says("4711")
    assert bed.kernel.written == []
    assert bed.driver() == "vfio-pci"


def test_where_no_driver_takes_it_back_the_remedy_loads_one(bed: Bed, says: Says) -> None:
    binder = bed.binder()
    binder.bind(CARD)
    del bed.kernel.own[CARD]
    with pytest.raises(MachineError) as refused:
        binder.unbind(CARD)
    assert refused.value == says(
        "modprobe", "$(cat", f"{bed.tree.sys}/bus/pci/devices/{CARD}/modalias", "modprobe $(cat"
    )
