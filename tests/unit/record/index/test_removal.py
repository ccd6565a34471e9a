"""What is removed, and above all what is not."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index import removal
from plimsoll.record.index.removal import finish_removals, plan_removal, remove
from plimsoll.record.index.run_paths import run_paths
from plimsoll.record.run.run_lock import locked
from tests.unit.record.index.run_dirs import (
    make_matrix,
    make_run,
    make_stopped,
    nobody,
    open_folder,
)
from tests.worded.says import Says

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")


def refusal(path: Path) -> InputError:
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(InputError) as caught:
        plan_removal(path)
    assert sorted(path.parent.rglob("*")) == before
    return caught.value


def is_whole(run: Path) -> bool:
    return {"experiment.yaml", "journal.jsonl", "lock", "result.json"} <= set(os.listdir(run))


def test_a_run_is_measured_and_removed(tmp_path: Path) -> None:
    path, other = make_run(tmp_path), make_run(tmp_path, "20260315T120005-demo")
    (path / "metrics").mkdir()
    (path / "metrics" / "trial-0001.parquet").write_bytes(b"x" * 1000)
    files = [each for each in path.rglob("*") if each.is_file()]
    size = sum(each.stat().st_size for each in files)
    planned = plan_removal(path)
    assert (planned.files, planned.bytes, planned.is_link) == (len(files), size, False)
    assert (planned.entry.state, planned.foreign) == ("finished", ())
    assert path.is_dir()
    remove(planned)
    assert os.listdir(tmp_path) == [other.name]


def test_files_that_are_not_the_runs_own_are_reported(tmp_path: Path) -> None:
    path = make_run(tmp_path)
    (path / "capture.pcap").touch()
    (path / "setup").mkdir()
    (path / ".notes.json.123").touch()
    # Of the run itself.
    (path / "audit.json").touch()
    (path / "audits").mkdir()
    assert plan_removal(path).foreign == ("capture.pcap", "setup")


def test_a_matrix_is_removed_with_its_parts(tmp_path: Path) -> None:
    path = make_matrix(tmp_path)
    remove(plan_removal(path))
    assert os.listdir(tmp_path) == []


def test_a_part_of_a_matrix_is_not_removed_by_itself(tmp_path: Path, says: Says) -> None:
    error = refusal(make_matrix(tmp_path) / "iteration-0001" / "sample-1")
    assert error == says("20260314T130000-sizes")


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (lambda path: path.mkdir(), ("experiment.yaml",)),
        (lambda path: path.write_text(""), ()),
        (os.mkfifo, ()),
        (lambda path: path.symlink_to("/etc"), ()),
        (lambda path: path.symlink_to("nowhere"), ()),
        (lambda path: (path.mkdir(), (path / "journal.jsonl").touch()), ()),
        (
            lambda path: (
                path.mkdir(),
                (path / "journal.jsonl").symlink_to("/etc/passwd"),
                (path / "experiment.yaml").symlink_to("/etc/passwd"),
            ),
            (),
        ),
    ],
)
def test_what_is_no_run_is_refused(
    tmp_path: Path, make: Callable[[Path], object], facts: tuple[str, ...], says: Says
) -> None:
    path = tmp_path / "thing"
    make(path)
    error = refusal(path)
    assert error == says(*facts)
    assert error.where == str(path)
    assert "by hand" in error.remedy


def test_what_does_not_exist_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(RecordError) as caught:
        plan_removal(tmp_path / "gone")
    assert caught.value == says("gone")


@pytest.mark.parametrize("path", [Path("/"), Path("/etc"), Path("/proc"), Path.home()])
def test_nothing_great_is_ever_a_run(path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        plan_removal(path)
    assert caught.value == says("experiment.yaml", "journal.jsonl")


def test_what_is_left_of_a_run_is_removed_when_it_holds_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "20260314T120005-demo"
    path.mkdir()
    (path / "lock").touch()
    (path / "histograms.hlog").touch()
    planned = plan_removal(path)
    assert (planned.entry.state, planned.files) == ("damaged", 2)
    remove(planned)
    assert not path.exists()


def test_what_is_called_like_a_run_and_holds_something_else_is_refused(
    tmp_path: Path, says: Says
) -> None:
    path = tmp_path / "20260314T120005-holiday"
    path.mkdir()
    (path / "beach.jpg").touch()
    (path / "evil\x1b[2J").touch()
    error = refusal(path)
    assert error == says("beach.jpg", "evil\\x1b[2J")


def test_of_a_link_only_the_link_is_removed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "elsewhere")
    for name in ("linked", "20260314T120005-loop", "20260314T120005-gone"):
        link = tmp_path / name
        link.symlink_to({"linked": run, "20260314T120005-loop": link}.get(name, Path("nowhere")))
        planned = plan_removal(link)
        assert (planned.is_link, planned.files) == (True, 1)
        remove(planned)
        assert not os.path.lexists(link)
    assert is_whole(run)


def test_a_link_with_a_slash_after_it_is_still_a_link(tmp_path: Path) -> None:
    run = make_run(tmp_path / "elsewhere")
    (tmp_path / "linked").symlink_to(run)
    remove(plan_removal(Path(f"{tmp_path}/linked/")))
    assert run.is_dir()
    assert not (tmp_path / "linked").is_symlink()


def test_links_inside_lead_nowhere(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("all of it")
    path = make_run(tmp_path / "runs")
    (path / "metrics").symlink_to(precious)
    (path / "charts").symlink_to(precious / "thesis.tex")
    remove(plan_removal(path))
    assert (precious / "thesis.tex").read_text() == "all of it"
    assert os.listdir(tmp_path / "runs") == []


def test_the_run_one_stands_in_is_removed_by_a_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_run(tmp_path / "runs")
    monkeypatch.chdir(path)
    remove(plan_removal(Path(".")))
    assert os.listdir(tmp_path / "runs") == []


def test_a_run_that_is_going_on_is_refused(tmp_path: Path) -> None:
    path, matrix = make_stopped(tmp_path), make_matrix(tmp_path)
    part = matrix / "iteration-0001" / "sample-2"
    with locked(path / "lock"), locked(part / "lock"):
        for chosen, going_on in ((path, path), (matrix, part)):
            error = refusal(chosen)
            assert (error.where, error.message) == (str(going_on), "the run is still running")
            assert "stop it first" in error.remedy


def test_a_run_that_goes_on_after_the_question_stays(tmp_path: Path) -> None:
    planned = plan_removal(make_stopped(tmp_path))
    with locked(planned.path / "lock"), pytest.raises(InputError, match="still running"):
        remove(planned)
    assert len(run_paths(tmp_path)) == 1


def test_a_run_that_goes_on_at_the_last_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    planned = plan_removal(make_stopped(tmp_path))
    monkeypatch.setattr(removal, "check_is_over", lambda path: None)
    with locked(planned.path / "lock"), pytest.raises(RecordError) as caught:
        remove(planned)
    assert caught.value == says(str(planned.path))
    assert len(run_paths(tmp_path)) == 1


def test_no_one_goes_on_with_a_run_that_is_vanishing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    planned = plan_removal(make_stopped(tmp_path))

    def look_and_delete(path: Path) -> None:
        with pytest.raises(RecordError) as caught, locked(path / "lock"):
            pass
        assert caught.value == says(str(path))
        shutil.rmtree(path)

    monkeypatch.setattr(removal, "_delete", look_and_delete)
    remove(planned)
    assert os.listdir(tmp_path) == []


def test_another_directory_in_its_place_stays(tmp_path: Path, says: Says) -> None:
    planned = plan_removal(make_run(tmp_path))
    planned.path.rename(tmp_path / "moved")
    make_run(tmp_path)
    with pytest.raises(RecordError) as caught:
        remove(planned)
    assert caught.value == says(planned.path.name)
    assert sorted(os.listdir(tmp_path)) == ["20260314T120005-demo", "moved"]
    assert is_whole(planned.path)


def test_a_link_in_its_place_stays_and_leads_to_no_harm(tmp_path: Path, says: Says) -> None:
    planned = plan_removal(make_run(tmp_path))
    planned.path.rename(tmp_path / "moved")
    planned.path.symlink_to("moved")
    with pytest.raises(RecordError) as caught:
        remove(planned)
    assert caught.value == says(planned.path.name)
    assert is_whole(tmp_path / "moved")


def test_another_link_in_its_place_stays(tmp_path: Path, says: Says) -> None:
    run = make_run(tmp_path / "elsewhere")
    link = tmp_path / "linked"
    link.symlink_to(run)
    planned = plan_removal(link)
    link.unlink()
    make_run(tmp_path, "linked")
    with pytest.raises(RecordError) as caught:
        remove(planned)
    assert caught.value == says("linked")
    assert is_whole(link)


def test_a_run_that_someone_else_has_removed_is_reported(tmp_path: Path, says: Says) -> None:
    planned = plan_removal(make_run(tmp_path))
    remove(planned)
    with pytest.raises(RecordError) as caught:
        remove(planned)
    assert caught.value == says(planned.path.name)


def test_files_that_vanish_in_between_are_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan_removal(make_run(tmp_path))
    really, calls = shutil.rmtree, []

    def somebody_was_quicker(path: Path) -> None:
        calls.append(path)
        if len(calls) < 3:
            raise FileNotFoundError(2, "No such file or directory", "lock")
        really(path)

    monkeypatch.setattr(removal.shutil, "rmtree", somebody_was_quicker)
    remove(planned)
    assert os.listdir(tmp_path) == []


def test_a_removal_that_was_killed_leaves_no_half_run_and_is_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned, other = plan_removal(make_run(tmp_path)), make_run(tmp_path, "other")

    def killed(path: Path) -> None:
        (path / "experiment.yaml").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(removal, "_delete", killed)
    with pytest.raises(KeyboardInterrupt):
        remove(planned)
    monkeypatch.undo()
    assert run_paths(tmp_path) == [other]
    assert len(os.listdir(tmp_path)) == 2
    assert finish_removals(tmp_path) == 1
    assert os.listdir(tmp_path) == ["other"]
    assert finish_removals(tmp_path) == 0


def test_only_what_a_removal_has_left_is_finished(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / ".plimsoll-removed-0123456789abcdef").symlink_to(precious)
    (tmp_path / ".plimsoll-removed-1123456789abcdef").touch()
    (tmp_path / ".plimsoll-removed-mine").mkdir()
    (tmp_path / ".plimsoll-aside-0123456789abcdef").mkdir()
    before = sorted(os.listdir(tmp_path))
    assert finish_removals(tmp_path) == 0
    assert sorted(os.listdir(tmp_path)) == before
    assert finish_removals(tmp_path / "gone") == 0


@needs_root
def test_what_may_not_be_deleted_is_reported(says: Says) -> None:
    with open_folder() as root:
        path = make_run(root)
        with nobody():
            planned = plan_removal(path)
            with pytest.raises(RecordError) as caught:
                remove(planned)
        assert caught.value == says(planned.path.name)
        assert "writable" in caught.value.remedy
        assert os.listdir(root) == [path.name]


@needs_root
def test_a_run_that_cannot_be_deleted_whole_is_no_longer_listed(says: Says) -> None:
    with open_folder() as root:
        path = make_run(root)
        root.chmod(0o777)
        (path / "metrics").mkdir()
        (path / "metrics" / "trial-0001.parquet").touch()
        os.chown(path, 65534, 65534)
        with nobody():
            planned = plan_removal(path)
            with pytest.raises(RecordError) as caught:
                remove(planned)
            assert run_paths(root) == []
        assert caught.value == says("trial-0001.parquet")
        assert ".plimsoll-removed-" in caught.value.where


@needs_root
def test_what_may_not_be_looked_into_is_reported(says: Says) -> None:
    with open_folder() as root:
        path = make_run(root)
        path.chmod(0)
        with nobody(), pytest.raises(RecordError) as caught:
            plan_removal(path)
    assert caught.value == says("Permission denied")


@needs_root
def test_another_file_system_in_it_is_refused(tmp_path: Path, says: Says) -> None:
    path = make_run(tmp_path)
    (path / "metrics").mkdir()
    mounted = ["unshare", "--mount", "sh", "-c"]
    script = (
        'mount -t tmpfs none "$1/metrics" && exec "$2" -c '
        '"import sys; from pathlib import Path; '
        "from plimsoll.record.index.removal import plan_removal; "
        'plan_removal(Path(sys.argv[1]))" "$1"'
    )
    done = subprocess.run(
        [*mounted, script, "sh", str(path), sys.executable],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[4],
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("mounting is not allowed here")
    assert done.stderr.splitlines()[-1] == says()
    assert path.is_dir()


def test_every_refusal_is_one_that_the_user_can_mend(tmp_path: Path) -> None:
    path = make_stopped(tmp_path)
    with locked(path / "lock"), pytest.raises(PlimsollError) as caught:
        plan_removal(path)
    assert caught.value.exit_code == 2
