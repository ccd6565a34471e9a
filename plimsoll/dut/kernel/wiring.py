"""How the tester's ports reach the DUT's in its namespace: by cables in memory, or by real ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from plimsoll.dut.cards import LentCards
from plimsoll.dut.ports.netdev import NetdevDriver
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import (
    LinkCounters,
    NetworkNamespace,
    counters_of,
)
from plimsoll.host.processes.child import wait_until

# The DUT's ports, as they are called in its namespace.
DUT_PORTS = ("port0", "port1")
_POLL_S = 0.1


class Wiring(ABC):
    """Ports of the DUT's, each joined to one of the tester's."""

    # Whether its links are there before the tester opens its ports, and no wire between them.
    in_memory: ClassVar[bool]

    def __init__(self) -> None:
        self._dut_ports: tuple[str, ...] = ()

    def lay(
        self, namespace: NetworkNamespace, mtu: int, dut_ports: tuple[str, ...] = DUT_PORTS
    ) -> tuple[TesterPortSettings, ...]:
        """Have the DUT's ports in the namespace, so named and up; the tester's, in their order.

        Raises MachineError.
        """
        self._dut_ports = dut_ports
        return tuple(self._lay(namespace, mtu, port, name) for port, name in enumerate(dut_ports))

    @abstractmethod
    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """Of the DUT's ports; `rx_dropped` are the frames that it had no room for."""

    def wait_links(self, namespace: NetworkNamespace, timeout_s: float) -> None:
        """Return once the DUT's ports have links. Raises MachineError."""
        return

    @abstractmethod
    def _lay(
        self, namespace: NetworkNamespace, mtu: int, port: int, name: str
    ) -> TesterPortSettings:
        """Have one port."""


class Cables(Wiring):
    """Two veth pairs, whose ends in the namespace are the DUT's ports."""

    in_memory = True

    def __init__(self, driver: NetdevDriver) -> None:
        super().__init__()
        self._driver: NetdevDriver = driver

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """`rx_dropped` are the frames that did not fit into the DUT's CPU's backlog.

        A veth counts those at the sending end, as not transmitted. The drops that the DUT's end
        itself counts are of frames that it took before, such as those of a protocol that is not
        its own.
        """
        inside = namespace.link_counters()
        return tuple(
            replace(inside[end], rx_dropped=counters_of(namespace.tester_end(port)).tx_dropped)
            for port, end in enumerate(self._dut_ports)
        )

    def _lay(
        self, namespace: NetworkNamespace, mtu: int, port: int, name: str
    ) -> TesterPortSettings:
        return TesterPortSettings(netdev=namespace.cable(port, name, mtu), driver=self._driver)


class CardWiring(Wiring):
    """Network cards, of which the DUT's are lent to the namespace, and interrupt `cpu`."""

    in_memory = False

    def __init__(self, cards: LentCards, cpu: int, ledger: Ledger) -> None:
        super().__init__()
        self._cards = cards
        self._cpu = cpu
        self._ledger = ledger

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """`rx_dropped` are the frames that found no descriptor, and those the driver dropped."""
        inside = namespace.link_counters()
        return tuple(inside[end] for end in self._dut_ports)

    def wait_links(self, namespace: NetworkNamespace, timeout_s: float) -> None:
        """Return once all have a carrier, as a card of DPDK's gives once its port is started."""
        down: list[str] = []

        def up() -> bool:
            nonlocal down
            links = namespace.objects("link", "show", "up")
            carriers = {link["ifname"] for link in links if "LOWER_UP" in str(link["flags"])}
            named = zip(self._dut_ports, self._cards.dut, strict=True)
            down = [name for port, name in named if port not in carriers]
            return not down

        if not wait_until(up, timeout_s, every_s=_POLL_S):
            raise MachineError(
                f"{', '.join(down)} has no carrier after {timeout_s:g} s",
                where="lab.cards.dut",
                remedy="check the cable to the tester's port of the same number",
            )

    def _lay(
        self, namespace: NetworkNamespace, mtu: int, port: int, name: str
    ) -> TesterPortSettings:
        self._ledger.move_to_namespace(self._cards.dut[port], name, mtu, self._cpu)
        return self._cards.tester[port]
