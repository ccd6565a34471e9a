"""Reads many runs in one statement each time, and still tells which of them are damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import duckdb

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.table_file import unreadable
from plimsoll.record.query.answer import RunFailure
from plimsoll.record.query.queried_run import QueriedRun
from plimsoll.record.query.run_rows import RunRows, read_growing

ReadRows = Callable[[Sequence[QueriedRun], RunRows], None]

_READINGS = 5


def read_in_groups(
    connection: duckdb.DuckDBPyConnection, queried: Sequence[QueriedRun], read: ReadRows
) -> list[RunFailure]:
    """Have `read` read all runs that have files: a few groups, each in one transaction.

    Runs still growing are groups of their own. A group that cannot be read is halved until
    it is clear which run is to blame; the others are read. Returns those that were not.
    """
    damaged = [RunFailure(run.label, run.damage) for run in queried if run.damage]
    with_files = [run for run in queried if run.files.paths]
    growing = [run for run in with_files if run.files.growing]
    finished = [run for run in with_files if not run.files.growing]
    failures = damaged + (_read_group(connection, finished, read) if finished else [])
    for run in growing:
        failures += _read_growing(connection, run, read)
    return sorted(failures, key=lambda failure: failure.run)


def _read_group(
    connection: duckdb.DuckDBPyConnection, group: Sequence[QueriedRun], read: ReadRows
) -> list[RunFailure]:
    if len(group) == 1:
        return _read_alone(connection, group[0], read)
    try:
        with _transaction(connection, group):
            read(group, RunRows())
    except RecordError:
        half = len(group) // 2
        first = _read_group(connection, group[:half], read)
        return first + _read_group(connection, group[half:], read)
    return []


def _read_alone(
    connection: duckdb.DuckDBPyConnection, run: QueriedRun, read: ReadRows
) -> list[RunFailure]:
    """First as we write files; then, at many times the cost, as others may write them."""
    for foreign in (False, True):
        try:
            with _transaction(connection, [run]):
                if run.files.growing:
                    read_growing(connection, run.files.growing)
                read([run], RunRows(foreign=foreign))
        except RecordError as error:
            failure = RunFailure(run.label, error)
        else:
            return []
    return [failure]


def _read_growing(
    connection: duckdb.DuckDBPyConnection, run: QueriedRun, read: ReadRows
) -> list[RunFailure]:
    failures: list[RunFailure] = []
    for _ in range(_READINGS):
        failures = _read_alone(connection, run, read)
        # A part that became Parquet while it was read is read as that.
        if not failures or all(path.exists() for path in run.files.growing):
            break
        run = run.anew()
    return failures


@contextmanager
def _transaction(
    connection: duckdb.DuckDBPyConnection, group: Sequence[QueriedRun]
) -> Iterator[None]:
    connection.begin()
    try:
        yield
    except duckdb.Error as error:
        connection.rollback()
        raise unreadable([path for run in group for path in run.files.paths], error) from error
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
