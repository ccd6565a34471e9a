"""The ports that an intent's nics are on this host: their interfaces and PCI functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from plimsoll.host.ports.netdevs import is_pci_address
from plimsoll.tune.audit.finding import CheckJudgement, not_applicable, tell, worst_of
from plimsoll.tune.host.boot.operating_system import CPUINFO, is_virtual_machine
from plimsoll.tune.host.ports.pcie_link import LINK_READS, PcieLink, functions_on, read_link
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import Nic

_NET = "/sys/class/net"
_PCI = "/sys/bus/pci/devices"
# Where the rendered plimsoll-ports keeps the addresses of those that it bound to vfio-pci,
# and that so lost the interface by which the intent names them.
_KEPT = "/run/plimsoll-ports"

PORT_READS = (
    f"{_PCI}/*/vendor",
    f"{_PCI}/*/device",
    f"{_PCI}/*/class",
    f"{_PCI}/*/numa_node",
    f"{_KEPT}/*",
)
# What judging links needs as well.
PORT_LINK_READS = (CPUINFO, *LINK_READS)
PORT_LINKS = (f"{_NET}/*", f"{_PCI}/*", f"{_PCI}/*/driver", f"{_PCI}/*/physfn")
PORT_LISTS = (f"{_PCI}/*/net",)

# The check whose question it is whether a port is there; the others refer to it.
PRESENCE_CHECK = 39
# The first byte of the class code of network controllers (PCI Code and ID Assignment, 1.4).
_NETWORK_CLASS = "0x02"


@dataclass(frozen=True, slots=True)
class NicPort:
    """`name` is the intent's, or the address where it names a kind of card only.

    `interface` is None where the kernel has none of it (vfio-pci), `address` where the port
    is not a PCI function; `upstream` is the port of the bridge above it.
    """

    nic: Nic
    name: str
    interface: str | None
    address: str | None
    upstream: str | None

    @property
    def pci(self) -> str:
        """Its directory in sysfs. Raises ValueError where it is not a PCI function."""
        if self.address is None:
            raise ValueError(f"{self.name} is not a PCI function")
        return f"{_PCI}/{self.address}"


@dataclass(frozen=True, slots=True)
class AbsentPort:
    """A port of the intent that the host does not show.

    `unnamed`: it is to be bound to vfio-pci itself, and has then no interface to be found by.
    """

    nic: Nic
    name: str

    @property
    def unnamed(self) -> bool:
        """Whether it is looked for by a name that it loses when it is as expected."""
        taken = self.nic.driver == "vfio-pci" and self.nic.num_vfs is None
        return taken and self.name in self.nic.pf_names


def refer(port: AbsentPort) -> CheckJudgement:
    """What all checks but that of its presence say of an absent port."""
    return not_applicable(f"there is no port {port.name} (check {PRESENCE_CHECK})")


def judge_ports(
    view: HostView,
    intent: Intent,
    judge: Callable[[NicPort], CheckJudgement],
    absent: Callable[[AbsentPort], CheckJudgement] = refer,
) -> CheckJudgement:
    """The worst of what `judge` says of each port, and `absent` of those that do not show.

    Not applicable where the intent has none.
    """
    if not intent.nics:
        return not_applicable("the intent names no nics")

    def judged(nic: Nic, name: str) -> CheckJudgement:
        port = _find(view, nic, name)
        return absent(AbsentPort(nic, name)) if port is None else judge(port)

    named = ((nic, name) for nic in intent.nics for name in _names(view, nic))
    return worst_of([tell(partial(judged, nic, name)) for nic, name in named])


def judge_functions(
    view: HostView, intent: Intent, judge: Callable[[NicPort], CheckJudgement]
) -> CheckJudgement:
    """The same of those that are PCI functions."""

    def judged(port: NicPort) -> CheckJudgement:
        if port.address is None:
            return not_applicable(f"{port.name} is not a PCI function")
        return judge(port)

    return judge_ports(view, intent, judged)


def judge_links(
    view: HostView, intent: Intent, judge: Callable[[NicPort, PcieLink], CheckJudgement]
) -> CheckJudgement:
    """The same of those with a PCIe link to judge: what a guest sees is its hypervisor's."""

    def judged(port: NicPort) -> CheckJudgement:
        if is_virtual_machine(view):
            return not_applicable(guests_link(port))
        link = read_link(view, port.address or "")
        if link is None:
            return not_applicable(f"{port.name} has no PCIe link of its own that shows")
        return judge(port, link)

    return judge_functions(view, intent, judged)


def guests_link(port: NicPort) -> str:
    """Why the link of a guest's port is not judged."""
    return f"a guest's PCIe link, here of {port.name}, is its hypervisor's to show: audit that host"


def driver_of(view: HostView, address: str) -> str | None:
    """The driver that a PCI function is bound to; None without. Raises CannotRead."""
    target = view.target(f"{_PCI}/{address}/driver")
    if isinstance(target, Unread):
        if target.cause != "absent":
            raise CannotRead(target)
        return None
    return target.rpartition("/")[2]


def _names(view: HostView, nic: Nic) -> tuple[str, ...]:
    if nic.ports:
        return nic.ports
    return tuple(_of_kind(view, nic)) or (f"of vendor {nic.vendor}, device {nic.device_id}",)


def _of_kind(view: HostView, nic: Nic) -> Iterator[str]:
    """The addresses of all network functions of the vendor and device; no VFs among them."""
    for address in view.listing(_PCI) or ():
        if view.read(f"{_PCI}/{address}/vendor") != f"0x{nic.vendor}":
            continue
        device = (view.read(f"{_PCI}/{address}/device") or "").removeprefix("0x")
        is_vf = view.link(f"{_PCI}/{address}/physfn") is not None
        if not is_vf and nic.device_id in (None, device) and _is_network(view, nic, address):
            yield address


def _is_network(view: HostView, nic: Nic, address: str) -> bool:
    """A vendor alone names its bridges and disks too; captures of old lack the class."""
    found = view.read(f"{_PCI}/{address}/class")
    if found is not None:
        return found.startswith(_NETWORK_CLASS)
    return nic.device_id is not None or bool(view.listing(f"{_PCI}/{address}/net"))


def _find(view: HostView, nic: Nic, name: str) -> NicPort | None:
    by_address = is_pci_address(name)
    path = view.target(f"{_PCI}/{name}" if by_address else f"{_NET}/{name}")
    if isinstance(path, Unread):
        if path.cause != "absent":
            raise CannotRead(path)
        kept = None if by_address else view.read(f"{_KEPT}/{name}")
        return _at(view, nic, name, kept) if kept and is_pci_address(kept) else None
    return _along(view, nic, name, path)


def _at(view: HostView, nic: Nic, name: str, address: str) -> NicPort | None:
    path = view.link(f"{_PCI}/{address}")
    return None if path is None else replace(_along(view, nic, address, path), name=name)


def _along(view: HostView, nic: Nic, name: str, path: str) -> NicPort:
    passed = functions_on(path)
    address = passed[-1] if passed else None
    interface: str | None = name
    if is_pci_address(name):
        interface = next(iter(view.listing(f"{_PCI}/{name}/net") or ()), None)
    return NicPort(nic, name, interface, address, passed[-2] if len(passed) > 1 else None)
