"""What a run tells of itself, finished, killed and running."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import plimsoll
from plimsoll.analysis.run import Run
from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.recorder import recording
from plimsoll.record.results.result import Result
from plimsoll.record.run.journal import Journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.analysis.handmade import (
    begin,
    cut_trial_short,
    finished_run,
    run_trial,
)
from tests.worded.says import Says


def test_a_finished_run_tells_what_it_found(finished: Run, says: Says) -> None:
    assert (finished.name, finished.method, finished.state) == ("demo", "load-line", "finished")
    assert (finished.verdict, finished.load_line_pps) == ("pass", 500.0)
    assert finished.answer is not None
    assert finished.answer.text == says("500", "1")
    assert isinstance(finished.result, Result)
    assert finished.result.load_line is not None
    # Two directions of 1,000 pps.
    assert finished.result.load_line.total_pps == 1000.0
    assert finished.experiment == {"name": "demo", "lab": {"kind": "testpmd-memif"}}
    assert finished.versions == {"plimsoll": "0.1.0", "dpdk": None}
    assert finished.environment is None
    assert finished.damage == ()


def test_began_and_ended_are_those_of_the_journal(finished: Run) -> None:
    events = finished.journal.events
    assert finished.began is not None
    assert finished.ended is not None
    assert finished.began.tzinfo is UTC
    assert abs(finished.began.timestamp() * 1e9 - events[0].at_unix_ns) < 2000
    assert abs(finished.ended.timestamp() * 1e9 - events[-1].at_unix_ns) < 2000


def test_the_proof_is_the_trial_that_the_answer_rests_on(finished: Run) -> None:
    assert finished.proof is not None
    assert (finished.proof.number, finished.proof.phase) == (2, "validation")


def test_a_killed_run_tells_how_far_it_came(killed: Run) -> None:
    assert (killed.state, killed.verdict) == ("stopped", "none")
    assert (killed.answer, killed.result, killed.proof, killed.ended) == (None, None, None, None)
    assert killed.finished_trials == 1
    assert [trial.number for trial in killed.trials] == [1, 2]
    assert "stopped" in repr(killed)
    assert "stopped" in killed._repr_html_()


def test_a_running_run_is_seen_as_running_and_read_anew(runs: Path, says: Says) -> None:
    run = RunDirectory.create(runs, "live", {"name": "live"})
    with recording(run) as recorder:
        begin(recorder)
        first = plimsoll.open(run.path)
        assert first.state == "running"
        assert list(first.trials) == []
        assert str(_error(first)) == says("1")
        run_trial(recorder, 1)
        cut_trial_short(recorder, 2)
        # What was read stays as it was.
        assert list(first.trials) == []
        again = plimsoll.open(run.path)
        assert [trial.verdict for trial in again.trials] == ["pass", None]
        # Metrics are read anew each time: three streams' tx-pps are two directions'.
        assert len(first.rows(source="trafficgen", type="tx-pps", periods=2)) == 2
        assert again.trial(2).latency("probe/0-1").get_total_count() == 4


def _error(run: Run) -> InputError:
    with pytest.raises(InputError) as caught:
        run.trial(1)
    return caught.value


def test_a_run_that_has_hardly_begun_can_be_looked_at(runs: Path) -> None:
    run = plimsoll.open(RunDirectory.create(runs, "new", {"name": "new"}).path)
    assert run.state == "stopped"
    assert run.rows().rows() == []
    assert run.spikes().rows() == []
    assert "0 rows" in run.trials._repr_html_()
    assert "new" in repr(run)


def test_a_single_trial_has_a_verdict_and_no_load_line(runs: Path) -> None:
    run = RunDirectory.create(runs, "single", {"name": "single"})
    with recording(run) as recorder:
        begin(recorder, "trial")
        run_trial(recorder, 1, "single", "fail")
    opened = plimsoll.open(run.path)
    assert (opened.state, opened.verdict) == ("finished", "fail")
    assert (opened.load_line_pps, opened.result) == (None, None)


def test_a_result_of_an_unknown_method_is_reported(runs: Path, says: Says) -> None:
    run = RunDirectory.create(runs, "future", {"name": "future"})
    with recording(run) as recorder:
        begin(recorder, "divination")
    with Journal(run.journal) as journal:
        journal.finish({})
    run.result.write_text("{}")
    with pytest.raises(RecordError) as caught:
        _ = plimsoll.open(run.path).result
    assert caught.value == says("divination")
    assert "environment.json" in caught.value.remedy


def test_spikes_are_a_table_with_their_times(finished: Run) -> None:
    stalls = [row for row in finished.spikes().rows() if row["kind"] == "stall"]
    # Both seconds of a trial tell of the same stall, which ended half a second into the trial.
    assert [row["trial"] for row in stalls] == [1, 2]
    assert stalls[0]["length_ns"] == 30_000
    assert stalls[0]["end"] == datetime(2026, 3, 14, 9, 26, 53, 500_000, tzinfo=UTC)
    assert stalls[0]["begin"] == datetime(2026, 3, 14, 9, 26, 53, 499_970, tzinfo=UTC)


def test_hostile_names_are_escaped_everywhere(runs: Path) -> None:
    hostile = '<script>alert("x")</script>'
    run = finished_run(runs, "x")
    run.experiment.write_text(f"name: '{hostile}\\x1b[31m'\nlab: {{kind: '{hostile}'}}\n")
    moved = run.path.with_name("20260101T000000-<img src=x onerror=alert(1)>")
    run.path.rename(moved)
    opened = plimsoll.open(moved)
    shown = [
        each._repr_html_()
        for each in (
            opened,
            opened.trials,
            opened.trials[0],
            opened.rows(),
            opened.spikes(),
            opened.trials[0].latency(),
            plimsoll.open_all(moved.parent),
        )
    ]
    assert opened.name.startswith(hostile)
    for html in shown:
        assert "<script" not in html
        assert "<img" not in html
        assert "<b>" not in html
    assert "&lt;script&gt;" in shown[0]
    assert "&lt;b&gt;2&lt;/b&gt; of 1,000 frames lost" in shown[2]
    assert "\x1b" not in repr(opened)
