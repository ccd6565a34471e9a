from pathlib import Path

import duckdb
import pytest

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.interval_samples import interval_samples
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import (
    MetricRow,
    MetricsWriter,
    convert_leftovers,
    metric_parts,
    query_hosts,
    query_metrics,
    read_metrics,
)
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.samples.metric_type import MetricSample
from tests.unit.record.trial_parts import BEGIN_NS, PLANS, second
from tests.worded.says import Says

S = 10**9
# The host of these periods was started that long before their first second.
UPTIME_NS = 5_000 * S


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


def samples(number: int = 0) -> list[MetricSample]:
    return interval_samples(PLANS, second(number), refused_is_lost=False)


def log_of(period: str, **options: int) -> MetricLog:
    return MetricLog(period, BEGIN_NS - UPTIME_NS, **options)


def lines(log: MetricLog, number: int = 0) -> list[str]:
    begin_ns = BEGIN_NS + number * S
    return log.samples(samples(number), begin_ns, begin_ns + S)


def write(run: RunDirectory, period: str, seconds: int = 1) -> MetricsWriter:
    """A period that is written and neither finished nor closed."""
    writer, log = MetricsWriter(run, period), log_of(period)
    for number in range(seconds):
        writer.append(lines(log, number))
    return writer


def test_a_period_ends_as_parquet_that_duckdb_reads(run: RunDirectory) -> None:
    with write(run, "trial-0001", seconds=2) as writer:
        (path,) = writer.finish()
    assert path == run.metrics / "trial-0001.parquet"
    assert list(run.metrics.iterdir()) == [path]
    with duckdb.connect() as connection:
        described = connection.execute("DESCRIBE FROM read_parquet(?)", [str(path)]).fetchall()
        found = connection.execute(
            "SELECT begin_ms, monotonic_ms, count, value FROM read_parquet(?) "
            "WHERE type = 'rx-pps' AND names['tx_port'] = '0' ORDER BY begin_ms",
            [str(path)],
        ).fetchall()
    assert [(name, kind) for name, kind, *_ in described] == [
        ("period", "VARCHAR"),
        ("source", "VARCHAR"),
        ("type", "VARCHAR"),
        ("class", "VARCHAR"),
        ("unit", "VARCHAR"),
        ("aggregation", "VARCHAR"),
        ("names", "MAP(VARCHAR, VARCHAR)"),
        ("begin_ms", "BIGINT"),
        ("end_ms", "BIGINT"),
        ("monotonic_ms", "BIGINT"),
        ("count", "BIGINT"),
        ("value", "DOUBLE"),
        ("names_json", "VARCHAR"),
    ]
    assert found == [
        (1_773_480_413_000, 5_001_000, 1010, 1010.0),
        (1_773_480_414_000, 5_002_000, 1010, 1010.0),
    ]


def test_what_was_sampled_is_read_back(run: RunDirectory) -> None:
    with write(run, "trial-0001") as writer:
        writer.finish()

    def key(row: MetricRow) -> tuple[str, str, list[tuple[str, str]]]:
        return (row.source, row.type, sorted(row.names.items()))

    expected = [
        MetricRow(
            "trial-0001",
            sample.metric.source,
            sample.metric.type,
            sample.metric.metric_class,
            sample.metric.unit,
            sample.metric.aggregation,
            sample.names,
            1_773_480_413_000,
            1_773_480_414_000,
            5_001_000,
            int(sample.value) if sample.metric.counted else None,
            # Over a second, what was counted is the rate.
            float(sample.value),
        )
        for sample in samples()
    ]
    assert sorted(read_metrics(run), key=key) == sorted(expected, key=key)


def test_a_running_period_is_read_and_its_torn_line_left_out(run: RunDirectory) -> None:
    write(run, "trial-0002").close()
    growing = run.metrics / "trial-0002.jsonl"
    growing.write_text(growing.read_text() + '{"reader":"trafficgen","begin_ns":17')
    assert len(read_metrics(run)) == len(samples())


