"""What many searches of one strategy on one model amount to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from experience import Experience
from subjects import Subject


@dataclass(frozen=True)
class Summary:
    """Of `seeds` searches. Overheads are in hours; loads are shares of the sustainable one.

    `found` of them came to a load line; loads are of those alone, overheads and
    `survived`, a share, of all.
    """

    model: str
    limit: float
    sustainable_pps: float | None
    strategy: str
    seeds: int
    found: int
    overhead_h: tuple[float, float, float]
    load: tuple[float, float, float] | None
    survived: float

    def row(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def summarise(subject: Subject, contestant: str, all_of_it: Sequence[Experience]) -> Summary:
    """Of one model and strategy."""
    mine = [
        each for each in all_of_it if (each.subject, each.contestant) == (subject.name, contestant)
    ]
    loads = [each.load_pps for each in mine if each.load_pps is not None]
    sustainable = subject.sustainable_pps
    shares = [load / sustainable for load in loads] if sustainable else []
    return Summary(
        model=subject.name,
        limit=subject.limit,
        sustainable_pps=sustainable,
        strategy=contestant,
        seeds=len(mine),
        found=len(loads),
        overhead_h=_spread([each.overhead_s / 3600 for each in mine]),
        load=_spread(shares) if shares else None,
        survived=sum(each.survived for each in mine) / len(mine),
    )


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), median(values), max(values)
