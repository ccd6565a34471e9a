"""What a proposal has to know of a host: CPUs, memory, page sizes and network ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.unread import CannotRead
from plimsoll.tune.host.virtual_machine import CPUINFO, is_virtual_machine
from plimsoll.tune.intent.hugepages import PAGE_BYTES, PageSize
from plimsoll.tune.intent.surveyed_ports import PORT_LINKS, PORT_READS, Port, survey_ports
from plimsoll.tune.intent.topology import Topology, read_topology

_POOLS = "/sys/kernel/mm/hugepages"
_XEN = "/sys/hypervisor/type"
# What a capture has to hold for it, besides what read_topology reads.
SURVEY_READS = (CPUINFO, _XEN, f"{_POOLS}/hugepages-[0-9]*/nr_hugepages", *PORT_READS)
SURVEY_LINKS = PORT_LINKS


@dataclass(frozen=True)
class Survey:
    """`page_sizes` are those of hugepages that the kernel has; `virtual`: it is a guest.

    `where` names the host in a sentence; `sessions_known`: a port that carried the session of
    who asked would be in use.
    """

    topology: Topology
    ports: tuple[Port, ...]
    page_sizes: frozenset[PageSize]
    virtual: bool
    where: str = "this host"
    sessions_known: bool = True


def survey_host(view: HostView, environment: Mapping[str, str] | None = None) -> Survey:
    """Read what `view` shows, live or captured, and change nothing.

    `environment` is that of whoever asks the host itself, None where nobody does: by it the
    port of an SSH session is told. Raises MachineError where not even the host's CPUs can be read.
    """
    return Survey(
        topology=read_topology(view.read),
        ports=survey_ports(view, environment or {}),
        page_sizes=_page_sizes(view),
        virtual=_is_virtual(view),
        where=view.where,
        sessions_known=environment is not None,
    )


def _page_sizes(view: HostView) -> frozenset[PageSize]:
    names = view.listing(_POOLS) or ()
    return frozenset(
        size for size, page in PAGE_BYTES.items() if f"hugepages-{page >> 10}kB" in names
    )


def _is_virtual(view: HostView) -> bool:
    """Xen's guests without the flag have a directory; who shows neither counts as a machine."""
    try:
        return is_virtual_machine(view) or view.read(_XEN) is not None
    except CannotRead:
        return False
