"""What ends a session is in its journal, also what no one foresaw."""

from pathlib import Path

import pytest

from plimsoll.benchmark.session.session import record_failures
from plimsoll.errors import InputError, Interrupted
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.run.journal import RUN_STARTED, JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.worded.says import Says


def ended_by(error: BaseException, folder: Path) -> JournalContents:
    run = RunDirectory.create(folder, "n", {"name": "n"})
    with recording(run) as recorder:
        recorder.event(RUN_STARTED, method="load-line")
        with pytest.raises(type(error)), record_failures(recorder):
            raise error
    return read_journal(run.journal)


def test_a_fault_of_plimsoll_is_a_failure_of_the_run(tmp_path: Path, says: Says) -> None:
    error = KeyError("k")
    journal = ended_by(error, tmp_path)
    assert journal.failures == (says("k", "KeyError"),)
    assert error.__notes__ == [says(str(next(tmp_path.iterdir())))]


@pytest.mark.parametrize("error", [InputError("no"), Interrupted("SIGTERM")])
def test_what_the_user_knows_of_is_none(tmp_path: Path, error: BaseException) -> None:
    assert ended_by(error, tmp_path).failures == ()


def test_a_disk_that_fails_does_not_hide_the_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RecordError("the disk is full")

    monkeypatch.setattr(Recorder, "event", fail)
    run = RunDirectory.create(tmp_path, "n", {"name": "n"})
    with recording(run) as recorder, pytest.raises(KeyError), record_failures(recorder):
        raise KeyError("k")
