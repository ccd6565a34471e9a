"""A DPDK port's counters, as DPDK's telemetry tells them (/ethdev/stats)."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.dut.lab import DutPortCounters
from plimsoll.dut.telemetry import TelemetryError


def ethdev_counters(port: int, stats: Mapping[str, object]) -> DutPortCounters:
    """Of one port since it was started. Raises TelemetryError where one is no count."""
    return DutPortCounters(
        port=port,
        rx_frames=_count(stats, "ipackets"),
        tx_frames=_count(stats, "opackets"),
        rx_missed=_count(stats, "imissed"),
        rx_errors=_count(stats, "ierrors"),
        tx_errors=_count(stats, "oerrors"),
        rx_no_mbuf=_count(stats, "rx_nombuf"),
    )


def _count(stats: Mapping[str, object], name: str) -> int:
    value = stats.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TelemetryError(
            f"the port counter {name!r} is {value!r}, not a count",
            where="DPDK telemetry",
            remedy="check the version of the DUT's DPDK",
        )
    return value
