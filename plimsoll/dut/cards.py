"""A DUT on network cards of this machine, cabled to the tester's ports one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, field_validator, model_validator

from plimsoll.dut.lab import LineRate
from plimsoll.dut.ports.netdev import NetdevFacts, check_not_in_use, netdev_facts
from plimsoll.dut.ports.tester_ports import (
    NetdevName,
    TesterPortSettings,
    check_card,
    check_each_once,
    check_tester_ports,
)
from plimsoll.errors import InputError, MachineError
from plimsoll.host.namespaces.ip_command import ip_objects
from plimsoll.host.ports.netdevs import pci_address
from plimsoll.text.mistakes import mistake

PLACE = "lab.cards"


class Cards(BaseModel, ABC):
    """The DUT's port n is cabled to the tester's port n."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dut: tuple[str, ...]
    tester: tuple[TesterPortSettings, ...]

    @field_validator("tester")
    @classmethod
    def _check_each_once(
        cls, tester: tuple[TesterPortSettings, ...]
    ) -> tuple[TesterPortSettings, ...]:
        check_each_once(tester, f"{PLACE}.tester")
        return tester

    @model_validator(mode="after")
    def _check_own(self) -> Self:
        taken = {port.device[1] for port in self.tester}
        for number, name in enumerate(self.dut):
            if name in taken or name in self.dut[:number]:
                raise mistake(f"{name} is given twice", "give each card once", "dut", number)
        return self

    @abstractmethod
    def check_dut(self) -> None:
        """Whether the DUT can have its cards. Raises InputError and MachineError."""

    def check_machine(self, line_rate_bps: float | None) -> LineRate:
        """Whether DUT and tester can have their cards; the line rate, as stated or as it is known.

        Raises InputError and MachineError naming the field.
        """
        self.check_dut()
        # The other ends of the cables are not up before the DUT is.
        speed_bps = check_tester_ports(self.tester, f"{PLACE}.tester", carrier=False)
        if line_rate_bps is not None:
            return LineRate(line_rate_bps)
        return LineRate(speed_bps, settled=not all(port.on_pci for port in self.tester))


class LentCards(Cards, ABC):
    """Those of a DUT in the kernel: `dut` names interfaces, which the lab's namespace borrows."""

    dut: tuple[NetdevName, ...]

    def check_dut(self) -> None:
        """Whether the interfaces can be borrowed."""
        facts = netdev_facts()
        for number, name in enumerate(self.dut):
            _check_idle(name, f"{PLACE}.dut[{number}]", facts)


class KernelCards(LentCards):
    """One for each of the DUT's ports."""

    dut: tuple[NetdevName, NetdevName]
    tester: tuple[TesterPortSettings, TesterPortSettings]


class KernelCard(LentCards):
    """One for its port 0; port 1 is not on a wire."""

    dut: tuple[NetdevName]
    tester: tuple[TesterPortSettings]


def _pci_card(given: str) -> str:
    if (address := pci_address(given)) is None:
        raise mistake(f"{given!r} is not a PCI address", "write for example 0000:87:00.0")
    return address


class DpdkCards(Cards):
    """Those of a DUT with DPDK: `dut` are PCI addresses."""

    dut: tuple[Annotated[str, AfterValidator(_pci_card)], Annotated[str, AfterValidator(_pci_card)]]
    tester: tuple[TesterPortSettings, TesterPortSettings]

    def check_dut(self) -> None:
        """Whether DPDK can open them."""
        for number, address in enumerate(self.dut):
            check_card(address, f"{PLACE}.dut[{number}]")


def _check_idle(name: str, where: str, facts: NetdevFacts) -> None:
    """Raise for an interface that something else needs, or that has what would be lost."""
    netdev = check_not_in_use(name, where, facts)
    if netdev.masters:
        raise MachineError(
            f"{name} belongs to {', '.join(netdev.masters)}",
            where=where,
            remedy=f"ip link set {name} nomaster, or choose another",
        )
    addresses = [
        f"{address['local']}/{address['prefixlen']}"
        for link in ip_objects("address", "show", "dev", name)
        for address in _addresses_of(link)
        if address.get("scope") != "link"
    ]
    if addresses:
        raise InputError(
            f"{name} has the addresses {', '.join(addresses)}, which it would lose to the lab",
            where=where,
            remedy=f"ip address flush dev {name}, if they are not needed, or choose another",
        )


def _addresses_of(link: dict[str, object]) -> list[dict[str, object]]:
    found = link.get("addr_info")
    return found if isinstance(found, list) else []
