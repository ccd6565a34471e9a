"""A trial records when it offered frames, and its drain dilutes no rate."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

import plimsoll
from plimsoll.export.parquet_parts import copy_parts, periods_to_export
from plimsoll.generator.interface import Interval
from plimsoll.record.metrics.metrics import read_metrics
from plimsoll.record.query import MetricQuery, Moment, ask
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import OfferedRange
from tests.unit.record.trial_parts import BEGIN_NS, counts, interval, plan, record

BEGIN_MS = BEGIN_NS // 10**6
DOCUMENT = (Path(__file__).parents[4] / "docs/interchange.md").read_text()


def sent(begin_s: float, end_s: float, frames: int) -> Interval:
    streams = (counts(0), counts(1), counts(2, sent=frames, received=frames))
    return interval(streams, begin_s=begin_s, end_s=end_s)


def stopped_trial(recorder: Recorder, number: int, at_s: float, pps: int) -> None:
    """Stopped after half a second; its last 64 frames left when the drain had begun."""
    with recorder.trial(plan(), number=number, phase="search", refused_is_lost=True) as trial:
        trial.interval(sent(at_s, at_s + 0.4, 2 * pps // 5))
        trial.interval(sent(at_s + 0.4, at_s + 0.5, pps // 10))
        trial.interval(replace(sent(at_s + 0.5, at_s + 0.8, 64), phase="drain"))
        trial.end(record(number).model_copy(update={"offered": trial.offered}))


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Two trials that were stopped: at 1,000 pps, and ten seconds later at 3,000."""
    made = RunDirectory.create(tmp_path, "demo", {})
    with recording(made) as recorder:
        stopped_trial(recorder, 1, 0.0, 1000)
        stopped_trial(recorder, 2, 10.0, 3000)
    return made


def mean_pps(run: RunDirectory, **query: object) -> float | None:
    (row,) = ask(run, MetricQuery("trafficgen", "tx-pps", **query)).rows  # type: ignore[arg-type]
    return row.whole


def test_the_range_is_in_the_trial_record(run: RunDirectory) -> None:
    with recording(run) as recorder:
        found = [trial.offered for trial in recorder.history().trials()]
    second = BEGIN_NS + 10 * 10**9
    assert found == [
        OfferedRange(begin_unix_ns=BEGIN_NS, end_unix_ns=BEGIN_NS + 500_000_000),
        OfferedRange(begin_unix_ns=second, end_unix_ns=second + 500_000_000),
    ]


def test_the_range_is_a_row_of_the_parquet(run: RunDirectory) -> None:
    rows = read_metrics(run, types=["offering"], periods=["trial-0001"])
    assert [(row.begin_ms, row.end_ms, row.value, dict(row.names)) for row in rows] == [
        (BEGIN_MS, BEGIN_MS + 500, 1.0, {})
    ]


def test_the_intended_load_is_next_to_what_was_sent(run: RunDirectory) -> None:
    rows = read_metrics(run, types=["intended-tx-pps"], periods=["trial-0001"])
    # 1000 pps of load each way, and 10 pps of probes one way.
    assert [(row.names["tx_port"], row.value) for row in rows] == [("0", 1010.0), ("1", 1000.0)]
    assert {(row.begin_ms, row.end_ms) for row in rows} == {(BEGIN_MS, BEGIN_MS + 500)}


@pytest.mark.parametrize(("period", "pps"), [("1", 1000.0), ("2", 3000.0)])
def test_the_drain_dilutes_no_rate(run: RunDirectory, period: str, pps: float) -> None:
    assert mean_pps(run, period=period) == pytest.approx(pps, rel=1e-12)


def test_nor_does_it_between_trials(run: RunDirectory) -> None:
    # As long as each other: half way between the two rates.
    assert mean_pps(run, period="search") == pytest.approx(2000.0, rel=1e-12)
    assert mean_pps(run, period="all") == pytest.approx(2000.0, rel=1e-12)


def test_a_time_that_is_stated_is_taken_as_it_is(run: RunDirectory) -> None:
    query = {"begin": Moment(BEGIN_MS), "end": Moment(BEGIN_MS + 800), "period": "all"}
    assert mean_pps(run, **query) == pytest.approx((500 + 64) / 0.8)


def test_a_trial_without_a_range_has_that_of_its_rows(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "killed", {})
    with (
        recording(run) as recorder,
        recorder.trial(plan(), number=1, phase="search", refused_is_lost=True) as trial,
    ):
        assert trial.offered is None
        trial.interval(sent(0.0, 1.0, 1000))
    assert mean_pps(run, period="1") == pytest.approx(1000.0)


def test_the_sql_of_the_document_asks_rightly(
    run: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_parts(run, periods_to_export(run), tmp_path / "lake", force=False)
    monkeypatch.chdir(tmp_path)
    statement = DOCUMENT.split("## Parquet")[1].split("```sql\n")[1].split("```")[0]
    with duckdb.connect() as connection:
        found = connection.execute(statement).fetchall()
    assert sorted(found) == [
        (run.run_id, "trial-0001", pytest.approx(1000.0, rel=1e-12)),
        (run.run_id, "trial-0002", pytest.approx(3000.0, rel=1e-12)),
    ]


def test_the_python_api_has_the_range(run: RunDirectory) -> None:
    begin = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
    trial = plimsoll.open(run.path).trial(1)
    assert trial.offered == (begin, begin + timedelta(milliseconds=500))
