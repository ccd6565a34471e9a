"""Metrics by the thousand: hours of rows are read without ever lying in memory together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.record.metrics.metrics import METRICS, held_parts, query_metrics
from plimsoll.record.query.matching_periods import matching_periods, unknown_period
from plimsoll.record.run.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class RecordedPeriod:
    """A period of a run, and from when to when its metrics are, in ms since the epoch.

    `moved_ms` is by how much later than its rows it is to be shown.
    """

    name: str
    begin_ms: int
    end_ms: int
    moved_ms: int = 0

    def moved(self, by_ms: int) -> RecordedPeriod:
        """The same, so much later."""
        return RecordedPeriod(
            self.name, self.begin_ms + by_ms, self.end_ms + by_ms, self.moved_ms + by_ms
        )


def metric_batches(
    run: RunDirectory, statement: str, values: Sequence[object] = (), *, period: str
) -> Iterator[list[tuple[Any, ...]]]:
    """What a statement in SQL says of the table `rows`, one period's metrics, in batches.

    They come as the files have them: by source, type, names and time. Raises RecordError.
    """
    with held_parts(run, [period]) as (finished, growing):
        yield from METRICS.batches(finished, growing, statement, values)


def periods_to_export(
    run: RunDirectory, words: Sequence[str] | None = None
) -> tuple[RecordedPeriod, ...]:
    """The periods that have metrics, by name; or those that the words `words` mean.

    Raises InputError for a word that means none, and RecordError.
    """
    statement = (
        "SELECT period, min(begin_ms), max(end_ms) FROM rows GROUP BY period ORDER BY period"
    )
    found = {row[0]: RecordedPeriod(*row) for row in query_metrics(run, statement)}
    if words is None or not found:
        return tuple(found.values())
    names: set[str] = set()
    for word in words:
        matching = matching_periods(word, run, found)
        if not matching:
            raise unknown_period(word, list(found))
        names.update(matching)
    return tuple(period for name, period in found.items() if name in names)
