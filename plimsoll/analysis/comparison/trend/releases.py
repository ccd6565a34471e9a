"""Runs in the order of releases: those that share a tag, or a fact, are repetitions of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from plimsoll.analysis.comparison.grouping import grouped
from plimsoll.analysis.comparison.side import Side
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.text.counted import counted
from plimsoll.text.natural_order import natural_order

ReleaseOrder = Literal["measured", "name"]


@dataclass(frozen=True, slots=True)
class Releases:
    """At least two, the oldest first. `left_out` is how many runs lack the tag or fact."""

    sides: tuple[Side, ...]
    left_out: int = 0

    @property
    def experiments(self) -> tuple[str, ...]:
        """The names of the experiments that were run, each once."""
        runs = (run for side in self.sides for run in side.runs)
        return tuple(sorted({run.summary.name for run in runs if run.summary}))


def releases_of(runs: Iterable[RunEntry], by: str | None, order: ReleaseOrder) -> Releases:
    """The runs that have come to their end, by their value of `by`; None: each by itself.

    "measured" orders releases by when the first run of each began, "name" by their names, with
    2 before 10. Raises InputError for fewer than two releases.
    """
    finished = sorted(
        (each for each in runs if each.state == "finished"),
        key=lambda each: (each.began_unix_ns or 0, each.run_id),
    )
    sides = grouped(finished, [by]) if by else [Side(run.run_id, (run,)) for run in finished]
    if order == "name":
        sides.sort(key=lambda side: natural_order(side.label))
    if len(sides) < 2:
        raise InputError(
            f"{counted(len(finished), 'run')} that came to an end make "
            f"{counted(len(sides), 'release')}; a trend takes two or more",
            where=f"--by {by}" if by else "plimsoll trend",
            remedy="plimsoll runs lists runs with their tags; plimsoll runs tag adds one",
        )
    return Releases(tuple(sides), len(finished) - sum(len(side.runs) for side in sides))
