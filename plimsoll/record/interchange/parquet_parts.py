"""A run's metrics as Parquet files, laid out so that many runs are one table.

Below a root, `run=<run id>/<part>.parquet`: DuckDB, Spark, Polars and pyarrow read the folder's
name as a column `run` (Hive partitioning). The files are the record's own, byte for byte.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.interchange.metric_batches import RecordedPeriod
from plimsoll.record.interchange.output_file import unwritable
from plimsoll.record.metrics import METRICS, metric_parts
from plimsoll.record.run_directory import RunDirectory


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
    finished, growing = metric_parts(run, [period.name for period in periods])
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as name:
        made = tuple(_converted(path, Path(name)) for path in growing)
        yield (*finished, *made)


def copy_parts(
    run: RunDirectory, periods: Sequence[RecordedPeriod], root: Path, *, force: bool
) -> tuple[Path, ...]:
    """Copy them below `root` and return their paths there; with `force` over earlier ones.

    Raises InputError where the run is there already or cannot be written, and RecordError.
    """
    folder = root / partition(run)
    if folder.exists() and not force:
        raise InputError(
            "exists already", where=str(folder), remedy="name another folder, or add --force"
        )
    with parquet_parts(run, periods) as parts:
        try:
            folder.mkdir(parents=True, exist_ok=force)
            return tuple(_copy(part, folder / part.name) for part in parts)
        except OSError as error:
            raise unwritable(folder, error) from error


def _copy(part: Path, target: Path) -> Path:
    unfinished = target.with_name(f".{target.name}.unfinished")
    shutil.copyfile(part, unfinished)
    return unfinished.replace(target)


def _converted(growing: Path, folder: Path) -> Path:
    """A copy is turned: the original is its writer's."""
    copied, finished = folder / growing.name, folder / f"{growing.stem}.parquet"
    try:
        shutil.copyfile(growing, copied)
    except FileNotFoundError:
        # It has become Parquet meanwhile.
        return growing.with_name(finished.name)
    except OSError as error:
        raise unwritable(copied, error) from error
    METRICS.convert(copied, finished)
    return finished
