"""How many cores line rate takes, by what one core carries here."""

from __future__ import annotations

from collections.abc import Sequence

from contest import Row
from contests.scaling import IMIX_BYTES, LONE_CORE
from line_rates import cores
from rich.table import Table

_LINKS_GBPS = (10, 25, 40, 100, 200)


def plan_table(rows: Sequence[Row]) -> Table | None:
    """From the median of the rows of one core; None without any."""
    measured = [
        (row.work.removeprefix(f"{LONE_CORE}, "), row.ours.median)
        for row in rows
        if row.work.startswith(f"{LONE_CORE}, ") and row.unit == "Mpps"
    ]
    if not measured:
        return None
    table = Table(
        title="cores for a full line each way, by the medians above; a card's driver comes on top",
        title_justify="left",
        box=None,
    )
    table.add_column("frames")
    table.add_column("Mpps a core", justify="right")
    for gbps in _LINKS_GBPS:
        table.add_column(f"{gbps}G", justify="right")
    for frames, mpps in measured:
        numbers = (str(cores(gbps, _bytes_of(frames), mpps)) for gbps in _LINKS_GBPS)
        table.add_row(frames, f"{mpps:.1f}", *numbers)
    return table


def _bytes_of(frames: str) -> float:
    """Of "64 bytes", or the mean of the mix."""
    number, _, unit = frames.partition(" ")
    return float(number) if unit == "bytes" else IMIX_BYTES
