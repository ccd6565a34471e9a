"""What a proposal has to know of a host: CPUs, memory, page sizes and network ports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.tune.fit.topology import Topology, read_topology
from plimsoll.tune.host.boot.virtual_machine import CPUINFO, is_virtual_machine
from plimsoll.tune.host.memory.hugepage_pools import POOL_READS, NodePool, read_pools
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.hugepages import PAGE_BYTES, PageSize
from plimsoll.tune.proposal.surveyed_ports import PORT_LINKS, PORT_READS, SurveyedPort, survey_ports

_POOLS = "/sys/kernel/mm/hugepages"
_MEMINFO = "/proc/meminfo"
_DEFAULT_SIZE = re.compile(r"^Hugepagesize:\s+(\d{1,12}) kB$", re.ASCII | re.MULTILINE)
_XEN = "/sys/hypervisor/type"
# What a capture has to hold for it, in addition to what read_topology reads.
SURVEY_READS = (CPUINFO, _XEN, _MEMINFO, *POOL_READS, *PORT_READS)
SURVEY_LINKS = PORT_LINKS


@dataclass(frozen=True)
class Survey:
    """`page_sizes` are those of hugepages that the kernel has; `virtual`: it is a guest.

    `pools` are the pages set aside, `default_page_size` is that of who names no size; the
    one is empty and the other None where they cannot be read.
    `where` names the host in a sentence; `sessions_known`: a port that carried the caller's
    session would be in use.
    """

    topology: Topology
    ports: tuple[SurveyedPort, ...]
    page_sizes: frozenset[PageSize]
    virtual: bool
    where: str = "this host"
    sessions_known: bool = True
    pools: tuple[NodePool, ...] = ()
    default_page_size: PageSize | None = None


def survey_host(view: HostView, environment: Mapping[str, str] | None = None) -> Survey:
    """Read what `view` shows, live or captured, and change nothing.

    `environment` is that of a caller on the host itself, else None: it identifies the
    port of an SSH session. Raises MachineError where not even the host's CPUs can be read.
    """
    topology = read_topology(view.read)
    return Survey(
        topology=topology,
        ports=survey_ports(view, environment or {}),
        page_sizes=_page_sizes(view),
        virtual=_is_virtual(view),
        where=view.where,
        sessions_known=environment is not None,
        pools=_pools(view, topology),
        default_page_size=_default_page_size(view),
    )


def _page_sizes(view: HostView) -> frozenset[PageSize]:
    names = view.listing(_POOLS) or ()
    return frozenset(
        size for size, page in PAGE_BYTES.items() if f"hugepages-{page >> 10}kB" in names
    )


def _pools(view: HostView, topology: Topology) -> tuple[NodePool, ...]:
    try:
        return read_pools(view, tuple(topology.nodes))
    except CannotRead:
        return ()


def _default_page_size(view: HostView) -> PageSize | None:
    found = _DEFAULT_SIZE.search(view.read(_MEMINFO) or "")
    sizes = {page >> 10: size for size, page in PAGE_BYTES.items()}
    return sizes.get(int(found[1])) if found else None


def _is_virtual(view: HostView) -> bool:
    """Xen's guests without the flag have a directory; who shows neither counts as a machine."""
    try:
        return is_virtual_machine(view) or view.read(_XEN) is not None
    except CannotRead:
        return False
