"""What happens to a run's files after the run is noticed, by those who take a figure from them."""

import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.query.queried_run import queried_runs
from plimsoll.record.recorder import recording
from plimsoll.record.results.result import Result
from plimsoll.record.run.file_check import check_run, require_intact
from plimsoll.record.run.journal import FILES, Journal, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.search.strategy.goal_end import GoalEnd
from tests.unit.record.test_recorder import break_off_a_trial, run_trial
from tests.unit.record.trial_parts import record
from tests.worded.says import Says

FILES_OF_RUN = [
    "experiment.yaml",
    "environment.json",
    "spikes.parquet",
    "histograms.hlog",
    "metrics/trial-0001.parquet",
    "metrics/trial-0002.parquet",
]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that no test touches."""
    run = RunDirectory.create(tmp_path_factory.mktemp("untouched"), "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={}, settings={})
        run.environment.write_text("{}\n")
        run_trial(recorder, 1)
        run_trial(recorder, 2)
    with recording(run) as recorder:
        run_trial(recorder, 3)
        recorder.finish(_result())
    return run.path


@pytest.fixture
def run(tmp_path: Path, untouched: Path) -> RunDirectory:
    return RunDirectory.open(shutil.copytree(untouched, tmp_path / untouched.name))


def _result() -> Result:
    return Result.from_trials(
        (record(1, phase="validation", load_pps=5.0),),
        run_id="r",
        name="n",
        ends=[GoalEnd("load-line", 5.0, "")],
        criteria={"load-line": []},
    )


def flip(path: Path) -> None:
    """One bit in the middle, leaving size and time as they were."""
    found = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1))


DAMAGE: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "a flipped bit": (flip, ()),
    "a cut": (lambda path: os.truncate(path, path.stat().st_size // 2), ()),
    "deletion": (Path.unlink, ()),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), ()),
}


def test_an_untouched_run_is_as_it_was_recorded(run: RunDirectory) -> None:
    assert list(check_run(run)) == []
    assert plimsoll.open(run.path).check() == ()


@pytest.mark.parametrize("name", [*FILES_OF_RUN, "result.json"])
@pytest.mark.parametrize(("damage", "facts"), DAMAGE.values(), ids=DAMAGE)
def test_whatever_happens_to_a_file_is_named(
    run: RunDirectory,
    name: str,
    damage: Callable[[Path], object],
    facts: tuple[str, ...],
    says: Says,
) -> None:
    damage(run.path / name)
    (found,) = check_run(run)
    assert found.path == run.path / name
    if name != "result.json":
        assert found.reason == says(*facts)
        with pytest.raises(RecordError) as caught:
            require_intact(run, name)
        assert caught.value == says()


@pytest.mark.parametrize("junk", [b'{"event": "tri', bytes(512), b"\x00"])
def test_bytes_behind_the_end_of_a_run_are_named(
    run: RunDirectory, junk: bytes, says: Says
) -> None:
    """In a running run they are what a kill left of a line, and no damage."""
    with run.journal.open("ab") as journal:
        journal.write(junk)
    (found,) = check_run(run)
    assert found.path == run.journal
    assert found.reason == says()


def recorded(run: RunDirectory, name: str) -> list[Any]:
    """All that the journal has of one file, in order."""
    sums = [event.fields["sums"] for event in read_journal(run.journal).of_kind(FILES)]
    return [each[name] for each in sums if isinstance(each, dict) and name in each]


def test_the_checksum_is_the_sha_256_of_the_file(run: RunDirectory) -> None:
    path = run.metrics / "trial-0001.parquet"
    (checksum,) = recorded(run, "metrics/trial-0001.parquet")
    assert checksum == {"end": path.stat().st_size, "sha256": sha256(path.read_bytes()).hexdigest()}


def test_what_grows_is_recorded_by_stretches_and_each_byte_once(run: RunDirectory) -> None:
    stretches = recorded(run, "histograms.hlog")
    data, begin = run.histograms.read_bytes(), 0
    assert len(stretches) == 3
    for each in stretches:
        assert each.get("begin", 0) == begin
        assert each["sha256"] == sha256(data[begin : each["end"]]).hexdigest()
        begin = each["end"]
    assert begin == len(data)


def test_what_a_killed_trial_left_is_passed_over_and_recorded_by_the_next(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    with pytest.raises(ZeroDivisionError), recording(run) as recorder:
        break_off_a_trial(recorder)
    assert list(check_run(run)) == []
    with recording(run) as recorder:
        run_trial(recorder, 2)
    assert list(check_run(run)) == []
    flip(run.metrics / "trial-0001.parquet")
    assert [found.path.name for found in check_run(run)] == ["trial-0001.parquet"]


def test_going_on_with_a_run_does_not_hide_damage(run: RunDirectory) -> None:
    flip(run.metrics / "trial-0001.parquet")
    with recording(run) as recorder:
        run_trial(recorder, 4)
    assert [found.path.name for found in check_run(run)] == ["trial-0001.parquet"]


@pytest.mark.parametrize("name", ["spikes.parquet", "environment.json"])
def test_what_would_be_written_anew_from_damage_is_refused(
    run: RunDirectory, name: str, says: Says
) -> None:
    flip(run.path / name)
    with pytest.raises(RecordError) as caught, recording(run):
        pass
    assert caught.value == says(name)


def test_a_kill_while_a_file_is_written_anew_makes_it_no_damaged_one(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    with recording(run) as recorder:
        run.environment.write_text("{}\n")
        run_trial(recorder, 2)
    with recording(run) as recorder:
        recorder.event("run-resumed", trials=1)
        run.environment.write_text("{}\n\n")
    with recording(run), Journal(run.journal) as journal:
        # As a kill leaves it, while the spikes of another trial are put in.
        journal.append(FILES, sums={}, rewriting=["spikes.parquet"])
    shutil.copy(run.environment, run.spikes)
    assert list(check_run(run)) == []
    with recording(run):
        assert list(check_run(run)) == []


def test_metrics_come_only_from_files_that_are_as_they_were_recorded(run: RunDirectory) -> None:
    flip(run.metrics / "trial-0002.parquet")
    (other,) = queried_runs([run], "trial-0001")
    assert (other.damage, len(other.files.finished)) == (None, 1)
    (queried,) = queried_runs([run], "trial-0002")
    assert queried.damage is not None
    assert queried.damage.where.endswith("trial-0002.parquet")
    with pytest.raises(RecordError, match=r"trial-0002\.parquet: was changed"):
        plimsoll.open(run.path).rows()


def test_a_journal_from_elsewhere_makes_no_reader_look_outside_the_run(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    with recording(run) as recorder:
        recorder.event(
            "files", sums={"../../etc/passwd": {"end": 1, "sha256": "0"}, "/etc/passwd": 7}
        )
    assert list(check_run(run)) == []
