"""The raw rows of metrics: chosen, in every form, with names that are anything."""

import math
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest

import plimsoll
from plimsoll.analysis.run import Run
from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from tests.unit.analysis.handmade import add_host, finished_run
from tests.unit.record.relisting import relist
from tests.worded.says import Says

BEGIN = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_a_row_has_everything_that_was_recorded(finished: Run) -> None:
    rows = finished.rows(source="trafficgen", type="lost-rx-pps", periods=2).rows()
    # Only the way back loses: as many frames a second as the trial's number says.
    assert rows[-1] == {
        "period": "trial-0002",
        "source": "trafficgen",
        "type": "lost-rx-pps",
        "class": "throughput",
        "unit": "pps",
        "aggregation": "sum",
        "port_pair": "0:1",
        "rx_port": "0",
        "tx_port": "1",
        "begin": BEGIN + 101 * SECOND,
        "end": BEGIN + 102 * SECOND,
        "monotonic_ms": rows[-1]["monotonic_ms"],
        "count": 2,
        "value": 2.0,
    }
    assert [row["count"] for row in rows] == [0, 0, 2, 2]
    assert [row["begin"] for row in rows] == [BEGIN + n * SECOND for n in (100, 101, 100, 101)]


def test_every_form_has_the_same_rows_and_columns(finished: Run) -> None:
    selection = finished.rows(source="trafficgen", type=["rx-pps", "max-roundtrip-usec"])
    rows = selection.rows()
    assert len(selection) == len(rows) == 12
    assert tuple(rows[0]) == selection.columns
    assert selection.arrow().to_pylist() == rows
    assert selection.polars().to_dicts() == rows
    assert list(selection.pandas()["begin"]) == [row["begin"] for row in rows]
    assert selection.pandas()["value"].tolist() == [row["value"] for row in rows]
    assert selection.head(3) == rows[:3]


def test_types_are_the_same_whatever_the_values(finished: Run, runs: Path) -> None:
    none = finished.rows(source="nobody")
    assert none.rows() == []
    assert none.arrow().schema.field("begin").type == pyarrow.timestamp("us", tz="UTC")
    assert none.arrow().schema.field("count").type == pyarrow.int64()
    some = finished.rows(source="trafficgen", type="rx-pps").arrow().schema
    for name in none.columns:
        assert some.field(name) == none.arrow().schema.field(name)


def test_a_count_that_is_absent_stays_a_whole_number_in_pandas(finished: Run) -> None:
    frame = finished.rows(source="trafficgen").pandas()
    assert frame["count"].dtype == pandas.Int64Dtype()
    # Latencies are no counts.
    assert frame[frame["type"] == "mean-roundtrip-usec"]["count"].isna().all()
    assert frame[frame["type"] == "rx-pps"]["count"].notna().all()


def test_arrow_speaking_libraries_take_the_rows_as_they_are(finished: Run) -> None:
    rows = finished.rows(type="rx-pps")
    assert polars.DataFrame(rows).equals(rows.polars())
    assert pyarrow.table(rows).equals(rows.arrow())
    with duckdb.connect() as connection:
        (total,) = connection.sql("SELECT sum(count), count(*) FROM rows").fetchall()
    # Two trials of two seconds: 1,010 there and 1,000 less the trial's number back.
    assert total == (2 * (1010 + 999) + 2 * (1010 + 998), 8)


def test_rows_are_chosen_by_trial_period_and_time(finished: Run) -> None:
    def begins(**query: object) -> list[float]:
        found = finished.rows(source="trafficgen", type="tx-pps", **query).rows()
        seconds = {(row["begin"] - BEGIN).total_seconds() for row in found}
        return sorted(seconds)

    assert begins() == [0, 1, 100, 101]
    assert begins(periods=1) == begins(periods="trial-0001") == [0, 1]
    assert begins(periods=[1, "trial-0002"]) == [0, 1, 100, 101]
    assert begins(periods=7) == []
    # What ends at the begin, or begins at the end, is not in it.
    assert begins(begin=BEGIN + SECOND, end=BEGIN + 101 * SECOND) == [1, 100]
    assert begins(end=round(BEGIN.timestamp() * 1000) + 1) == [0]
    assert begins(begin="2026-03-14T09:28:33Z") == [100, 101]
    there = timezone(timedelta(hours=2))
    assert begins(begin=datetime(2026, 3, 14, 11, 28, 34, tzinfo=there)) == [101]


def test_a_trial_has_its_own_rows(finished: Run) -> None:
    assert finished.trial(2).rows(type="tx-pps").rows() == (
        finished.rows(type="tx-pps", periods=2).rows()
    )


