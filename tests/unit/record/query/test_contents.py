from pathlib import Path

from plimsoll.record.query.contents import MetricContents, metric_contents
from tests.unit.record.query.metric_runs import make_run, row, sending, write_rows


def test_metrics_are_listed_with_their_names_and_how_many_values_each_has(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    rows = [row("s", "t", {"cpu": c, "irq": i}, 1.0) for c in "01" for i in "789"]
    write_rows(run, "trial-0001", [sending(), *rows, *rows, row("s", "bare", {}, 1.0)])
    contents, failures = metric_contents([run])
    assert failures == []
    assert contents[:2] == [
        MetricContents("s", "bare", "throughput", "1/s", "sum", {}, 1),
        MetricContents("s", "t", "throughput", "1/s", "sum", {"cpu": 2, "irq": 3}, 6),
    ]
    assert [metric.source for metric in metric_contents([run], source="s")[0]] == ["s", "s"]


def test_a_damaged_run_is_reported_and_the_others_are_listed(tmp_path: Path) -> None:
    good, bad = make_run(tmp_path, "good"), make_run(tmp_path, "bad")
    write_rows(good, "trial-0001", [sending()])
    (bad.metrics / "trial-0001.parquet").write_text("no parquet")
    contents, failures = metric_contents([good, bad])
    assert [metric.type for metric in contents] == ["tx-pps"]
    assert [failure.run for failure in failures] == ["bad"]
