"""Text replaced in Parquet files, read back by DuckDB itself."""

from pathlib import Path

import duckdb
import pytest

from plimsoll.export.redaction.pseudonyms import parquet_texts, replace_parquet_text
from plimsoll.record.files.record_error import RecordError

ROWS = """
    SELECT * FROM (VALUES
        (3, 'dut-7 is slow', map{'hostname': 'dut-7', 'num': '0'}, ['dut-7', 'x'],
         '{"hostname":"dut-7"}', 1.5::DOUBLE, NULL),
        (1, NULL, map{}, NULL, '{broken dut-7', NULL, 7::UBIGINT),
        (2, 'fine', map{'quote': 'a"b\\c'}, [], NULL, 'nan'::DOUBLE, 18446744073709551615::UBIGINT)
    ) t(number, note, names, listed, names_json, value, tsc)
"""


def renamed(text: str) -> str:
    return text.replace("dut-7", "host-1")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.parquet"
    duckdb.sql(ROWS).write_parquet(str(path), compression="zstd")
    return path


def rows(path: Path) -> list[tuple[object, ...]]:
    return duckdb.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()


def columns(path: Path) -> list[tuple[object, ...]]:
    return duckdb.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()


def test_every_text_is_replaced_and_all_else_stays(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.parquet"
    replace_parquet_text(source, target, renamed)
    assert columns(target) == columns(source)
    first, second, third = rows(target)
    assert first == (
        3,
        "host-1 is slow",
        {"hostname": "host-1", "num": "0"},
        ["host-1", "x"],
        '{"hostname":"host-1"}',
        1.5,
        None,
    )
    assert second == (1, None, {}, None, "{broken host-1", None, 7)
    assert third[:5] == (2, "fine", {"quote": 'a"b\\c'}, [], None)
    assert str(third[5]) == "nan"
    assert third[6] == 2**64 - 1


def test_rows_keep_their_order(tmp_path: Path) -> None:
    source, target = tmp_path / "source.parquet", tmp_path / "target.parquet"
    many = "SELECT (i * 7919) % 200003 AS n, 'dut-' || (i % 9) AS host FROM range(200000) r(i)"
    duckdb.sql(many).write_parquet(str(source))
    replace_parquet_text(source, target, renamed)
    assert rows(target) == [(number, renamed(str(host))) for number, host in rows(source)]


def test_texts_are_found_in_columns_of_every_kind(source: Path) -> None:
    found = "\n".join(parquet_texts(source))
    assert found.count("dut-7") == 5


def test_a_file_without_text_or_rows_is_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source.parquet", tmp_path / "target.parquet"
    duckdb.sql("SELECT 1 AS a, 2.5::DOUBLE AS b").write_parquet(str(source))
    replace_parquet_text(source, target, renamed)
    assert rows(target) == [(1, 2.5)]
    duckdb.sql(f"{ROWS} LIMIT 0").write_parquet(str(source))
    replace_parquet_text(source, target, renamed)
    assert (rows(target), columns(target)) == ([], columns(source))


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(RecordError) as refusal:
        replace_parquet_text(path, tmp_path / "target.parquet", renamed)
    assert "broken.parquet" in refusal.value.where
