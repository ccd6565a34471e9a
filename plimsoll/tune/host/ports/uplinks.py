"""The network interfaces that a host lives by, as far as it or its capture tells."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence

from plimsoll.host.ports.own_traffic import interfaces_in_use, routes_of
from plimsoll.tune.host.ports.pcie_link import functions_on
from plimsoll.tune.host.view.host_view import HostView

ROUTES = "/proc/net/route"
ROUTES_6 = "/proc/net/ipv6_route"
_NOTHING, _NOTHING_6 = "0" * 8, "0" * 32
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


# The host's routes, and what a capture keeps of them: by which interface the default leads.
#
# That shows the ports that the host depends on; which networks and gateways it knows does not
# concern the recipient of a capture.
def default_routes(path: str, text: str) -> str:
    """Of the text of one of those two files the default routes, their gateways blotted out."""
    lines = text.splitlines()
    if path == ROUTES:
        # Interface, destination, gateway, flags, two counts, metric, mask (net/ipv4/fib_trie.c).
        return "\n".join([*lines[:1], *_kept(lines[1:], {1: _NOTHING, 7: _NOTHING}, gateway=2)])
    # Destination, its length, source, its length, next hop, metric … (net/ipv6/route.c).
    return "\n".join(_kept(lines, {0: _NOTHING_6, 1: "00"}, gateway=4))


def _kept(lines: Sequence[str], columns: Mapping[int, str], *, gateway: int) -> Iterator[str]:
    """The lines that have these words in these columns."""
    for words in (line.split() for line in lines):
        if all(words[column : column + 1] == [word] for column, word in columns.items()):
            words[gateway : gateway + 1] = ["0" * len(words[gateway])]
            yield "\t".join(words)