def test_a_period_whose_first_line_is_torn_is_empty(run: RunDirectory) -> None:
    write(run, "trial-0002").close()
    growing = run.metrics / "trial-0002.jsonl"
    growing.write_text(growing.read_text()[:30])
    assert read_metrics(run) == []


def test_leftovers_of_a_killed_run_are_converted(run: RunDirectory) -> None:
    write(run, "trial-0003").close()
    growing = run.metrics / "trial-0003.jsonl"
    growing.write_text(growing.read_text() + '{"rea')
    assert convert_leftovers(run) == [run.metrics / "trial-0003.parquet"]
    assert not growing.exists()
    assert len(read_metrics(run)) == len(samples())


def test_a_kill_between_converting_and_removing_doubles_nothing(run: RunDirectory) -> None:
    writer = write(run, "trial-0004")
    growing = run.metrics / "trial-0004.jsonl"
    before = growing.read_bytes()
    writer.finish()
    growing.write_bytes(before)
    convert_leftovers(run)
    assert len(read_metrics(run)) == len(samples())


def test_an_empty_period_is_an_empty_table(run: RunDirectory) -> None:
    with MetricsWriter(run, "trial-0005") as writer:
        writer.finish()
    assert read_metrics(run) == []


def test_folders_may_have_quotes_in_their_names(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "Sam's '; DROP TABLE rows", "demo", {})
    with write(run, "trial-0001") as writer:
        writer.finish()
    assert len(read_metrics(run)) == len(samples())


def test_reading_chooses_periods_and_types(run: RunDirectory) -> None:
    for period in ("trial-0001", "trial-0002"):
        with write(run, period) as writer:
            writer.finish()
    found = read_metrics(run, periods=["trial-0002"], types=["rx-pps", "tx-pps"])
    assert {(row.period, row.type) for row in found} == {
        ("trial-0002", "rx-pps"),
        ("trial-0002", "tx-pps"),
    }


def test_a_period_is_never_written_twice(run: RunDirectory, says: Says) -> None:
    with MetricsWriter(run, trial_period(1)) as writer:
        writer.finish()
    with pytest.raises(RecordError) as caught:
        MetricsWriter(run, trial_period(1))
    assert caught.value == says("trial-0001")
    assert caught.value.where.endswith("trial-0001.parquet")


def test_a_damaged_parquet_file_is_named(run: RunDirectory, says: Says) -> None:
    run.metrics.mkdir()
    (run.metrics / "trial-0001.parquet").write_text("no parquet")
    with pytest.raises(RecordError) as caught:
        read_metrics(run)
    assert caught.value == says()
    assert "trial-0001.parquet" in caught.value.where


def test_a_run_without_metrics_has_no_rows(run: RunDirectory) -> None:
    assert read_metrics(run) == []


def test_a_long_period_comes_in_parts_and_is_read_as_one(run: RunDirectory) -> None:
    values = len(samples())
    log = log_of("trial-0001", part_values=5 * values)
    with MetricsWriter(run, "trial-0001") as writer:
        for number in range(12):
            writer.append(lines(log, number))
            assert len(list(run.metrics.glob("*.jsonl"))) == 1
            assert len(read_metrics(run)) == (number + 1) * values
        paths = writer.finish()
    assert [path.name for path in paths] == [
        "trial-0001.parquet",
        "trial-0001-002.parquet",
        "trial-0001-003.parquet",
    ]
    assert sorted(run.metrics.iterdir()) == sorted(paths)
    statement = "SELECT sum(count) FROM rows WHERE type = 'rx-pps'"
    # 1010 frames a second one way and 1000 the other.
    assert query_metrics(run, statement) == [(12 * 2010,)]
    assert read_metrics(run, periods=["trial-0002"]) == []
    assert len(read_metrics(run, periods=["trial-0001"])) == 12 * values


def test_a_kill_in_a_later_part_loses_none(run: RunDirectory) -> None:
    values = len(samples())
    log = log_of("trial-0001", part_values=5 * values)
    with MetricsWriter(run, "trial-0001") as writer:
        for number in range(12):
            writer.append(lines(log, number))
    assert len(read_metrics(run)) == 12 * values
    convert_leftovers(run)
    assert {path.suffix for path in run.metrics.iterdir()} == {".parquet"}
    assert len(read_metrics(run)) == 12 * values


