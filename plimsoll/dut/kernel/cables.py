"""Two veth cables from the tester into a namespace, whose ends there are the DUT's ports."""

from __future__ import annotations

from plimsoll.host.namespaces.network_namespace import (
    LinkCounters,
    NetworkNamespace,
    counters_of,
)

# The DUT's ports, as they are called in its namespace.
DUT_PORTS = ("port0", "port1")


def lay_cables(
    namespace: NetworkNamespace, mtu: int, dut_ports: tuple[str, ...] = DUT_PORTS
) -> tuple[str, ...]:
    """Make them, up; the tester's ends by port. Raises MachineError."""
    return tuple(namespace.cable(port, end, mtu) for port, end in enumerate(dut_ports))


def cable_counters(
    namespace: NetworkNamespace, dut_ports: tuple[str, ...] = DUT_PORTS
) -> tuple[LinkCounters, ...]:
    """Of the DUT's ends; `rx_dropped` are the frames that did not fit into its CPU's backlog.

    A veth counts those at the sending end, as not transmitted. The drops that the DUT's end
    itself counts are of frames that it took before, such as those of a protocol that is not
    its own.
    """
    inside = namespace.link_counters()
    return tuple(
        _with_backlog_drops(inside[end], counters_of(namespace.tester_end(port)))
        for port, end in enumerate(dut_ports)
    )


def _with_backlog_drops(dut: LinkCounters, tester: LinkCounters) -> LinkCounters:
    return LinkCounters(
        rx_packets=dut.rx_packets,
        rx_dropped=tester.tx_dropped,
        rx_errors=dut.rx_errors,
        tx_packets=dut.tx_packets,
        tx_dropped=dut.tx_dropped,
        tx_errors=dut.tx_errors,
    )
