import errno
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run import run_directory
from plimsoll.record.run.run_directory import RunDirectory
from tests.worded.says import Says

NOON = datetime(2026, 3, 14, 12, 0, 5, tzinfo=UTC)


def test_a_run_is_named_by_its_second_and_its_experiment(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "runs", "demo", {"name": "demo"}, now=NOON)
    assert run.path == tmp_path / "runs" / "20260314T120005-demo"
    assert run.run_id == "20260314T120005-demo"


def test_two_runs_of_one_second_have_directories_of_their_own(tmp_path: Path) -> None:
    runs = [RunDirectory.create(tmp_path, "demo", {}, now=NOON) for _ in range(3)]
    assert len({run.path for run in runs}) == 3


def test_a_record_is_not_for_all_users_of_the_machine(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    part = RunDirectory.within(tmp_path / "part", {})
    assert [each.path.stat().st_mode & 0o007 for each in (run, part)] == [0, 0]
    assert run.path.stat().st_mode & 0o700 == 0o700


def test_an_odd_name_makes_no_odd_path(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "../my run: 64 B", {}, now=NOON)
    assert run.path == tmp_path / "20260314T120005-my-run-64-B"


def test_the_experiment_is_kept_in_its_order(tmp_path: Path) -> None:
    experiment = {"name": "ä", "lab": {"kind": "loopback"}, "criteria": [{"kind": "loss-ratio"}]}
    run = RunDirectory.create(tmp_path, "demo", experiment)
    assert yaml.safe_load(run.experiment.read_text()) == experiment
    assert run.read_experiment() == experiment
    assert run.experiment.read_text().startswith("name: ä\n")


def test_a_directory_that_is_no_run_is_refused(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        RunDirectory.open(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert caught.value == says("experiment.yaml", "journal.jsonl", "id>")
    assert "runs/<run id>" in caught.value.remedy


@pytest.mark.parametrize("part", ["experiment.yaml", "journal.jsonl"])
def test_a_directory_that_holds_half_of_a_run_is_refused(tmp_path: Path, part: str) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    (run.path / part).unlink()
    with pytest.raises(InputError, match=f"it holds no {part}"):
        RunDirectory.open(run.path)


def test_a_run_that_was_killed_before_its_first_event_is_opened(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    assert run.journal.read_bytes() == b""
    assert RunDirectory.open(run.path) == run


def test_a_run_has_its_journal_before_its_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(run_directory, "write_whole", lambda path, _: written.append(path.name))
    RunDirectory.create(tmp_path, "demo", {})
    assert written == ["journal.jsonl", "experiment.yaml"]


def test_a_runs_root_that_cannot_be_made_is_named(tmp_path: Path, says: Says) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(RecordError) as caught:
        RunDirectory.create(tmp_path / "runs", "demo", {})
    assert caught.value == says()


def test_a_name_that_is_not_utf_8_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    """As the shell gives it, and as Python reads any name in a locale of ASCII."""
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff"))
    with pytest.raises(InputError, match="is not UTF-8") as error:
        RunDirectory.create(root, "demo", {})
    assert "PYTHONUTF8=1" in str(error.value.remedy)
    assert not root.exists()


def test_a_damaged_experiment_is_named(tmp_path: Path, says: Says) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    run.experiment.write_text("- not\n- a mapping\n")
    with pytest.raises(RecordError) as caught:
        run.read_experiment()
    assert caught.value == says()


def test_a_second_writer_in_this_process_is_refused(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    with run.lock(), pytest.raises(RecordError) as caught, run.lock():
        pass
    assert f"pid {os.getpid()}" in caught.value.message


def test_a_second_writer_learns_the_pid_of_the_first(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    program = (
        "import sys; from pathlib import Path; "
        "from plimsoll.record.run.run_directory import RunDirectory\n"
        "with RunDirectory.open(Path(sys.argv[1])).lock(): print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RecordError) as caught, run.lock():
            pass
        assert f"pid {holder.pid}" in caught.value.message
        assert caught.value.where == str(run.path)
        holder.kill()
    with run.lock():
        pass


@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_run_that_cannot_begin_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, nth: int
) -> None:
    """Of a directory without its experiment nothing could be made but a damaged run."""
    calls: list[object] = []
    original = getattr(os, name)

    def fail(*given: object) -> object:
        calls.append(given)
        if len(calls) == nth:
            raise OSError(errno.EIO, "Input/output error")
        return original(*given)

    monkeypatch.setattr(os, name, fail)
    with pytest.raises(RecordError, match="Input/output error"):
        RunDirectory.create(tmp_path, "demo", {})
    assert list(tmp_path.iterdir()) == []


def test_what_else_lies_in_a_part_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "part").mkdir()
    (tmp_path / "part/other").touch()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RecordError):
        RunDirectory.within(tmp_path / "part", {})
    assert [each.name for each in (tmp_path / "part").iterdir()] == ["other"]
