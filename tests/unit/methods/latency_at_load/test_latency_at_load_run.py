"""Latency at load on the simulated DUT."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from plimsoll.errors import InputError, Interrupted
from plimsoll.generator.histogram import histogram_of
from plimsoll.methods.latency_at_load.page import latency_at_load_answer, latency_by_load, run_page
from plimsoll.methods.latency_at_load.result import (
    LatencyAtLoadResult,
    LoadPoint,
    StreamLatency,
)
from plimsoll.methods.latency_at_load.run import (
    check_latency_at_load,
    run_latency_at_load,
)
from plimsoll.methods.latency_at_load.settings import LatencyAtLoadSettings
from plimsoll.record.run.journal import read_journal
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.text.units import Rate
from tests.unit.benchmark.simulated_tests import (
    CAPACITY_PPS,
    Seen,
    experiment,
    run_directory,
)
from tests.unit.report.test_charts import rows
from tests.worded.says import Says

GIVEN = LatencyAtLoadSettings.quickly().model_copy(
    update={"rate": Rate(CAPACITY_PPS, "pps"), "rate_from": "given"}
)


def medians(result: LatencyAtLoadResult) -> list[int]:
    """Of the probe on its way out."""
    return [
        stream.latency.p50_ns or 0
        for point in result.points
        for stream in point.streams
        if stream.name == "probe/0-1"
    ]


def test_latency_is_measured_without_load_and_at_shares_of_the_rate(tmp_path: Path) -> None:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    result = run_latency_at_load(plan, GIVEN, run, Seen())
    assert [(point.percent, point.load_pps) for point in result.points] == [
        (0, 0),
        (10, 100_000),
        (50, 500_000),
        (90, 900_000),
    ]
    assert {stream.role for stream in result.points[0].streams} == {"latency"}
    # A queue before a server grows with its load.
    assert medians(result)[0] < medians(result)[3]
    page = run_page(run)
    # After the method's own, those of the heaviest trial.
    assert [figure.name for figure in page.figures] == [
        "latency-by-load",
        "trial-4-rate",
        "trial-4-latency",
    ]
    assert page.figures[0].chart is not None


def _point(*ends: Mapping[int, int]) -> LoadPoint:
    low, high = (LatencyRecord.of(histogram_of(each)) for each in ends)
    stream = StreamLatency(
        name="probe/0-1",
        role="latency",
        sent=4,
        lost=0,
        latency=LatencyRecord.of(histogram_of({100: 3})),
        across_stalls=1,
        latency_low=low,
        latency_high=high,
    )
    return LoadPoint(
        percent=50.0, load_pps=10.0, trial=1, sending_s=1.0, streams=(stream,), verdict="pass",
        reason=None,
    )  # fmt: skip


def test_what_stalls_leave_open_has_both_ends_in_the_chart(says: Says) -> None:
    figure = latency_by_load([_point({100: 4}, {100: 3, 250: 1})])
    found = {row["quantile"]: (row["low"], row["latency"]) for row in rows(figure)}
    assert found == {
        "p50": (0.1, 0.1), "p99": (0.1, 0.25), "p99.9": (0.1, 0.25), "max": (0.1, 0.25)
    }  # fmt: skip
    assert figure.caption == says("bar")
    assert "a bar" not in latency_by_load([_point({100: 4}, {100: 4})]).caption


def test_a_rate_that_is_not_given_is_searched_first_and_a_kill_loses_no_trial(
    tmp_path: Path,
    says: Says,
) -> None:
    search = {
        "strategy": "binary",
        "minimum": "10kpps",
        "maximum": "2Mpps",
        "granularity": "10%",
        "duration": "1s",
        "validation": {"duration": "2s"},
    }
    plan = experiment(search=search)
    run = run_directory(tmp_path, plan)
    with pytest.raises(Interrupted):
        run_latency_at_load(plan, LatencyAtLoadSettings.quickly(), run, Seen(most=3))
    result = run_latency_at_load(plan, LatencyAtLoadSettings.quickly(), run, Seen())
    assert result.rate_pps == pytest.approx(CAPACITY_PPS, rel=0.11)
    assert result.rate_from == "search"
    steps = [trial.step for trial in read_journal(run.journal).trials() if trial.step]
    assert len(set(steps)) == len(steps)
    assert steps[:3] == ["search/1", "search/2", "search/3"]
    assert steps[-4:] == ["latency/0", "latency/10", "latency/50", "latency/90"]
    assert latency_at_load_answer(run).warnings[0] == says("2s")


def test_a_search_that_finds_nothing_is_reported(tmp_path: Path) -> None:
    search = {
        "strategy": "binary",
        "minimum": "2Mpps",
        "maximum": "4Mpps",
        "duration": "1s",
        "granularity": "50%",
    }
    plan = experiment(search=search)
    run = run_directory(tmp_path, plan)
    result = run_latency_at_load(plan, LatencyAtLoadSettings.quickly(), run, Seen())
    assert (result.rate_pps, result.points) == (None, ())
    assert result.reason is not None
    assert result.reason in latency_at_load_answer(run).sentences


def test_a_profile_without_a_probe_is_refused(says: Says) -> None:
    plan = experiment(profile={"streams": [{"name": "load", "role": "load"}]})
    with pytest.raises(InputError) as error:
        check_latency_at_load(plan, GIVEN)
    assert error.value == says("role")


def test_a_share_beyond_reason_is_refused(says: Says) -> None:
    settings = GIVEN.model_copy(update={"percents": (-1.0,)})
    with pytest.raises(InputError) as error:
        settings.check()
    assert error.value == says("-1")
    assert error.value.where == "--loads"


def test_the_search_for_the_rate_knows_the_lowest_load_and_its_own_repetitions(
    tmp_path: Path,
) -> None:
    """Criteria that compare trials find what they compare with, as in plimsoll run."""
    search = {
        "strategy": "binary",
        "minimum": "10kpps",
        "maximum": "2Mpps",
        "granularity": "50%",
        "duration": "1s",
        "repeat": 2,
        "validation": {"duration": "1s", "repeat": 2},
    }
    criteria = [
        {"kind": "latency", "quantile": "p99", "times_lowest": 20.0},
        {"kind": "spread-of-rate", "at_most": "10%", "repetitions": 2},
    ]
    plan = experiment(search=search, criteria=criteria)
    run = run_directory(tmp_path, plan)
    with pytest.raises(Interrupted):
        run_latency_at_load(plan, LatencyAtLoadSettings.quickly(), run, Seen(most=3))
    result = run_latency_at_load(plan, LatencyAtLoadSettings.quickly(), run, Seen())
    trials = read_journal(run.journal).trials()
    assert [trial.phase for trial in trials].count("baseline") == 1
    assert "invalid" not in {trial.verdict for trial in trials}
    assert result.rate_pps is not None
    assert 0.5 * CAPACITY_PPS <= result.rate_pps <= CAPACITY_PPS
