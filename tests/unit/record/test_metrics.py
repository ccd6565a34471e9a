from pathlib import Path

import duckdb
import pytest

from plimsoll.record.metric_row import MetricRow, interval_rows
from plimsoll.record.metrics import (
    MetricsWriter,
    convert_leftovers,
    query_metrics,
    read_metrics,
    trial_period,
)
from plimsoll.record.record_error import RecordError
from plimsoll.record.run_directory import RunDirectory
from tests.unit.record.trial_parts import PLANS, second


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


def rows(period: str, number: int = 0) -> list[MetricRow]:
    return interval_rows(period, PLANS, second(number), refused_is_lost=False)


def test_a_period_ends_as_parquet_that_duckdb_reads(run: RunDirectory) -> None:
    with MetricsWriter(run, "trial-0001") as writer:
        writer.append(rows("trial-0001"))
        writer.append(rows("trial-0001", 1))
        (path,) = writer.finish()
    assert path == run.metrics / "trial-0001.parquet"
    assert list(run.metrics.iterdir()) == [path]
    with duckdb.connect() as connection:
        described = connection.execute("DESCRIBE FROM read_parquet(?)", [str(path)]).fetchall()
        found = connection.execute(
            "SELECT begin_ms, value FROM read_parquet(?) "
            "WHERE type = 'rx-pps' AND names['tx_port'] = '0' ORDER BY begin_ms",
            [str(path)],
        ).fetchall()
    assert [(name, kind) for name, kind, *_ in described] == [
        ("period", "VARCHAR"),
        ("source", "VARCHAR"),
        ("type", "VARCHAR"),
        ("class", "VARCHAR"),
        ("names", "MAP(VARCHAR, VARCHAR)"),
        ("begin_ms", "BIGINT"),
        ("end_ms", "BIGINT"),
        ("value", "DOUBLE"),
    ]
    assert found == [(1_773_480_413_000, 1010.0), (1_773_480_414_000, 1010.0)]


def test_what_was_written_is_read_back(run: RunDirectory) -> None:
    with MetricsWriter(run, "trial-0001") as writer:
        writer.append(rows("trial-0001"))
        writer.finish()

    def key(row: MetricRow) -> tuple[str, str, list[tuple[str, str]]]:
        return (row.source, row.type, sorted(row.names.items()))

    assert sorted(read_metrics(run), key=key) == sorted(rows("trial-0001"), key=key)


def test_a_running_period_is_read_and_its_torn_line_left_out(run: RunDirectory) -> None:
    writer = MetricsWriter(run, "trial-0002")
    writer.append(rows("trial-0002"))
    writer.close()
    growing = run.metrics / "trial-0002.jsonl"
    growing.write_text(growing.read_text() + '{"period":"trial-0002","sou')
    assert len(read_metrics(run)) == len(rows("trial-0002"))


def test_leftovers_of_a_killed_run_are_converted(run: RunDirectory) -> None:
    writer = MetricsWriter(run, "trial-0003")
    writer.append(rows("trial-0003"))
    writer.close()
    growing = run.metrics / "trial-0003.jsonl"
    growing.write_text(growing.read_text() + '{"period":"tri')
    assert convert_leftovers(run) == [run.metrics / "trial-0003.parquet"]
    assert not growing.exists()
    assert len(read_metrics(run)) == len(rows("trial-0003"))


def test_a_kill_between_converting_and_removing_doubles_nothing(run: RunDirectory) -> None:
    writer = MetricsWriter(run, "trial-0004")
    writer.append(rows("trial-0004"))
    growing = run.metrics / "trial-0004.jsonl"
    before = growing.read_bytes()
    writer.finish()
    growing.write_bytes(before)
    convert_leftovers(run)
    assert len(read_metrics(run)) == len(rows("trial-0004"))


def test_an_empty_period_is_an_empty_table(run: RunDirectory) -> None:
    with MetricsWriter(run, "trial-0005") as writer:
        writer.finish()
    assert read_metrics(run) == []


