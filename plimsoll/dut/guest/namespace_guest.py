"""A guest like a pod: a network namespace with two interfaces, which the kernel's bridge joins.

It has no process. Its interfaces are made along with the switch's ports, to which they are cabled,
and go with the namespace.
"""

from __future__ import annotations

from plimsoll.dut.guest.guest import GuestCounts, GuestPlace
from plimsoll.dut.guest.guest_ports import GUEST_INTERFACES
from plimsoll.dut.lab import DutProcess
from plimsoll.host.namespaces.network_namespace import (
    LinkCounters,
    NetworkNamespace,
    add_bridge,
    bridge_facts,
    steer,
    wait_until_forwarding,
)

_BRIDGE = "bridge0"


class NamespaceGuest:
    """One namespace, whose frames the kernel forwards on the guest's CPU."""

    note = None

    def __init__(self, place: GuestPlace, namespace: NetworkNamespace) -> None:
        self.name: str = place.name
        self._place = place
        self._namespace = namespace

    def start(self) -> None:
        """Join its interfaces. Raises MachineError."""
        add_bridge(self._namespace, _BRIDGE, GUEST_INTERFACES)
        for interface in GUEST_INTERFACES:
            steer(self._namespace, interface, self._place.cpu)

    def wait_ready(self) -> None:
        """Return once its bridge forwards. Raises MachineError."""
        wait_until_forwarding(self._namespace, _BRIDGE)

    def check(self) -> None:
        """Nothing of it can end by itself."""

    def counts(self) -> tuple[GuestCounts, GuestCounts]:
        """The kernel's, of both interfaces. Raises MachineError."""
        links = self._namespace.link_counters()
        first, second = (_counts(links[name]) for name in GUEST_INTERFACES)
        return first, second

    def processes(self) -> tuple[DutProcess, ...]:
        """None: the kernel forwards."""
        return ()

    def facts(self) -> dict[str, object]:
        """Its bridge as the kernel has it."""
        return {
            "by": "Linux bridge in a network namespace, on veth",
            "namespace": self._namespace.name,
            "cpu": self._place.cpu,
            **bridge_facts(self._namespace, _BRIDGE),
        }

    def stop(self) -> None:
        """Nothing: it goes with the lab's namespaces."""


def _counts(link: LinkCounters) -> GuestCounts:
    """A veth transmits what its peer's CPU has no room for, and counts it as dropped."""
    return GuestCounts(link.rx_packets, link.tx_packets + link.tx_dropped)
