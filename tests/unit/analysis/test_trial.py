"""A trial's figures, times, histograms and tables."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import plimsoll
from plimsoll.analysis.run import Run
from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.journal import JournalEvent, journal_line, read_journal
from tests.unit.analysis.handmade import finished_run
from tests.worded.says import Says

BEGIN = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)


def test_a_trial_tells_what_it_was_and_found(finished: Run, says: Says) -> None:
    trial = finished.trial(1)
    assert (trial.number, trial.period, trial.phase) == (1, "trial-0001", "search")
    assert (trial.load_pps, trial.attempt, trial.planned_s) == (1000.0, 1, 2.0)
    assert (trial.verdict, [finding.rule for finding in trial.reasons]) == ("fail", ["loss-ratio"])
    assert [stream.lost for stream in trial.streams] == [0, 1, 2]
    assert trial.begin == BEGIN
    assert trial.end == BEGIN + timedelta(seconds=2)
    assert repr(trial).startswith("<trial 1 of ")
    assert repr(trial) == says("search", "1", "2s", "fail>")


def test_an_unended_trial_has_a_beginning_and_its_series(killed: Run, says: Says) -> None:
    trial = killed.trial(2)
    assert (trial.phase, trial.load_pps, trial.planned_s) == ("validation", 1000.0, 2.0)
    assert (trial.record, trial.verdict, trial.end, trial.sending_s) == (None, None, None, None)
    assert (trial.streams, trial.findings, trial.reasons) == ((), (), ())
    # From its metrics: the journal's own time is that of this test.
    assert trial.begin == BEGIN + timedelta(seconds=100)
    assert len(trial.rows(type="tx-pps")) == 2
    assert repr(trial) == says("2s")
    assert "not ended" in trial._repr_html_()


def test_a_trial_without_metrics_began_when_the_journal_says(runs: Path) -> None:
    run = finished_run(runs)
    fields = {"number": 9, "phase": "search", "load_pps": 5.0, "attempt": 1, "planned_s": 1.0}
    event = JournalEvent("trial-started", 1773480999000000000, fields)
    last = read_journal(run.journal).chain.last
    with run.journal.open("a") as file:
        file.write(f"{journal_line(event, last)}\n")
    trial = plimsoll.open(run.path).trial(9)
    assert trial.begin == datetime(2026, 3, 14, 9, 36, 39, tzinfo=UTC)
    assert trial.gaps().get_total_count() == 0


def test_a_latency_histogram_has_all_samples_of_the_trial_in_ns(finished: Run, says: Says) -> None:
    # 100, 200, 200 and 250 ns in each of two seconds.
    latency = finished.trial(1).latency("probe/0-1")
    assert latency.unit == "ns"
    assert latency.get_total_count() == 8
    assert (latency.get_min_value(), latency.get_max_value()) == (100, 250)
    assert latency.get_value_at_percentile(50) == 200
    assert latency.distribution().rows() == [
        {"up_to_ns": 100, "count": 2, "share": 0.25},
        {"up_to_ns": 200, "count": 4, "share": 0.75},
        {"up_to_ns": 250, "count": 2, "share": 1.0},
    ]
    assert repr(latency) == says(
        "<latency",
        "probe/0-1",
        "8",
        "100",
        "p50",
        "200",
        "p90",
        "250",
        "p99",
        "p99.9",
        "p99.99",
        "ns>",
    )
    assert "in ns" in latency._repr_html_()


def test_without_a_stream_it_is_that_of_the_probes(finished: Run) -> None:
    assert finished.trial(1).latency().of == "latency of probe/0-1, trial 1"


def test_a_stream_without_samples_has_an_empty_histogram(finished: Run, says: Says) -> None:
    empty = finished.trial(1).latency("load/0-1")
    assert empty.get_total_count() == 0
    assert empty.distribution().rows() == []
    assert repr(empty) == says("<latency", "load/0-1", "0>")


def test_latency_across_stalls_is_apart(finished: Run, says: Says) -> None:
    across = finished.trial(1).latency("probe/0-1", kind="across-stalls")
    assert across.get_total_count() == 8
    assert across.of == says("probe/0-1")
    assert finished.trial(1).latency(kind="lateness").get_total_count() == 0


def test_the_histograms_of_trials_are_kept_apart(finished: Run, killed: Run) -> None:
    for run in (finished, killed):
        assert run.trial(1).latency().get_total_count() == 8
    assert finished.trial(2).latency().get_total_count() == 8
    # A second of it, before the kill.
    assert killed.trial(2).latency("probe/0-1").get_total_count() == 4


def test_gaps_are_by_lcore_or_all(finished: Run, says: Says) -> None:
    trial = finished.trial(1)
    assert trial.gaps(5).get_total_count() == trial.gaps().get_total_count() == 8
    assert trial.gaps(5).of == says("5", "trial", "1")
    with pytest.raises(InputError) as caught:
        trial.gaps(6)
    assert caught.value == says("6")
    assert (caught.value.where, caught.value.remedy) == ("trial 1", "use one of 5")


def test_an_unknown_stream_is_reported_with_the_likeliest(finished: Run, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        finished.trial(1).latency("prob/0-1")
    assert caught.value == says("prob/0-1")
    assert (caught.value.where, caught.value.remedy) == ("trial 1", "did you mean probe/0-1?")


def test_an_unknown_kind_is_reported(finished: Run, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        finished.trial(1).latency(kind="jitter")
    assert caught.value == says("jitter")


def test_an_unended_trial_wants_the_stream_named(killed: Run, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        killed.trial(2).latency()
    assert caught.value == says("probe/0-1")
    with pytest.raises(InputError) as caught:
        killed.trial(2).latency("load/9-9")
    assert caught.value == says("load/9-9", "2", "probe/0-1")
    assert killed.trial(2).gaps(5).get_total_count() == 4


def test_a_damaged_log_is_reported(runs: Path) -> None:
    run = finished_run(runs)
    run.histograms.write_text(run.histograms.read_text().replace("HIST", "TSIH"))
    with pytest.raises(RecordError, match="is damaged") as caught:
        plimsoll.open(run.path).trial(1).latency()
    assert caught.value.where.endswith("histograms.hlog")


def test_trials_are_chosen_by_phase_verdict_place_and_number(finished: Run, says: Says) -> None:
    trials = finished.trials
    assert [trial.number for trial in trials.where(phase="validation")] == [2]
    assert [trial.number for trial in trials.where(verdict="fail")] == [1]
    assert trials.where(phase="validation", verdict="fail").table().rows() == []
    assert [trial.number for trial in trials.that(lambda trial: trial.number > 1)] == [2]
    assert trials[-1] is trials.numbered(2)
    assert [trial.number for trial in trials[1:]] == [2]
    with pytest.raises(InputError) as caught:
        finished.trial(3)
    assert caught.value == says("3")
    assert (caught.value.where, caught.value.remedy) == (finished.id, "there are 1 to 2")


def test_trials_are_a_table_with_those_that_have_not_ended(killed: Run) -> None:
    first, second = killed.trials.table().rows()
    assert first == {
        "number": 1,
        "phase": "search",
        "load_pps": 1000.0,
        # A thousand frames of each load stream in two seconds.
        "offered_pps": 500.0,
        "attempt": 1,
        "verdict": "pass",
        "begin": BEGIN,
        "planned_s": 2.0,
        "sending_s": 2.0,
        "ended_by": "duration",
        "goal": None,
        "sent": 3000,
        "lost": 3,
        "reasons": None,
    }
    assert (second["number"], second["verdict"], second["sent"]) == (2, None, None)


def test_streams_are_a_table_with_their_quantiles(finished: Run) -> None:
    rows = finished.trials.stream_table().rows()
    assert [(row["trial"], row["stream"]) for row in rows] == [
        (trial, stream) for trial in (1, 2) for stream in ("load/0-1", "probe/0-1", "load/1-0")
    ]
    probe = rows[1]
    assert (probe["sent"], probe["received"], probe["lost"]) == (1000, 999, 1)
    # A lost frame of 1,000 that were offered.
    assert probe["loss_ratio"] == pytest.approx(0.001)
    assert (probe["samples"], probe["min_ns"], probe["p50_ns"], probe["max_ns"]) == (
        4,
        100,
        200,
        250,
    )
    assert probe["mean_ns"] == 187.5
    assert finished.trial(1).stream_table().rows() == rows[:3]


def test_a_trial_has_its_own_spikes(finished: Run) -> None:
    assert {row["trial"] for row in finished.trial(2).spikes().rows()} == {2}