def test_a_part_that_is_both_is_read_once(run: RunDirectory) -> None:
    with write(run, "trial-0001") as writer:
        growing = (run.metrics / "trial-0001.jsonl").read_bytes()
        writer.finish()
    (run.metrics / "trial-0001.jsonl").write_bytes(growing)
    assert len(read_metrics(run)) == len(samples())


def test_hosts_have_files_of_their_own_in_a_period(run: RunDirectory) -> None:
    for period in ("trial-0001", "trial-0010"):
        for measured_by in (None, "dut.lab", "tester/1"):
            with MetricsWriter(run, period, measured_by) as writer:
                writer.append(lines(log_of(period)))
                if measured_by != "dut.lab":
                    writer.finish()
    finished, growing = metric_parts(run, ["trial-0001"])
    assert [path.name for path in finished] == [
        "trial-0001.parquet",
        "trial-0001@tester@2F1.parquet",
    ]
    assert [path.name for path in growing] == ["trial-0001@dut.lab.jsonl"]
    assert len(read_metrics(run, periods=["trial-0001"])) == 3 * len(samples())
    assert len(read_metrics(run)) == 6 * len(samples())


@pytest.mark.parametrize(
    ("one", "other"), [("a b", "a-b"), ("a b", "a@20b"), ("dut", "dut-002"), ("é", "e\u0301")]
)
def test_no_two_hosts_share_a_file(run: RunDirectory, one: str, other: str) -> None:
    """Nor does a host's second part take the place of another's first."""
    values = len(samples())
    for measured_by, seconds in ((other, 1), (one, 6)):
        log = log_of("trial-0001", part_values=5 * values)
        with MetricsWriter(run, "trial-0001", measured_by) as writer:
            for number in range(seconds):
                writer.append(lines(log, number))
            writer.finish()
    assert len(list(run.metrics.iterdir())) == 3
    assert len(read_metrics(run, periods=["trial-0001"])) == 7 * values


def test_what_hosts_wrote_is_queried_apart_from_the_generators(run: RunDirectory) -> None:
    seconds = {None: 1, "tester": 2, "dut": 4}
    for measured_by, length in seconds.items():
        log = log_of("trial-0001")
        with MetricsWriter(run, "trial-0001", measured_by) as writer:
            for number in range(length):
                writer.append(lines(log, number))
            if measured_by != "dut":
                writer.finish()
    counts: tuple[str, list[object]] = ("SELECT count(*) FROM rows WHERE type = ?", ["rx-pps"])
    ends: tuple[str, list[object]] = ("SELECT max(end_ms) FROM rows", [])
    # Of each second one row each way; the files of one host are finished, the other's grow.
    assert query_hosts(run, "trial-0001", [counts, ends]) == [
        [(2 * (2 + 4),)],
        [(BEGIN_NS // 10**6 + 4000,)],
    ]
    assert query_hosts(run, "trial-0002", [counts, ends]) == [[], []]


def test_a_host_writes_a_period_once(run: RunDirectory, says: Says) -> None:
    with (
        MetricsWriter(run, "trial-0001", "dut") as writer,
        pytest.raises(RecordError) as caught,
    ):
        MetricsWriter(run, "trial-0001", "dut")
    assert caught.value == says("trial-0001")
    writer.close()


def test_a_statement_sums_up_what_would_be_too_much_to_read(run: RunDirectory) -> None:
    with write(run, "trial-0001", seconds=3) as writer:
        writer.finish()
    statement = "SELECT count(*), max(end_ms) FROM rows WHERE type = ? AND names['tx_port'] = '0'"
    assert query_metrics(run, statement, ["rx-pps"]) == [(3, 1_773_480_416_000)]
    assert query_metrics(run, statement, ["rx-pps"], periods=["trial-0009"]) == []
