"""The ports of a proposed experiment: two cards that DPDK can open and the host can spare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from plimsoll.host.ports.machine_ports import MachinePort
from plimsoll.host.ports.port_needs import is_open_to_dpdk
from plimsoll.text.plain_text import plain_text


def pair_of_ports(ports: Sequence[MachinePort]) -> tuple[MachinePort, ...]:
    """The first two that will do, on one NUMA node if possible; none where there is one or none."""
    open_ones = sorted((port for port in ports if _will_do(port)), key=_node)
    of_a_node = [tuple(group) for _, group in groupby(open_ones, key=_node)]
    pairs = [group[:2] for group in (*of_a_node, tuple(open_ones)) if len(group) > 1]
    return pairs[0] if pairs else ()


def line_rate_of(ports: Sequence[MachinePort]) -> str | None:
    """The slower port's, as an experiment says it; None where the kernel does not know both."""
    speeds = [port.speed_mbps for port in ports if port.speed_mbps]
    if not speeds or len(speeds) < len(ports):
        return None
    slowest = min(speeds)
    return f"{slowest}Mbps" if slowest % 1000 else f"{slowest // 1000}Gbps"


def ports_in_words(ports: Sequence[MachinePort]) -> Iterator[str]:
    """Each card, and what it still needs for DPDK, or why it is to be left alone."""
    for port in ports:
        if port.pci_address is None:
            continue
        named = f" ({plain_text(port.name)})" if port.name else ""
        state = (
            f"missing for DPDK: {'; '.join(port.pci_needs)}" if port.pci_needs else "ready for DPDK"
        )
        if port.in_use:
            state = f"in use, {port.in_use}"
        yield f"Port {port.pci_address}{named}, driver {port.driver or 'none'}; {state}."


def _will_do(port: MachinePort) -> bool:
    return port.pci_address is not None and not port.in_use and is_open_to_dpdk(port.driver)


def _node(port: MachinePort) -> int:
    return -1 if port.numa_node is None else port.numa_node