def test_reading_chooses_periods_and_types(run: RunDirectory) -> None:
    for period in ("trial-0001", "trial-0002"):
        with MetricsWriter(run, period) as writer:
            writer.append(rows(period))
            writer.finish()
    found = read_metrics(run, periods=["trial-0002"], types=["rx-pps", "tx-pps"])
    assert {(row.period, row.type) for row in found} == {
        ("trial-0002", "rx-pps"),
        ("trial-0002", "tx-pps"),
    }


def test_a_period_is_never_written_twice(run: RunDirectory) -> None:
    with MetricsWriter(run, trial_period(1)) as writer:
        writer.finish()
    with pytest.raises(RecordError, match="trial-0001 has been recorded already") as caught:
        MetricsWriter(run, trial_period(1))
    assert caught.value.where.endswith("trial-0001.parquet")
    assert caught.value.remedy == "remove that file, or resume from an intact copy"


def test_a_damaged_parquet_file_is_named(run: RunDirectory) -> None:
    run.metrics.mkdir()
    (run.metrics / "trial-0001.parquet").write_text("no parquet")
    with pytest.raises(RecordError, match="cannot be read") as caught:
        read_metrics(run)
    assert "trial-0001.parquet" in caught.value.where


def test_a_run_without_metrics_has_no_rows(run: RunDirectory) -> None:
    assert read_metrics(run) == []


def test_a_long_period_comes_in_parts_and_is_read_as_one(run: RunDirectory) -> None:
    with MetricsWriter(run, "trial-0001", part_bytes=20_000) as writer:
        for number in range(12):
            writer.append(rows("trial-0001", number))
            # At no moment is there more of it as JSON lines than a part and an interval.
            growing = [path.stat().st_size for path in run.metrics.glob("*.jsonl")]
            assert sum(growing) < 20_000
            assert len(read_metrics(run)) == (number + 1) * len(rows("trial-0001"))
        paths = writer.finish()
    assert len(paths) > 2
    assert [path.name for path in paths[:2]] == ["trial-0001.parquet", "trial-0001-002.parquet"]
    assert sorted(run.metrics.iterdir()) == sorted(paths)
    expected = [row for number in range(12) for row in rows("trial-0001", number)]
    assert sum(row.value for row in read_metrics(run)) == pytest.approx(
        sum(row.value for row in expected)
    )
    assert read_metrics(run, periods=["trial-0002"]) == []
    assert len(read_metrics(run, periods=["trial-0001"])) == len(expected)


def test_a_kill_in_a_later_part_loses_none(run: RunDirectory) -> None:
    writer = MetricsWriter(run, "trial-0001", part_bytes=20_000)
    for number in range(12):
        writer.append(rows("trial-0001", number))
    writer.close()
    assert len(read_metrics(run)) == 12 * len(rows("trial-0001"))
    convert_leftovers(run)
    assert {path.suffix for path in run.metrics.iterdir()} == {".parquet"}
    assert len(read_metrics(run)) == 12 * len(rows("trial-0001"))


def test_a_part_that_is_both_is_read_once(run: RunDirectory) -> None:
    with MetricsWriter(run, "trial-0001") as writer:
        writer.append(rows("trial-0001"))
        lines = (run.metrics / "trial-0001.jsonl").read_bytes()
        writer.finish()
    (run.metrics / "trial-0001.jsonl").write_bytes(lines)
    assert len(read_metrics(run)) == len(rows("trial-0001"))


def test_a_statement_sums_up_what_would_be_too_much_to_read(run: RunDirectory) -> None:
    with MetricsWriter(run, "trial-0001") as writer:
        for number in range(3):
            writer.append(rows("trial-0001", number))
        writer.finish()
    statement = "SELECT count(*), max(end_ms) FROM rows WHERE type = ? AND names['tx_port'] = '0'"
    assert query_metrics(run, statement, ["rx-pps"]) == [(3, 1_773_480_416_000)]
    assert query_metrics(run, statement, ["rx-pps"], periods=["trial-0009"]) == []
