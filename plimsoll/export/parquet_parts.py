"""A run's metrics by the thousand rows, and as Parquet files of which many are one table.

Below a root, `run=<run id>/<part>.parquet`: DuckDB, Spark, Polars and pyarrow read the folder's
name as a column `run` (Hive partitioning). The files are the record's own, byte for byte.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError
from plimsoll.export.output_file import new_folders, unwritable
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.metrics.metrics import METRICS, held_parts, query_metrics
from plimsoll.record.query.queried_run import matching_periods, unknown_period
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


def partition(run: RunDirectory) -> str:
    """The folder of the run below the root: each run's own, also of those of a matrix."""
    path = run.path.resolve()
    matrix = path.parent.parent
    if path in part_paths(matrix):
        # All of them are called sample-1, and so on.
        return f"run={matrix.name}.{path.parent.name}.{path.name}"
    return f"run={run.run_id}"


@contextmanager
def parquet_parts(
    run: RunDirectory, periods: Sequence[RecordedPeriod]
) -> Iterator[tuple[Path, ...]]:
    """The Parquet files of these periods; what still grows as it is now, made for the while.

    Raises RecordError.
    """
    with held_parts(run, [period.name for period in periods]) as (finished, copies):
        yield (*finished, *map(_converted, copies))


def copy_parts(
    run: RunDirectory, periods: Sequence[RecordedPeriod], root: Path, *, force: bool
) -> tuple[Path, ...]:
    """Copy them below `root` and return their paths there; with `force` over earlier ones.

    Raises InputError where the run is there already or cannot be written, MachineError where
    that is the disk's doing, and RecordError. Of a run that was not there nothing stays then.
    """
    folder = root / partition(run)
    if folder.exists() and not force:
        raise InputError(
            "exists already", where=str(folder), remedy="name another folder, or add --force"
        )
    with parquet_parts(run, periods) as parts:
        try:
            with new_folders(folder):
                return _copied(parts, folder)
        except OSError as error:
            raise unwritable(folder, error) from error


def _copied(parts: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """All of them at their new place, or none."""
    unfinished = {folder / part.name: folder / f".{part.name}.unfinished" for part in parts}
    try:
        for part, copy in zip(parts, unfinished.values(), strict=True):
            shutil.copyfile(part, copy)
        return tuple(copy.replace(target) for target, copy in unfinished.items())
    finally:
        for copy in unfinished.values():
            copy.unlink(missing_ok=True)


def _converted(copy: Path) -> Path:
    """Of a part that still grows; the original is its writer's."""
    finished = copy.with_suffix(".parquet")
    METRICS.convert(copy, finished)
    return finished