def test_a_time_without_a_zone_is_reported(finished: Run, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        finished.rows(begin=datetime(2026, 3, 14))
    assert caught.value == says("begin", "30", "tzinfo=UTC")
    assert caught.value.where == "begin"
    assert "tzinfo=UTC" in caught.value.remedy


def test_a_relative_time_is_reported(finished: Run, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        finished.rows(end="-30")
    assert caught.value == says("-30")
    assert caught.value.where == "end"


def test_a_time_that_ends_before_it_begins_is_reported(finished: Run, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        finished.rows(begin=2000, end=1000)
    assert caught.value == says("1000", "2000")


def test_names_can_be_one_column(finished: Run) -> None:
    rows = finished.rows(type="rx-pps", periods=1, names_as="map")
    names = {"port_pair": "0:1", "tx_port": "0", "rx_port": "1"}
    assert rows.rows()[0]["names"] == names
    assert "rx_port" not in rows.columns
    assert dict(rows.arrow()["names"][0].as_py()) == names
    assert dict(rows.pandas()["names"][0]) == names


def test_names_that_are_called_like_columns_are_distinguished(runs: Path) -> None:
    run = finished_run(runs)
    add_host(run, 2, "sut", {("5", "usr"): [1.0, 0.5], ("5", "sys"): [0.0, 0.5]})
    rows = plimsoll.open(run.path).rows(source="mpstat")
    assert rows.columns[6:9] == ("hostname", "num", "names.type")
    assert [(row["type"], row["names.type"], row["value"]) for row in rows.rows()] == [
        ("Busy-CPU", "sys", 0.0),
        ("Busy-CPU", "sys", 0.5),
        ("Busy-CPU", "usr", 1.0),
        ("Busy-CPU", "usr", 0.5),
    ]
    assert set(rows.polars()["names.type"]) == {"usr", "sys"}


HOSTILE = [
    "names.type",
    "'); DROP TABLE rows; --",
    'a"b',
    "<script>alert(1)</script>",
    "CPU",
    "cpu",
    "",
    "?",
    "n0",
]


def test_names_of_any_text_are_columns(runs: Path) -> None:
    run = finished_run(runs)
    names = ", ".join("? : ?" for _ in HOSTILE)
    with duckdb.connect() as connection:
        relation = connection.sql(
            "SELECT 'trial-0009' AS period, 's' AS source, 't' AS \"type\", 'count' AS class, "
            f"'' AS unit, 'sum' AS aggregation, MAP {{{names}}} AS names, 0::BIGINT AS begin_ms, "
            "1000::BIGINT AS end_ms, 0::BIGINT AS monotonic_ms, NULL::BIGINT AS count, "
            "'nan'::DOUBLE AS value",
            params=[text for n, name in enumerate(HOSTILE) for text in (name, f"value {n}")],
        )
        relation.write_parquet(str(run.metrics / "trial-0009.parquet"))
    relist(run)
    rows = plimsoll.open(run.path).rows(source="s")
    expected = ["names.names.type", *(name or "names." for name in HOSTILE[1:])]
    (row,) = rows.rows()
    assert {name: row[name] for name in expected} == {
        name: f"value {n}" for n, name in enumerate(expected)
    }
    (from_arrow,) = rows.arrow().to_pylist()
    assert [from_arrow[name] for name in expected] == [row[name] for name in expected]
    assert math.isnan(row["value"])
    assert rows.polars().columns == list(rows.columns)
    assert "<script" not in rows._repr_html_()


def test_filters_are_no_sql(finished: Run) -> None:
    assert finished.rows(source="x' OR '1'='1").rows() == []
    assert finished.rows(periods="../../etc/passwd").rows() == []
    assert finished.rows(type="%").rows() == []


def test_a_look_reads_the_first_rows_only_and_says_how_many_there_are(
    finished: Run, says: Says
) -> None:
    html = finished.rows()._repr_html_()
    total = len(finished.rows().rows())
    assert f"({total:,} rows)" in html
    assert "The first 10;" in html
    assert html.count("<tr>") == 11
    assert repr(finished.rows(source="trafficgen")) == says("<Rows", str(finished.id), "trafficgen")


def test_damaged_parquet_is_reported(runs: Path, says: Says) -> None:
    run = finished_run(runs)
    (run.metrics / "trial-0001.parquet").write_text("no parquet")
    with pytest.raises(RecordError) as caught:
        plimsoll.open(run.path).rows(periods=1).rows()
    assert caught.value == says("10")
    assert "trial-0001.parquet" in caught.value.where


def test_a_killed_trial_has_its_rows(killed: Run) -> None:
    rows = killed.rows(source="trafficgen", type="rx-pps", periods=2)
    assert [row["count"] for row in rows.rows()] == [1010, 998]
    assert rows.polars()["count"].to_list() == [1010, 998]
