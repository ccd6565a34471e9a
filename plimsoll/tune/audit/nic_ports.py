"""The ports that an intent's nics are on this host: their interfaces and PCI functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from plimsoll.tune.audit.finding import Judgement, fail, not_applicable, tell, worst_of
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.unread import CannotRead, Unread
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import Nic

_NET = "/sys/class/net"
_PCI = "/sys/bus/pci/devices"

PORT_READS = (f"{_PCI}/*/vendor", f"{_PCI}/*/device", f"{_PCI}/*/numa_node")
PORT_LINKS = (f"{_NET}/*", f"{_PCI}/*", f"{_PCI}/*/driver", f"{_PCI}/*/physfn")
PORT_LISTS = (f"{_PCI}/*/net",)

_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@dataclass(frozen=True, slots=True)
class NicPort:
    """`name` is the intent's, or the address where it names a kind of card only.

    `interface` is None where the kernel has none of it (vfio-pci), `address` where the port
    is no PCI function; `upstream` is the port of the bridge above it.
    """

    nic: Nic
    name: str
    interface: str | None
    address: str | None
    upstream: str | None

    @property
    def pci(self) -> str:
        """Its directory in sysfs. Raises ValueError where it is no PCI function."""
        if self.address is None:
            raise ValueError(f"{self.name} is no PCI function")
        return f"{_PCI}/{self.address}"


def judge_ports(view: HostView, intent: Intent, judge: Callable[[NicPort], Judgement]) -> Judgement:
    """The worst of what `judge` says of each port; not applicable where the intent has none."""
    if not intent.nics:
        return not_applicable("the intent names no nics")
    judged: list[Judgement] = []
    for nic in intent.nics:
        judged += [tell(partial(_judge, view, nic, name, judge)) for name in _names(view, nic)]
    return worst_of(judged)


def judge_functions(
    view: HostView, intent: Intent, judge: Callable[[NicPort], Judgement]
) -> Judgement:
    """The same of those that are PCI functions."""

    def judged(port: NicPort) -> Judgement:
        if port.address is None:
            return not_applicable(f"{port.name} is no PCI function")
        return judge(port)

    return judge_ports(view, intent, judged)


def driver_of(view: HostView, address: str) -> str | None:
    """The driver that a PCI function is bound to; None without. Raises CannotRead."""
    target = view.target(f"{_PCI}/{address}/driver")
    if isinstance(target, Unread):
        if target.cause != "absent":
            raise CannotRead(target)
        return None
    return target.rpartition("/")[2]


def _judge(view: HostView, nic: Nic, name: str, judge: Callable[[NicPort], Judgement]) -> Judgement:
    port = _find(view, nic, name)
    if port is None:
        return fail(f"there is no port {name}", wanted=f"the port {name} of nic {nic.name}")
    return judge(port)


def _names(view: HostView, nic: Nic) -> tuple[str, ...]:
    if nic.pf_names or nic.pci:
        return (*nic.pf_names, *nic.pci)
    return tuple(_of_kind(view, nic)) or (f"of vendor {nic.vendor}, device {nic.device_id}",)


def _of_kind(view: HostView, nic: Nic) -> Iterator[str]:
    """The addresses of all functions of the vendor and device; no VFs among them."""
    for address in view.listing(_PCI) or ():
        if view.read(f"{_PCI}/{address}/vendor") != f"0x{nic.vendor}":
            continue
        device = view.read(f"{_PCI}/{address}/device")
        is_vf = view.link(f"{_PCI}/{address}/physfn") is not None
        if not is_vf and nic.device_id in (None, (device or "").removeprefix("0x")):
            yield address


def _find(view: HostView, nic: Nic, name: str) -> NicPort | None:
    by_address = _ADDRESS.fullmatch(name) is not None
    path = view.target(f"{_PCI}/{name}" if by_address else f"{_NET}/{name}")
    if isinstance(path, Unread):
        if path.cause == "absent":
            return None
        raise CannotRead(path)
    passed = [part for part in path.split("/") if _ADDRESS.fullmatch(part)]
    address = passed[-1] if passed else None
    interface: str | None = name
    if by_address:
        interface = next(iter(view.listing(f"{_PCI}/{name}/net") or ()), None)
    return NicPort(nic, name, interface, address, passed[-2] if len(passed) > 1 else None)
