"""Tables that grow as JSON lines and end as Parquet; DuckDB does the turning and reading."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from plimsoll.errors import Interrupted, MachineError
from plimsoll.record.files.record_error import RecordError, write_failed

T = TypeVar("T")
# What is left of an exception that a signal's handler raised inside of DuckDB.
_INTERRUPTED = "Query interrupted"
# What DuckDB takes for patterns in a path.
_PATTERN = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table's columns and their DuckDB types.

    Parquet files are sorted by `sorted_by`, where given: equal values next to each other
    take a fraction of the space. Rows grow as JSON lines with these columns, unless
    `growing` is SQL that makes rows of other lines; its one `?` is the list of paths.
    `hidden` are extra columns of the Parquet files, which no row shows: they make
    searches faster. `added` are columns that files of earlier versions lack: null there.
    """

    columns: Mapping[str, str]
    sorted_by: str | None = None
    growing: str | None = None
    hidden: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def read(
        self,
        finished: Sequence[Path],
        growing: Sequence[Path] = (),
        *,
        where: str = "true",
        values: Sequence[object] = (),
        order_by: str,
    ) -> list[tuple[Any, ...]]:
        """The rows of Parquet files and of JSON lines still being written, in column order.

        `where` is a condition in SQL with a `?` for each of `values`. A torn last
        line of a growing file is left out. Raises RecordError.
        """
        statement = f"SELECT * FROM rows WHERE {where} ORDER BY {order_by}"  # noqa: S608
        return self.query(finished, growing, statement, values)

    def query(
        self,
        finished: Sequence[Path],
        growing: Sequence[Path],
        statement: str,
        values: Sequence[object] = (),
    ) -> list[tuple[Any, ...]]:
        """What a statement in SQL says of the table `rows`, which those files are.

        Without files it is empty. Raises RecordError.
        """
        return self._ask(finished, growing, statement, values, lambda said: said.fetchall()) or []

    def query_each(
        self,
        finished: Sequence[Path],
        growing: Sequence[Path],
        statements: Sequence[tuple[str, Sequence[object]]],
    ) -> list[list[tuple[Any, ...]]]:
        """What each statement says with its values; growing files are read once for all.

        While a trial is running, parsing their lines is most of the work. Without
        files all are empty. Raises RecordError.
        """
        if not (finished or growing):
            return [[] for _ in statements]
        try:
            with connect() as connection:
                if growing:
                    rows, paths = self._sources((), growing)
                    connection.execute(f"CREATE TEMP TABLE grown AS {rows}", paths)
                rows, paths = self._sources(finished, ())
                both = " UNION ALL ".join([rows] * bool(finished) + ["FROM grown"] * bool(growing))
                return [
                    connection.sql(
                        f"WITH rows AS ({both}) {each}", params=[*paths, *values]
                    ).fetchall()
                    for each, values in statements
                ]
        except duckdb.Error as error:
            raise unreadable([*finished, *growing], error) from error

    def query_arrow(
        self,
        finished: Sequence[Path],
        growing: Sequence[Path],
        statement: str,
        values: Sequence[object] = (),
    ) -> Any | None:
        """The same as an Arrow table, for which pyarrow has to be installed; None without files."""
        return self._ask(finished, growing, statement, values, lambda said: said.to_arrow_table())

    def _ask(
        self,
        finished: Sequence[Path],
        growing: Sequence[Path],
        statement: str,
        values: Sequence[object],
        take: Callable[[duckdb.DuckDBPyRelation], T],
    ) -> T | None:
        sources, paths = self._sources(finished, growing)
        if not sources:
            return None
        try:
            with connect() as connection:
                query = f"WITH rows AS ({sources}) {statement}"
                return take(connection.sql(query, params=[*paths, *values]))
        except duckdb.Error as error:
            raise unreadable([*finished, *growing], error) from error

    def batches(
        self,
        finished: Sequence[Path],
        growing: Sequence[Path],
        statement: str,
        values: Sequence[object] = (),
        *,
        rows: int = 10_000,
    ) -> Iterator[list[tuple[Any, ...]]]:
        """What `query` says, some rows at a time: hours of them never lie in memory together.

        Raises RecordError.
        """
        sources, paths = self._sources(finished, growing)
        if not sources:
            return
        try:
            with connect() as connection:
                connection.execute(f"WITH rows AS ({sources}) {statement}", [*paths, *values])
                while batch := connection.fetchmany(rows):
                    yield batch
        except duckdb.Error as error:
            raise unreadable([*finished, *growing], error) from error

    def convert(self, growing: Path, finished: Path) -> None:
        """Turn the JSON lines of `growing` into `finished`, then remove `growing`.

        Rows that `finished` holds already stay in it; the two together are taken
        as a set, so that a kill between the last two steps doubles nothing. At
        every moment `finished` is complete. Raises RecordError.
        """
        unfinished = finished.with_name(f".{finished.name}.unfinished")
        try:
            self._copy(growing, finished, unfinished)
            unfinished.replace(finished)
            growing.unlink()
        except OSError as error:
            raise write_failed(finished, error) from error

    def _copy(self, growing: Path, finished: Path, target: Path) -> None:
        earlier = [finished] if finished.exists() else []
        sources, paths = self._sources(earlier, [growing], (*self.columns, *self.hidden))
        rows = f"SELECT {'DISTINCT' if earlier else ''} * FROM ({sources})"  # noqa: S608
        if self.sorted_by:
            rows += f" ORDER BY {self.sorted_by}"
        try:
            with connect() as connection:
                # One statement: a relation is planned again at each of its steps.
                connection.execute(
                    f"COPY ({rows}) TO {_quoted(target)} (FORMAT parquet, COMPRESSION zstd)", paths
                )
        except BaseException as error:
            with contextlib.suppress(OSError):
                target.unlink()
            if not isinstance(error, duckdb.Error):
                raise
            raise RecordError(
                f"cannot be turned into Parquet: {_first_line(error)}",
                where=str(growing),
                remedy="make room on this file system, then resume the run",
            ) from error

    def _sources(
        self,
        finished: Sequence[Path],
        growing: Sequence[Path],
        columns: Iterable[str] | None = None,
    ) -> tuple[str, list[object]]:
        names = ", ".join(f'"{name}"' for name in columns or self.columns)
        selections: list[str] = []
        paths: list[object] = []
        if finished:
            selections.append(f"SELECT {names} FROM ({self._finished})")  # noqa: S608
            paths.append([literal_path(path) for path in finished])
        if growing:
            selections.append(f"SELECT {names} FROM ({self._growing})")  # noqa: S608
            paths.append([literal_path(path) for path in growing])
        return " UNION ALL ".join(selections), paths

    @property
    def _finished(self) -> str:
        if not self.added:
            return f"FROM {parquet_table()}"
        nulls = ", ".join(f'NULL::{self.columns[name]} AS "{name}"' for name in self.added)
        files = f"SELECT * FROM {parquet_table('union_by_name=true')}"  # noqa: S608
        return f"{files} UNION ALL BY NAME (SELECT {nulls} LIMIT 0)"

    @property
    def _growing(self) -> str:
        return self.growing or (
            f"FROM read_json(?, format='newline_delimited', columns={self._types}, "
            f"ignore_errors=true, hive_partitioning=false) WHERE {self._first} IS NOT NULL"
        )

    @property
    def _first(self) -> str:
        return f'"{next(iter(self.columns))}"'

    @property
    def _types(self) -> str:
        pairs = ", ".join(f"'{name}': '{kind}'" for name, kind in self.columns.items())
        return f"{{{pairs}}}"


