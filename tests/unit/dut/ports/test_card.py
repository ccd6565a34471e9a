"""Cards that DPDK could not open, on made-up machines."""

from pathlib import Path

import pytest

from plimsoll.dut.ports.tester_ports import check_card
from plimsoll.errors import MachineError
from tests.unit.host.machine_tree import MachineTree
from tests.worded.says import Says

PLACE = "lab.ports[0].devargs"


@pytest.fixture
def machine(tmp_path: Path) -> MachineTree:
    return MachineTree(tmp_path)


@pytest.mark.parametrize(
    "driver", ["vfio-pci", "igb_uio", "uio_pci_generic", "mlx5_core", "mlx4_core"]
)
def test_a_card_left_to_user_space_or_shared_will_do(machine: MachineTree, driver: str) -> None:
    machine.card("0000:87:00.0", driver)
    check_card("0000:87:00.0", PLACE, machine.sys)


def test_a_card_of_another_class_will_do(machine: MachineTree) -> None:
    """A processing accelerator that DPDK drives as a port."""
    machine.card("0000:87:00.0", "vfio-pci", kind="0x120000")
    check_card("0000:87:00.0", PLACE, machine.sys)


@pytest.mark.parametrize("address", ["0000:87:00.1", "0001:87:00.0"])
def test_an_address_without_a_device_is_refused(
    machine: MachineTree, address: str, says: Says
) -> None:
    machine.card("0000:87:00.0", "vfio-pci")
    with pytest.raises(MachineError) as refused:
        check_card(address, PLACE, machine.sys)
    assert refused.value.where == PLACE
    assert refused.value == says(str(address), "plimsoll ports")


@pytest.mark.parametrize(
    ("driver", "facts"),
    [
        ("ice", ("ice", "plimsoll ports bind")),
        (None, ("plimsoll ports bind",)),
    ],
)
def test_a_card_that_the_kernel_keeps_is_refused(
    machine: MachineTree, driver: str | None, facts: tuple[str, ...], says: Says
) -> None:
    machine.card("0000:87:00.0", driver)
    with pytest.raises(MachineError) as refused:
        check_card("0000:87:00.0", PLACE, machine.sys)
    assert refused.value == says("0000:87:00.0", *facts)
    assert refused.value.remedy == "plimsoll ports bind 0000:87:00.0"
