"""A network card as a port of the tester: whether DPDK can open it, known before it tries."""

from __future__ import annotations

from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.ports.netdevs import SYS
from plimsoll.host.ports.pci_functions import pci_function
from plimsoll.host.ports.port_needs import is_open_to_dpdk


def check_card(address: str, where: str, sys: Path = SYS) -> None:
    """Raise MachineError, placed at `where`, for a PCI address that DPDK could not open.

    That is one without a device, or whose device the kernel keeps to itself. What DPDK says
    of either is of its own workings, not of the cause.
    """
    function = pci_function(address, sys)
    if function is None:
        raise MachineError(
            f"this machine has no PCI device {address}",
            where=where,
            remedy="plimsoll ports lists the cards that it has",
        )
    if not is_open_to_dpdk(function.driver):
        owner = f"the kernel's driver {function.driver}" if function.driver else "no driver"
        raise MachineError(
            f"the PCI device {address} has {owner}, so that DPDK cannot open it",
            where=where,
            remedy=f"plimsoll ports bind {address}",
        )
