import errno
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.record.causes.spikes import SpikeLog, read_spikes
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.histogram_log import read_histogram_log
from plimsoll.record.metrics.interval_samples import TesterCapacity
from plimsoll.record.metrics.metrics import read_metrics
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.results.result import Result, read_result
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.search.strategy.goal_end import GoalEnd
from tests.unit.record.trial_parts import BEGIN_NS, interval, plan, record, second
from tests.worded.says import Says

# A run that finishes one trial, is in its second, says so, and waits to be killed.
KILLED = """
import sys
from pathlib import Path
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.test_recorder import run_trial
from tests.unit.record.trial_parts import plan, second

with recording(RunDirectory.open(Path(sys.argv[1]))) as recorder:
    run_trial(recorder, 1)
    with recorder.trial(plan(), number=2, phase="search",
                        refused_is_lost=True) as trial:
        trial.interval(second())
        print("now", flush=True)
        input()
"""


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


def run_trial(recorder: Recorder, number: int) -> None:
    with recorder.trial(plan(), number=number, phase="search", refused_is_lost=True) as trial:
        trial.interval(second(0))
        trial.interval(second(1))
        trial.end(record(number))


def test_a_trial_leaves_its_record_and_all_its_series(run: RunDirectory) -> None:
    with recording(run) as recorder:
        recorder.event("run-started", version="0")
        run_trial(recorder, 1)
    kinds = [event.kind for event in read_journal(run.journal).events]
    assert kinds == ["run-started", "trial-started", "trial", "files"]
    assert read_journal(run.journal).trials() == (record(1),)
    assert {row.period for row in read_metrics(run)} == {"trial-0001"}
    assert len(list(read_histogram_log(run.histograms))) == 2
    assert {spike.trial for spike in read_spikes(run)} == {1}


def test_a_finished_run_has_its_result_twice(run: RunDirectory) -> None:
    trials = (record(1, phase="validation", load_pps=5.0),)
    result = Result.from_trials(
        trials,
        run_id="r",
        name="n",
        ends=[GoalEnd("load-line", 5.0, "")],
        criteria={"load-line": []},
    )
    with recording(run) as recorder:
        recorder.finish(result)
    files, event = read_journal(run.journal).events
    assert (files.kind, event.kind) == ("files", "finished")
    assert Result.model_validate(event.fields["result"]) == read_result(run) == result


def test_a_disk_that_fails_as_a_trial_ends_leaves_a_whole_record(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    """The trial counts by then, so that no later one would take its spikes along."""

    def fail(*_: object) -> None:
        raise RecordError("the disk fails")

    with monkeypatch.context() as failing, recording(run) as recorder:
        failing.setattr(SpikeLog, "convert", fail)
        with pytest.raises(RecordError) as caught:
            run_trial(recorder, 1)
        assert caught.value == says()
    with recording(run) as recorder:
        assert recorder.history().trials() == (record(1),)
        recorder.finish(record(1))
    assert {spike.trial for spike in read_spikes(run)} == {1}
    assert not run.spikes.with_suffix(".jsonl").exists()
    assert list(check_run(run)) == []


def test_an_empty_file_that_cannot_be_removed_is_no_damage(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    with recording(run) as recorder:
        run_trial(recorder, 1)
        recorder.finish(record(1))
        monkeypatch.setattr(Path, "unlink", fail)
    assert run.spikes.with_suffix(".jsonl").read_bytes() == b""
    assert list(check_run(run)) == []


def test_a_second_run_in_the_same_directory_is_refused(run: RunDirectory, says: Says) -> None:
    with recording(run), pytest.raises(RecordError) as caught, recording(run):
        pass
    assert caught.value == says(str(run.path))


def break_off_a_trial(recorder: Recorder) -> None:
    with recorder.trial(plan(), number=1, phase="search", refused_is_lost=True) as trial:
        trial.interval(second())
        raise ZeroDivisionError


def test_an_exception_in_a_trial_leaves_it_unfinished(run: RunDirectory) -> None:
    with recording(run) as recorder, pytest.raises(ZeroDivisionError):
        break_off_a_trial(recorder)
    contents = read_journal(run.journal)
    assert contents.trials() == ()
    assert len(contents.unfinished_trials()) == 1
    assert contents.next_trial_number() == 2
    assert read_metrics(run) != []


def test_a_killed_run_keeps_its_finished_trial_and_goes_on(run: RunDirectory) -> None:
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=root,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"now\n"
        child.send_signal(signal.SIGKILL)
    with recording(run) as recorder:
        assert recorder.history().trials() == (record(1),)
        assert recorder.history().next_trial_number() == 3
        run_trial(recorder, 3)
    assert {row.period for row in read_metrics(run)} == {"trial-0001", "trial-0002", "trial-0003"}
    assert {path.suffix for path in run.metrics.iterdir()} == {".parquet"}
    assert {spike.trial for spike in read_spikes(run)} == {1, 2, 3}
    assert len(list(read_histogram_log(run.histograms))) == 5


def test_spikes_that_were_left_out_are_counted_in_the_journal(run: RunDirectory) -> None:
    with (
        recording(run) as recorder,
        recorder.trial(plan(), number=1, phase="validation", refused_is_lost=True) as trial,
    ):
        for number in range(600, 640):
            trial.interval(second(number))
        trial.end(record(1))
    (event,) = read_journal(run.journal).of_kind("spikes-left-out")
    # Forty seconds with a worst latency each, of which ten are kept.
    assert event.fields == {"trial": 1, "counts": {"latency, unattributed": 30}}


def test_a_verdict_is_one_row_over_the_time_of_sending(run: RunDirectory) -> None:
    with recording(run) as recorder:
        run_trial(recorder, 1)
    rows = read_metrics(run, types=["trial-result"])
    begin_ms = BEGIN_NS // 10**6
    # Two seconds were sent, one row a direction.
    assert [(row.begin_ms, row.end_ms, row.value) for row in rows] == [
        (begin_ms, begin_ms + 2000, 1.0)
    ] * 2
    assert {row.names["tx_port"] for row in rows} == {"0", "1"}


def test_a_trial_that_was_broken_off_has_no_verdict(run: RunDirectory) -> None:
    with recording(run) as recorder, pytest.raises(ZeroDivisionError):
        break_off_a_trial(recorder)
    assert read_metrics(run, types=["trial-result"]) == []


def test_utilisation_is_recorded_of_what_the_tester_is_known_to_have(run: RunDirectory) -> None:
    capacity = TesterCapacity(tsc_hz=16 * 2304.0, sending=frozenset({5}), receiving=frozenset())
    with (
        recording(run) as recorder,
        recorder.trial(
            plan(),
            number=1,
            phase="search",
            refused_is_lost=True,
            capacity=capacity,
        ) as trial,
    ):
        trial.interval(interval((), end_s=2.0))
        trial.end(record(1))
    (row,) = read_metrics(run, types=["tx-cpu-util", "rx-cpu-util", "tx-port-util"])
    # 2304 ticks for building and 768 for sending, of 16 * 2304 a second, in two seconds.
    assert (row.type, row.names, row.value) == (
        "tx-cpu-util",
        {"lcore": "5"},
        pytest.approx(100 * (2304 + 768) / (2 * 2304)),
    )
