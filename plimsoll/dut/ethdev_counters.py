"""A DPDK port's counters, as DPDK's telemetry tells them (/ethdev/stats)."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.dut.lab import DutPortCounters
from plimsoll.host.dpdk_telemetry import counter


def ethdev_counters(port: int, stats: Mapping[str, object]) -> DutPortCounters:
    """Of one port since it was started. Raises TelemetryError where one is no count."""
    return DutPortCounters(
        port=port,
        rx_frames=counter(stats, "ipackets"),
        tx_frames=counter(stats, "opackets"),
        rx_missed=counter(stats, "imissed"),
        rx_errors=counter(stats, "ierrors"),
        tx_errors=counter(stats, "oerrors"),
        rx_no_mbuf=counter(stats, "rx_nombuf"),
    )
