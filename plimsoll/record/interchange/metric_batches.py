"""Metrics by the thousand: hours of rows are read without ever lying in memory together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.record.metrics import METRICS, metric_parts, query_metrics
from plimsoll.record.run_directory import RunDirectory

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class RecordedPeriod:
    """A period of a run, and from when to when its metrics are, in ms since the epoch."""

    name: str
    begin_ms: int
    end_ms: int


def metric_batches(
    run: RunDirectory, statement: str, values: Sequence[object] = (), *, period: str
) -> Iterator[list[tuple[Any, ...]]]:
    """What a statement in SQL says of the table `rows`, one period's metrics, in batches.

    They come as the files have them: by source, type, names and time. Raises RecordError.
    """
    finished, growing = metric_parts(run, [period])
    return METRICS.batches(finished, growing, statement, values)


def periods_to_export(
    run: RunDirectory, wanted: Sequence[str] | None = None
) -> tuple[RecordedPeriod, ...]:
    """The periods that have metrics, by name; or those `wanted`, of which each has to be there.

    Raises InputError for one that is not, and RecordError.
    """
    statement = (
        "SELECT period, min(begin_ms), max(end_ms) FROM rows GROUP BY period ORDER BY period"
    )
    found = [RecordedPeriod(*row) for row in query_metrics(run, statement)]
    for name in wanted or ():
        if name not in {period.name for period in found}:
            raise _no_such_period(run, name, found)
    return tuple(each for each in found if wanted is None or each.name in wanted)


def _no_such_period(run: RunDirectory, name: str, found: Sequence[RecordedPeriod]) -> InputError:
    named = ", ".join(period.name for period in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return InputError(
        f"the run has no metrics of a period {name!r}",
        where=str(run.path),
        remedy=f"it has {named}{more}" if found else "it has none at all yet",
    )
