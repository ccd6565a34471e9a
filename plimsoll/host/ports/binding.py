"""Which driver has a card: vfio-pci, through which DPDK opens it, or the kernel's own.

By driver_override, unbind and drivers_probe (Linux, Documentation/ABI/testing/sysfs-bus-pci), so
that no other card of its kind changes its driver. Until the next boot, or until it is given back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.ports.machine_ports import (
    HostAbilities,
    host_abilities,
    is_of_user_space,
    is_shared_with_kernel,
    vfio_needs,
)
from plimsoll.host.ports.netdevs import SYS, Netdev, is_pci_address, netdevs
from plimsoll.host.ports.own_traffic import Route, interfaces_in_use, read_routes
from plimsoll.host.ports.pci_functions import PciFunction, pci_function, pci_functions

_VFIO = "vfio-pci"
_LIST = "plimsoll ports lists the cards that it has"
_OTHER = "take another port: plimsoll ports lists them"


@dataclass(frozen=True, slots=True)
class Binding:
    """What became of a card: the driver it had, the one it has, None for no driver.

    `group_mates` are the other cards of its IOMMU group that the kernel still drives: vfio-pci
    gives none of a group to DPDK before it has them all.
    """

    address: str
    before: str | None
    after: str | None
    group_mates: tuple[str, ...] = ()


@dataclass(frozen=True)
class PortBinder:
    """Binds the cards of this machine, or of the tree of files that a test made.

    `abilities` are what the machine has, read when None. `write` writes into a file of sysfs.
    """

    sys: Path = SYS
    proc: Path = Path("/proc")
    abilities: HostAbilities | None = None
    environment: Mapping[str, str] | None = None
    write: Callable[[Path, str], object] = Path.write_text

    def bind(self, port: str) -> Binding:
        """Give a card, by its PCI address or its interface's name, to vfio-pci.

        Raises MachineError for one that the machine needs or vfio-pci cannot have; nothing has
        changed then.
        """
        function = self._function(port)
        if function.driver == _VFIO:
            return self._binding(function, function.driver)
        self._refuse_what_is_needed(function)
        self._refuse_what_has_functions(function)
        if lacking := list(vfio_needs(self.abilities or host_abilities(self.sys))):
            raise _refusal(function, "it cannot be given to vfio-pci", "; ".join(lacking))
        self._hand_over(function, _VFIO)
        bound = self._function(function.address)
        if bound.driver != _VFIO:
            self._hand_over(bound, "")
            raise _refusal(function, "vfio-pci did not take it", "dmesg says why")
        return self._binding(bound, function.driver)

    def unbind(self, port: str) -> Binding:
        """Give a card back to the kernel's own driver.

        Raises MachineError where a process has it open, and where no driver takes it.
        """
        function = self._function(port)
        if function.driver is not None and not is_of_user_space(function.driver):
            return Binding(function.address, function.driver, function.driver)
        if holders := list(self._holders(function)):
            raise _refusal(
                function, f"it is open in {', '.join(holders)}", "end that process first"
            )
        self._hand_over(function, "")
        after = self._function(function.address).driver
        if after is None:
            raise _refusal(
                function,
                "no driver of the kernel took it",
                f"modprobe $(cat {self._path(function)}/modalias)",
            )
        return Binding(function.address, function.driver, after)

    def _function(self, port: str) -> PciFunction:
        interface = next((each for each in netdevs(self.sys) if each.name == port), None)
        address = port.lower() if interface is None else interface.pci_address
        if address is None:
            raise MachineError(f"{port} is no card", where=port, remedy=_LIST)
        if address.count(":") == 1:
            address = f"0000:{address}"
        cards = {function.address for function in pci_functions(self.sys)}
        function = pci_function(address, self.sys) if is_pci_address(address) else None
        if function is None:
            raise MachineError(f"this machine has no port {port}", where=port, remedy=_LIST)
        if address not in cards:
            raise MachineError("this PCI device is not a network card", where=port, remedy=_LIST)
        return function

    def _refuse_what_is_needed(self, function: PciFunction) -> None:
        if is_shared_with_kernel(function.driver):
            raise _refusal(
                function,
                f"DPDK drives it alongside the kernel's {function.driver}, never by vfio-pci",
                "leave it as it is",
            )
        routes = read_routes(self.proc / "net")
        found = netdevs(self.sys)
        environment = os.environ if self.environment is None else self.environment
        in_use = interfaces_in_use(routes, {each.name: each.masters for each in found}, environment)
        for netdev in found:
            if netdev.pci_address == function.address:
                _refuse_interface(function, netdev, in_use.get(netdev.name), routes)

    def _refuse_what_has_functions(self, function: PciFunction) -> None:
        """Its virtual functions would go with its driver."""
        count = self._path(function) / "sriov_numvfs"
        if count.exists() and (number := count.read_text().strip()) != "0":
            raise _refusal(
                function,
                f"it has {number} virtual functions, which would vanish",
                f"bind those, or first: echo 0 > {count}",
            )

    def _hand_over(self, function: PciFunction, override: str) -> None:
        """To the driver of that name, or where that is empty to whichever it matches."""
        path = self._path(function)
        try:
            # An empty line takes an override back.
            self.write(path / "driver_override", f"{override}\n")
            if (path / "driver").exists():
                self.write(path / "driver/unbind", function.address)
            self.write(self.sys / "bus/pci/drivers_probe", function.address)
        except PermissionError as error:
            raise _refusal(function, "its driver cannot be changed", "run it as root") from error
        except OSError as error:
            # A driver that refuses the card: its caller sees which one has it now.
            if not (path / "driver_override").exists():
                raise _refusal(function, f"it is gone: {error}", _LIST) from error

    def _binding(self, function: PciFunction, before: str | None) -> Binding:
        mates = [
            each.address
            for each in pci_functions(self.sys)
            if function.iommu_group is not None
            and each.iommu_group == function.iommu_group
            and each.address != function.address
            and each.driver not in (None, _VFIO)
        ]
        return Binding(function.address, before, function.driver, tuple(mates))

    def _holders(self, function: PciFunction) -> Iterator[str]:
        """Processes that have its group open; the kernel would wait for them without end."""
        file = f"/dev/vfio/{function.iommu_group}"
        for process in sorted(self.proc.glob("[0-9]*")):
            if any(_target(fd) == file for fd in process.glob("fd/*")):
                yield f"process {process.name} ({_command(process)})"

    def _path(self, function: PciFunction) -> Path:
        return self.sys / "bus/pci/devices" / function.address


def _refuse_interface(
    function: PciFunction, netdev: Netdev, use: str | None, routes: tuple[Route, ...]
) -> None:
    if use is not None:
        raise _refusal(function, f"{netdev.name} is in use: {use}", _OTHER)
    if netdev.masters:
        raise _refusal(
            function,
            f"{netdev.name} is a member of {', '.join(netdev.masters)}",
            f"ip link set {netdev.name} nomaster, or {_OTHER}",
        )
    for route in routes:
        # Every interface that is up has routes to its neighbours by link-local addresses.
        local = route.network.is_link_local or route.network.is_multicast
        if route.interface == netdev.name and not local:
            raise _refusal(
                function,
                f"{netdev.name} carries the route to {route.network}",
                f"ip link set {netdev.name} down where nothing needs it, or {_OTHER}",
            )


def _refusal(function: PciFunction, message: str, remedy: str) -> MachineError:
    return MachineError(message, where=function.address, remedy=remedy)


def _command(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "already ended"


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        # Closed since it was listed, or another user's.
        return ""
