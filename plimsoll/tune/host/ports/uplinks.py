"""The network interfaces that a host lives by, as far as it or its capture tells."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping

from plimsoll.host.ports.own_traffic import interfaces_in_use, routes_of
from plimsoll.tune.host.ports.own_routes import ROUTES, ROUTES_6
from plimsoll.tune.host.ports.pci_path import functions_on
from plimsoll.tune.host.view.host_view import HostView

_NET = "/sys/class/net"
_PCI = "/sys/bus/pci/devices"
_UPPER = "upper_"
_OVS_DATAPATH = "ovs-system"

UPLINK_READS = (ROUTES, ROUTES_6)
UPLINK_LINKS = (f"{_NET}/*", f"{_NET}/*/{_UPPER}*", f"{_PCI}/*/physfn")


def uplinks(
    view: HostView, interfaces: Collection[str], environment: Mapping[str, str]
) -> Mapping[str, str]:
    """Those that must be left alone, with the reason; all of `interfaces` where that is unknown.

    `environment` is that of the caller on the host itself, for the SSH session that it names.
    """
    reason = "it is unknown whether the host's own traffic takes it: "
    unknown = view.why_not(ROUTES)
    if unknown is not None:
        return dict.fromkeys(interfaces, f"{reason}{unknown}")
    try:
        routes = routes_of(_lines(view, ROUTES), _lines(view, ROUTES_6))
    except (ValueError, struct.error):
        # A capture may hold anything.
        return dict.fromkeys(
            interfaces, f"{reason}{ROUTES} has no routes as the kernel writes them"
        )
    return interfaces_in_use(routes, _masters(view), environment)


def uplink_functions(view: HostView) -> Mapping[str, str]:
    """The same of PCI functions, by address, and for a caller on the host itself.

    One that the kernel has no interface of carries nothing of the host's.
    """
    functions: dict[str, str] = {}
    for name in view.listing(_NET) or ():
        if on_the_way := functions_on(view.link(f"{_NET}/{name}") or ""):
            functions[name] = on_the_way[-1]
    used = uplinks(view, functions, view.session())
    return {functions[name]: reason for name, reason in used.items() if name in functions}


def uplink_vfs(view: HostView, address: str) -> str:
    """Which VFs of the function `address` are among them, and why; empty where none is."""
    return "; ".join(
        f"{each}: {reason}"
        for each, reason in uplink_functions(view).items()
        if (view.link(f"{_PCI}/{each}/physfn") or "").rpartition("/")[2] == address
    )


def _masters(view: HostView) -> dict[str, tuple[str, ...]]:
    """The interfaces built upon each.

    Open vSwitch's bridges, such as OpenShift's br-ex, are not linked to the datapath that their
    ports are below: any virtual interface with nothing below it may be one.
    """
    masters = {name: _built_upon(view, name) for name in view.listing(_NET) or ()}
    if _OVS_DATAPATH in masters:
        linked = {master for above in masters.values() for master in above}
        masters[_OVS_DATAPATH] = tuple(
            name
            for name in masters
            if name not in linked and "/virtual/" in (view.link(f"{_NET}/{name}") or "")
        )
    return masters


def _built_upon(view: HostView, name: str) -> tuple[str, ...]:
    """The bridges, bonds and the like that have the interface below them."""
    names = view.listing(f"{_NET}/{name}") or ()
    return tuple(each.removeprefix(_UPPER) for each in names if each.startswith(_UPPER))


def _lines(view: HostView, path: str) -> list[str]:
    # A kernel without IPv6 has no such file.
    return (view.read(path) or "").splitlines()
