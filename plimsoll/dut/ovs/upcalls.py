"""Upcalls: packets for which no cache of the switch had a rule, so that it took its slow path."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.dut.ovs.figures import Figures
from plimsoll.dut.sight import Remark

# Of the userspace datapath, and of the kernel's, which counts a recirculated packet again.
_RECEIVED = ("packets received", "lookups")
_ANSWERED, _FAILED = "miss with success upcall", "miss with failed upcall"
# The first packet of each flow is one; beyond this share of all packets it is no start any more.
_STORM_SHARE = 0.01
_STORM_UPCALLS = 1000


def upcall_remarks(before: Figures, after: Figures) -> Iterator[Remark]:
    """Of a trial, between two readings of the figures: a storm, and upcalls that failed."""
    received = sum(_grown(before, after, name) for name in _RECEIVED)
    answered, failed = (_grown(before, after, name) for name in (_ANSWERED, _FAILED))
    upcalls = answered + failed
    least = max(_STORM_UPCALLS, _STORM_SHARE * received)
    if upcalls >= least:
        yield Remark(
            rule="upcalls",
            subject="switch",
            value=upcalls,
            limit=least,
            unit="packets",
            text=f"an upcall storm: {upcalls:,} of the {received:,} packets that the switch "
            "received went to its slow path, which is what it then was measured by",
        )
    if failed:
        yield Remark(
            rule="failed-upcalls",
            subject="switch",
            value=failed,
            limit=0,
            unit="packets",
            text=f"{failed:,} packets were lost because the switch's slow path was not free",
        )


def _grown(before: Figures, after: Figures, name: str) -> int:
    """Over all threads; of one that came in between all counts."""
    return sum(
        figures.get(name, 0) - before.get(thread, {}).get(name, 0)
        for thread, figures in after.items()
    )
