"""Questions to the metrics from Python: of a trial, a run, many runs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import plimsoll
from plimsoll.analysis.run import Run
from plimsoll.errors import InputError
from tests.unit.analysis.handmade import add_host, finished_run, killed_run
from tests.unit.record.relisting import unlist
from tests.worded.says import Says, passage

BEGIN = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_the_measurement_is_queried_unless_another_period_is_named(finished: Run) -> None:
    # The validation, trial 2: 1,010 frames a second there and 998 back.
    (row,) = finished.metrics("trafficgen", "rx-pps").rows()
    assert row == {
        "run": finished.id,
        "source": "trafficgen",
        "type": "rx-pps",
        "begin": BEGIN + 100 * SECOND,
        "end": BEGIN + 102 * SECOND,
        "value": 2008.0,
        "aggregation": "sum of means",
    }
    for period in (1, "trial-0001"):
        (row,) = finished.metrics("trafficgen", "rx-pps", period=period).rows()
        assert row["value"] == 2009.0


def test_a_trial_answers_of_itself(finished: Run) -> None:
    (row,) = finished.trial(1).metrics("trafficgen", "rx-pps").rows()
    assert (row["value"], row["begin"]) == (2009.0, BEGIN)


@pytest.mark.parametrize("breakout", ["tx_port,rx_port", ["tx_port", "rx_port"]])
def test_breakouts_are_columns_and_windows_are_rows(
    finished: Run, breakout: str | list[str]
) -> None:
    table = finished.metrics("trafficgen", "rx-pps", breakout=breakout, resolution=2)
    before, after = ("run", "source", "type"), ("begin", "end", "value", "aggregation")
    assert table.columns == (*before, "tx_port", "rx_port", *after)
    found = [(row["tx_port"], row["rx_port"], row["begin"], row["value"]) for row in table.rows()]
    first, second = BEGIN + 100 * SECOND, BEGIN + 101 * SECOND
    assert found == [
        ("0", "1", first, 1010.0),
        ("0", "1", second, 1010.0),
        ("1", "0", first, 998.0),
        ("1", "0", second, 998.0),
    ]
    assert table.polars().to_dicts() == table.arrow().to_pylist() == table.rows()
    assert table.unit == "pps"
    assert table.remaining == {"port_pair": 1}


def test_time_filter_and_aggregation_are_requested(finished: Run) -> None:
    query = {"source": "trafficgen", "type": "rx-pps", "breakout": "tx_port"}
    (kept,) = finished.metrics(**query, filter="gt:1000").rows()
    assert (kept["tx_port"], kept["value"]) == ("0", 1010.0)
    (worst,) = finished.metrics("trafficgen", "rx-pps", aggregation="min").rows()
    assert worst["value"] == 998.0
    (total,) = finished.metrics("trafficgen", "rx-pps", over_time="total").rows()
    assert total["value"] == 2 * 2008
    for begin in (BEGIN + 101 * SECOND, "+1", "-1", "2026-03-14T09:28:34Z", 1773480514000):
        (last,) = finished.metrics("trafficgen", "rx-pps", begin=begin).rows()
        assert (last["begin"], last["value"]) == (BEGIN + 101 * SECOND, 2008.0)


def test_a_breakout_called_like_a_column_is_distinguished(runs: Path) -> None:
    run = finished_run(runs)
    add_host(run, 2, "sut", {("5", "usr"): [1.0, 0.5], ("5", "sys"): [0.0, 0.5]})
    table = plimsoll.open(run.path).metrics("mpstat", "Busy-CPU", breakout="num,type=usr+sys")
    assert table.columns[3:5] == ("num", "names.type")
    assert {row["names.type"]: row["value"] for row in table.rows()} == {"usr": 0.75, "sys": 0.25}


def test_many_runs_answer_together_under_their_ids(runs: Path) -> None:
    first, second = finished_run(runs, "a"), finished_run(runs, "b")
    opened = plimsoll.open_all(runs)
    rows = opened.metrics("trafficgen", "rx-pps", period=1).rows()
    assert {row["run"]: row["value"] for row in rows} == {
        first.run_id: 2009.0,
        second.run_id: 2009.0,
    }
    assert {row["run"] for row in rows} == {row["run"] for row in opened.table().rows()}


def test_runs_without_the_metric_and_damaged_ones_are_reported(runs: Path, says: Says) -> None:
    sound, without, broken = (finished_run(runs, name) for name in ("a", "b", "c"))
    parts = list(without.metrics.iterdir())
    for part in parts:
        part.unlink()
    unlist(without, *parts)
    for part in broken.metrics.iterdir():
        part.write_text("no parquet")
    table = plimsoll.open_all(runs).metrics("trafficgen", "rx-pps")
    assert [row["run"] for row in table.rows()] == [sound.run_id]
    for message in (repr(table), table._repr_html_()):
        assert passage(message, str(without.run_id)) == says(str(without.run_id))
        assert "Left out: " in message


def test_what_could_be_queried_next_is_shown(finished: Run, says: Says) -> None:
    table = finished.metrics("trafficgen", "rx-pps", breakout="tx_port")
    assert "Remaining breakouts: port_pair (1), rx_port (2)" in repr(table)
    assert "Remaining breakouts: port_pair (1), rx_port (2)" in table._repr_html_()
    assert passage(table._repr_html_(), "trafficgen", "rx-pps", "2") == says()


def test_what_there_is_is_a_table(finished: Run) -> None:
    types = {(row["source"], row["type"]): row for row in finished.metric_types().rows()}
    assert types["trafficgen", "rx-pps"] == {
        "source": "trafficgen",
        "type": "rx-pps",
        "class": "throughput",
        "unit": "pps",
        "aggregation": "sum",
        "series": 2,
        "names": "port_pair (1), rx_port (2), tx_port (2)",
    }


def test_mistakes_are_reported(finished: Run, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        finished.metrics("trafficgen", "rx-pp")
    assert caught.value == says()
    assert "rx-pps" in caught.value.remedy
    with pytest.raises(InputError) as caught:
        finished.metrics("trafficgen", "rx-pps", filter="above 3")
    assert caught.value == says("above 3")
    with pytest.raises(InputError) as caught:
        finished.metrics("trafficgen", "rx-pps", period=9)
    assert caught.value == says("trial-0001")
    with pytest.raises(InputError) as caught:
        finished.metrics("trafficgen", "rx-pps", begin=datetime(2026, 3, 14))
    assert caught.value == says("begin", "2")


def test_a_killed_run_answers_of_its_last_trial(runs: Path) -> None:
    run = plimsoll.open(killed_run(runs).path)
    (row,) = run.metrics("trafficgen", "rx-pps", period=2).rows()
    assert (row["value"], row["end"] - row["begin"]) == (2008.0, SECOND)
    (row,) = run.trial(2).metrics("trafficgen", "rx-pps").rows()
    assert row["value"] == 2008.0


def test_no_runs_are_reported(runs: Path) -> None:
    runs.mkdir()
    with pytest.raises(InputError):
        plimsoll.open_all(runs).metrics("trafficgen", "rx-pps")
