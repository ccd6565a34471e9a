"""The text in a Parquet file, read and replaced column by column, with the file's own types."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb

from plimsoll.record.files.table_file import connect, literal_path, parquet_table, unreadable

_ROW = "__row"


def parquet_texts(path: Path) -> Iterator[str]:
    """Each text in the file once, those within maps and lists as JSON. Raises RecordError."""
    try:
        with connect() as connection:
            for column, kind in _text_columns(connection, path):
                yield from _distinct(connection, path, column, kind)
    except duckdb.Error as error:
        raise unreadable([path], error) from error


def replace_parquet_text(source: Path, target: Path, replace: Callable[[str], str]) -> None:
    """Write `source` to `target` with each text as `replace` has it; rows keep their order.

    What holds maps, lists or JSON is replaced part by part. Raises RecordError.
    """
    try:
        with connect() as connection:
            columns = _text_columns(connection, source)
            for number, (column, kind) in enumerate(columns):
                texts = _distinct(connection, source, column, kind)
                changed = [(old, new) for old in texts if (new := _replaced(old, replace)) != old]
                connection.execute(f"CREATE TEMP TABLE r{number} (old VARCHAR, new VARCHAR)")
                if changed:
                    insertion = f"INSERT INTO r{number} VALUES (?, ?)"  # noqa: S608
                    connection.executemany(insertion, changed)
            rows = connection.sql(_statement(columns), params=[literal_path(source)])
            rows.write_parquet(os.path.abspath(target), compression="zstd")
    except duckdb.Error as error:
        raise unreadable([source], error) from error


def _text_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[str, str]]:
    described = connection.execute(
        f"DESCRIBE SELECT * FROM {parquet_table()}",  # noqa: S608 - a constant
        [literal_path(path)],
    )
    return [(name, kind) for name, kind, *_ in described.fetchall() if "VARCHAR" in kind]


def _distinct(
    connection: duckdb.DuckDBPyConnection, path: Path, column: str, kind: str
) -> list[str]:
    text = _as_text(column, kind)
    statement = f"SELECT DISTINCT {text} AS text FROM {parquet_table()} WHERE text IS NOT NULL"  # noqa: S608
    return [text for (text,) in connection.execute(statement, [literal_path(path)]).fetchall()]


def _as_text(column: str, kind: str) -> str:
    name = _quoted(column)
    return name if kind == "VARCHAR" else f"to_json({name})::VARCHAR"


def _replaced(text: str, replace: Callable[[str], str]) -> str:
    """JSON stays JSON: what is replaced in it are its strings."""
    if text[:1] in ("{", "["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return replace(text)
        done = replaced_within(found, replace)
        return json.dumps(done, ensure_ascii=False, separators=(",", ":"))
    return replace(text)


def replaced_within(value: object, replace: Callable[[str], str]) -> object:
    """Plain JSON or YAML with each of its strings replaced, keys too."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, dict):
        return {
            replaced_within(key, replace): replaced_within(inner, replace)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [replaced_within(inner, replace) for inner in value]
    return value


def _statement(columns: list[tuple[str, str]]) -> str:
    """The file with its texts looked up; a text that is in no table stays."""
    changed, joins = [], []
    for number, (column, kind) in enumerate(columns):
        name = _quoted(column)
        new = f"r{number}.new" if kind == "VARCHAR" else f"r{number}.new::JSON::{kind}"
        changed.append(f"CASE WHEN r{number}.old IS NULL THEN f.{name} ELSE {new} END AS {name}")
        text = _as_text(column, kind).replace(name, f"f.{name}")
        joins.append(f"LEFT JOIN r{number} ON r{number}.old = {text}")
    replacing = f"REPLACE ({', '.join(changed)})" if changed else ""
    return (
        f"SELECT f.* EXCLUDE ({_ROW}) {replacing} FROM "  # noqa: S608
        "(SELECT * EXCLUDE (file_row_number), "
        f"file_row_number AS {_ROW} FROM {parquet_table('file_row_number=true')}) f "
        f"{' '.join(joins)} ORDER BY f.{_ROW}"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
