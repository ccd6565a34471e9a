"""A run's metrics as Parquet files, laid out so that many runs are one table.

Below a root, `run=<run id>/<part>.parquet`: DuckDB, Spark, Polars and pyarrow read the folder's
name as a column `run` (Hive partitioning). The files are the record's own, byte for byte.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.export.metric_batches import RecordedPeriod
from plimsoll.export.output_file import new_folders, unwritable
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.metrics.metrics import METRICS, held_parts
from plimsoll.record.run.run_directory import RunDirectory


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
