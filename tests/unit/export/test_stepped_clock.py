"""Every exported figure of a run is the record's, however the wall clock was set meanwhile."""

import csv
import io
import json
import math
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from plimsoll.analysis.runs import open_run
from plimsoll.export.cdm.document import CdmVersion
from plimsoll.export.cdm.documents import RunDocuments
from plimsoll.export.cdm.run_iterations import outline_of
from plimsoll.export.parquet_parts import periods_to_export
from plimsoll.export.text_forms import histogram_lines, write_csv
from plimsoll.record.causes.spikes import read_spikes
from plimsoll.record.query import MetricQuery, ask, parse_breakouts
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.report.charts import drawn_types
from plimsoll.report.data.run_data import load_run
from tests.unit.export.stepped_run import SECONDS, SteppedTrial, samples_of, sent_of, stepped_run
from tests.unit.record.relisting import relist
from tests.worded.says import Says, passage

ENGINE = "trafficgen-engine"
PROBE = "probe/0-1"
STEPS = st.one_of(st.just(0.0), st.floats(-40, 40).map(lambda s: round(s, 1)))
TRIALS = st.lists(st.builds(SteppedTrial, STEPS, STEPS), min_size=2, max_size=3)


def samples(trial: int) -> list[int]:
    return sorted(value for second in range(SECONDS) for value in samples_of(trial, second))


def quantile_ns(share: float, trial: int) -> int:
    """The smallest sample that this share of them does not exceed."""
    known = samples(trial)
    return known[math.ceil(share * len(known)) - 1]


def sent(trial: int) -> int:
    return sum(sent_of(trial, second) for second in range(SECONDS))


# Back by a trial's length, so that one lies upon the other; and back and forth within them.
@given(TRIALS)
@example([SteppedTrial(), SteppedTrial(-6.0), SteppedTrial(-7.5)])
@example([SteppedTrial(within_s=-2.0), SteppedTrial(-4.0, 3.0), SteppedTrial(-9.3, -1.2)])
@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_figure_is_its_own_trials(
    tmp_path_factory: pytest.TempPathFactory, trials: list[SteppedTrial]
) -> None:
    run = stepped_run(tmp_path_factory.mktemp("runs"), trials)
    for number, trial in enumerate(trials, start=1):
        check_queries(run, number)
        check_python(run, number)
        check_lines(run, number)
        steps = read_journal(run.journal).trials()[number - 1].clock_steps
        expected = [trial.within_s] if abs(trial.within_s) > 0.25 else []
        assert [step.by_s for step in steps] == pytest.approx(expected)
    check_csv(run, len(trials))
    check_cdm(run, len(trials))
    check_page(run, len(trials))
    assert all(spike.length_ns in samples(spike.trial) for spike in read_spikes(run))


def check_queries(run: RunDirectory, number: int) -> None:
    period = trial_period(number)
    for share, kind in ((0.5, "p50"), (0.99, "p99")):
        query = MetricQuery(ENGINE, f"{kind}-round-trip-usec", period=period)
        (row,) = ask(run, query).rows
        assert row.whole == pytest.approx(quantile_ns(share, number) / 1e3)
    (row,) = ask(
        run,
        MetricQuery(
            "trafficgen",
            "tx-pps",
            period=period,
            over_time="total",
            breakouts=parse_breakouts("tx_port=0"),
        ),
    ).rows
    # And the probes.
    assert row.whole == sent(number) + 10 * SECONDS


def check_python(run: RunDirectory, number: int) -> None:
    histogram = open_run(run.path, run.path.parent).trial(number).latency(PROBE)
    assert histogram.get_total_count() == len(samples(number))
    assert histogram.get_value_at_percentile(50) == quantile_ns(0.5, number)
    assert "by time" not in histogram.of


def check_lines(run: RunDirectory, number: int) -> None:
    periods = periods_to_export(run, [str(number)])
    tags = [f"{PROBE}@0:1"]
    (line,) = [
        each for each in histogram_lines(run, periods, tags, merge=True) if each.startswith("Tag=")
    ]
    found = HdrHistogram.decode(line.split(",")[-1])
    assert found.get_total_count() == len(samples(number))
    assert found.get_max_value() == max(samples(number))


def check_csv(run: RunDirectory, trials: int) -> None:
    file = io.StringIO()
    write_csv(file, run, periods_to_export(run), wide=True)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    for number in range(1, trials + 1):
        counted = [
            int(row["count"])
            for row in rows
            if (row["period"], row["type"]) == (trial_period(number), "tx-pps")
            and row["name.tx_port"] == "0"
        ]
        assert sum(counted) == sent(number) + 10 * SECONDS


def check_cdm(run: RunDirectory, trials: int) -> None:
    """As Crucible asks: by type and the time of a period, and nothing of the period itself."""
    documents = [
        json.loads(each.lines.splitlines()[1])
        for each in RunDocuments(run, outline_of(run), CdmVersion.V8)
    ]
    described = {
        each["metric_desc"]["metric_desc-uuid"]
        for each in documents
        if "metric_desc" in each
        and each["metric_desc"].get("type") == "tx-pps"
        and each["metric_desc"]["names"].get("tx_port") == "0"
    }
    data = [
        each["metric_data"]
        for each in documents
        if "metric_data" in each and each["metric_desc"]["metric_desc-uuid"] in described
    ]
    periods = {each["period"]["name"]: each["period"] for each in documents if "period" in each}
    for number in range(1, trials + 1):
        period = periods[trial_period(number)]
        within = [
            each
            for each in data
            if each["begin"] <= period["end"] and each["end"] >= period["begin"]
        ]
        frames = sum(each["value"] * each["duration"] / 1e3 for each in within)
        assert frames == pytest.approx(sent(number) + 10 * SECONDS)


def check_page(run: RunDirectory, number: int) -> None:
    """The page shows the last trial, a validation."""
    data = load_run(run, drawn_types())
    assert data.focus is not None
    assert data.focus.number == number
    (probe,) = [each for each in data.distributions if each.stream.name == PROBE]
    assert probe.histogram.get_total_count() == len(samples(number))
    rates = [row.count for row in data.series if row.type == "tx-pps"]
    assert len(rates) == 2 * SECONDS


def test_a_log_without_trials_is_joined_by_time_and_says_so(tmp_path: Path, says: Says) -> None:
    run = stepped_run(tmp_path, [SteppedTrial(), SteppedTrial()])
    lines = run.histograms.read_text().splitlines()
    kept = [line for line in lines if not line.startswith("#[Trial: ")]
    run.histograms.write_text("\n".join(kept) + "\n")
    relist(run, run.histograms)
    answer = ask(run, MetricQuery(ENGINE, "p99-round-trip-usec", period="2"))
    assert answer.rows[0].whole == pytest.approx(quantile_ns(0.99, 2) / 1e3)
    assert passage(answer.notes, "times") == says()
    lines = list(histogram_lines(run, periods_to_export(run, ["2"]), [f"{PROBE}@0:1"]))
    assert sum(line.startswith("Tag=") for line in lines) == SECONDS
    assert any("by time" in line for line in lines)