@contextlib.contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own, on one thread, which may read files and has its own TEMP tables.

    It also works during a trial, whose polling loops must not be disturbed. Raises Interrupted
    where a signal's handler did so inside of a statement, which DuckDB would pass off as an
    error of its own, and MachineError where its memory is used up.
    """
    with _database(os.getpid()).cursor() as connection:
        try:
            yield connection
        except RuntimeError as error:
            if str(error) != _INTERRUPTED:
                raise
            raise Interrupted("a signal") from error
        except duckdb.InterruptException as error:
            raise Interrupted("a signal") from error
        except duckdb.OutOfMemoryException as error:
            raise MachineError(
                "there is not enough memory to read or write tables",
                where="DuckDB",
                remedy="give the machine more, or end what else uses it",
            ) from error


@functools.cache
def _database(_: int) -> duckdb.DuckDBPyConnection:
    """A process's one database, in memory: making one takes a hundred times as long as asking."""
    # Parquet and JSON are built in; nothing may be fetched from a network for it.
    return duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # Files grow while they are read.
            "enable_external_file_cache": "false",
            # What does not fit into memory is refused, not spilled into whatever folder this is.
            "temp_directory": "",
            "threads": "1",
        },
    )


def parquet_table(*options: str) -> str:
    """SQL for the rows of Parquet files, a list of whose literal paths is its parameter.

    No folder's name, as in period=7, becomes a column.
    """
    return f"read_parquet({', '.join(('?', 'hive_partitioning=false', *options))})"


def literal_path(path: Path) -> str:
    """A path as DuckDB is to be given it, so that it opens this file and no other.

    It takes paths for patterns; in brackets a character stands for itself. Raises RecordError
    for one that it cannot be given.
    """
    text = os.path.abspath(path)
    if not _PATTERN.intersection(text):
        return text
    if "\\" in text:
        raise RecordError(
            "a path that has both a backslash and one of * ? [ cannot be read",
            where=text,
            remedy="rename the folder",
        )
    return "".join(f"[{each}]" if each in _PATTERN else each for each in text)


def _quoted(path: Path) -> str:
    """A path as SQL's text, for where a parameter cannot stand and patterns are none."""
    return "'" + os.path.abspath(path).replace("'", "''") + "'"


def _shown(path: Path) -> str:
    """As messages of DuckDB have it."""
    return "".join(f"[{each}]" if each in _PATTERN else each for each in os.path.abspath(path))


def unreadable(paths: Sequence[Path], error: duckdb.Error) -> RecordError:
    """The error for files of which DuckDB says this: for those that it names, if it does."""
    message = _first_line(error)
    named = [path for path in paths if str(path) in message or _shown(path) in message]
    where = ", ".join(str(path) for path in (named or paths)[:3])
    if isinstance(error, duckdb.OutOfMemoryException):
        return RecordError(
            "there is not enough memory to read it",
            where=where,
            remedy="give the machine more, or end what else uses it",
        )
    if isinstance(error, duckdb.BinderException):
        # Statements name no columns but those of the record.
        return RecordError(
            f"has other columns than this version of Plimsoll records: {message}",
            where=where,
            remedy="read it with the version that recorded it, which plimsoll runs show says",
        )
    return RecordError(
        f"cannot be read: {message}",
        where=where,
        remedy="restore the file from a copy of the run, or delete it and lose its series",
    )


def _first_line(error: duckdb.Error) -> str:
    """Below it are lines of our statement."""
    return str(error).partition("\n")[0]
