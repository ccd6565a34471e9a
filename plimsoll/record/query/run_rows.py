"""The rows of runs as one table in SQL, each with its run and the time range queried."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.table_file import literal_path, parquet_table, unreadable
from plimsoll.record.metrics.metrics import METRICS
from plimsoll.record.query.answer import RunFailure
from plimsoll.record.query.queried_run import PeriodFiles, QueriedRun

# SQL, and a value for each `?` in it.
Sql = tuple[str, list[object]]

_COLUMNS = 'period, source, "type", class, unit, aggregation, begin_ms, end_ms, count, value'
_NAMES_JSON = "names_json"
# Of Parquet from other programs: the same text, at many times the cost.
_MADE_NAMES_JSON = "to_json(map_from_entries(list_sort(map_entries(names))))::VARCHAR AS names_json"


def read_growing(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Make the table of what these files hold by now, which RunRows needs of growing files."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE growing_rows AS "  # noqa: S608
        f"SELECT {_COLUMNS}, {_NAMES_JSON} FROM ({METRICS.growing})",
        [[literal_path(path) for path in paths]],
    )


@dataclass(frozen=True, slots=True)
class RunRows:
    """Makes the SQL for a table of rows of runs.

    Its columns are those of the metrics, `names_json` instead of `names`, and `run` (its
    number), `range_begin_ms` and `range_ms`, the range queried of that run. With
    `foreign` the Parquet need not have been written by Plimsoll.
    """

    foreign: bool = False

    def sql(
        self,
        queried: Sequence[QueriedRun],
        ranges: Mapping[int, tuple[int, int]],
        files_of: Callable[[QueriedRun], PeriodFiles] = lambda run: run.files,
    ) -> Sql:
        """The table for these runs, by number in `ranges` the begin and end in ms.

        Only a run by itself may have files that are still growing.
        """
        if len(queried) == 1:
            return self._of_one(queried[0], ranges, files_of(queried[0]))
        return self._of_many(queried, ranges, files_of)

    @property
    def _columns(self) -> str:
        return f"{_COLUMNS}, {_MADE_NAMES_JSON if self.foreign else _NAMES_JSON}"

    def _of_one(
        self, queried: QueriedRun, ranges: Mapping[int, tuple[int, int]], files: PeriodFiles
    ) -> Sql:
        """Without a join, which would cost as much as all the rest."""
        begin_ms, end_ms = ranges.get(queried.number, (0, 0))
        constants = "?::BIGINT AS run, ?::BIGINT AS range_begin_ms, ?::BIGINT AS range_ms"
        range_values = [queried.number, begin_ms, end_ms - begin_ms]
        selections: list[str] = []
        values: list[object] = []
        if files.finished:
            table = f"SELECT {constants}, {self._columns} FROM {parquet_table()}"  # noqa: S608
            selections.append(table)
            values += [*range_values, [literal_path(path) for path in files.finished]]
        if files.growing:
            selections.append(f"SELECT {constants}, * FROM growing_rows")  # noqa: S608
            values += range_values
        return " UNION ALL ".join(selections), values

    def _of_many(
        self,
        queried: Sequence[QueriedRun],
        ranges: Mapping[int, tuple[int, int]],
        files_of: Callable[[QueriedRun], PeriodFiles],
    ) -> Sql:
        paths: list[str] = []
        names: list[str] = []
        ranges_of_files: list[tuple[int, int, int]] = []
        for run in queried:
            begin_ms, end_ms = ranges.get(run.number, (0, 0))
            found = files_of(run).finished
            paths += map(literal_path, found)
            names += map(os.path.abspath, found)
            ranges_of_files += [(run.number, begin_ms, end_ms - begin_ms)] * len(found)
        statement = (
            f"SELECT run, range_begin_ms, range_ms, {self._columns} "  # noqa: S608
            f"FROM {parquet_table('filename=true')} JOIN (SELECT unnest(?) AS filename, "
            "unnest(?) AS run, unnest(?) AS range_begin_ms, unnest(?) AS range_ms) "
            "USING (filename)"
        )
        columns = [list(column) for column in zip(*ranges_of_files, strict=True)]
        return (statement, [paths, names, *columns]) if paths else ("", [])


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
