"""What many searches of one strategy on one model amount to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from benchmarks.search.experience import Experience


@dataclass(frozen=True)
class Summary:
    """Of `seeds` searches. Overheads are in hours; loads are shares of the sustainable one.

    `found` of them came to a load line; loads are of those alone, overheads, `survived`, a
    share, and `survival`, the mean of what was to be expected of that, of all. The DUTs of a
    model or family sustain from the first to the second of `sustainable_pps`.
    """

    model: str
    limit: float
    sustainable_pps: tuple[float, float] | None
    strategy: str
    seeds: int
    found: int
    overhead_h: tuple[float, float, float]
    load: tuple[float, float, float] | None
    survived: float
    survival: float

    def row(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def summarise(mine: Sequence[Experience]) -> Summary:
    """Of one model or family and one strategy; there is at least one."""
    first = mine[0]
    found = [each for each in mine if each.load_pps is not None]
    shares = [
        each.load_pps / each.sustainable_pps
        for each in found
        if each.load_pps is not None and each.sustainable_pps is not None
    ]
    sustainable = [each.sustainable_pps for each in mine if each.sustainable_pps is not None]
    return Summary(
        model=first.subject,
        limit=first.limit,
        sustainable_pps=(min(sustainable), max(sustainable)) if sustainable else None,
        strategy=first.contestant,
        seeds=len(mine),
        found=len(found),
        overhead_h=_spread([each.overhead_s / 3600 for each in mine]),
        load=_spread(shares) if shares else None,
        survived=sum(each.survived for each in mine) / len(mine),
        survival=sum(each.survival for each in mine) / len(mine),
    )


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), median(values), max(values)
