"""A run as one archive, and what reads it back."""

import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.export.bundle.pack import MANIFEST, write_bundle
from plimsoll.export.bundle.unpack import import_bundle
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.index.run_dirs import make_run
from tests.unit.report.sample_run import write_sample_run
from tests.worded.says import Says

RUN = "20260314T120005-demo"
Member = tuple[tarfile.TarInfo, bytes]


def bundled(folder: Path, run: Path) -> Path:
    path = folder / "run.tar.gz"
    write_bundle(RunDirectory(run), path, redacted=False, force=False)
    return path


def members_of(path: Path) -> list[Member]:
    with tarfile.open(path) as archive:
        return [(each, (archive.extractfile(each) or io.BytesIO()).read()) for each in archive]


def archive_of(path: Path, members: list[Member]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}


def test_what_is_imported_is_what_was_bundled(tmp_path: Path) -> None:
    run = write_sample_run(tmp_path / "here")
    path = bundled(tmp_path, run.path)
    copy, manifest = import_bundle(path, tmp_path / "there")
    assert copy.path == tmp_path / "there" / run.run_id
    found, expected = files_of(copy.path), files_of(run.path)
    expected.pop("summary.json", None)
    assert found == expected
    assert {each.path for each in manifest.files} == set(expected)
    assert list(check_run(copy)) == []
    assert [each.name for each in (tmp_path / "there").iterdir()] == [run.run_id]


def test_the_archive_is_the_same_each_time_and_names_no_user(tmp_path: Path) -> None:
    run = make_run(tmp_path / "here")
    first = bundled(tmp_path, run).read_bytes()
    (tmp_path / "other").mkdir()
    os.utime(run / "journal.jsonl", (1, 1))
    assert bundled(tmp_path / "other", run).read_bytes() == first
    for member, _ in members_of(tmp_path / "run.tar.gz"):
        assert (member.uid, member.gid, member.uname, member.gname, member.mtime) == (
            0,
            0,
            "",
            "",
            0,
        )


def test_files_of_others_in_a_run_directory_stay_there(tmp_path: Path) -> None:
    run = make_run(tmp_path / "here")
    (run / "secrets.txt").write_text("x")
    (run / "metrics").mkdir()
    (run / "metrics/trial-0001.parquet").symlink_to("/etc/passwd")
    names = {member.name for member, _ in members_of(bundled(tmp_path, run))}
    assert names == {
        f"{RUN}/{name}" for name in (MANIFEST, "experiment.yaml", "journal.jsonl", "result.json")
    }


def _link(kind: bytes) -> Callable[[list[Member]], None]:
    def change(members: list[Member]) -> None:
        member, _ = members[-1]
        link = tarfile.TarInfo(member.name)
        link.type, link.linkname = kind, "/etc/passwd"
        members[-1] = (link, b"")

    return change


def _renamed(name: str) -> Callable[[list[Member]], None]:
    """A file of another name, which the list has as well."""

    def change(members: list[Member]) -> None:
        member, content = members[-1]
        manifest = json.loads(members[0][1])
        manifest["files"][-1]["path"] = name
        members[0] = (members[0][0], json.dumps(manifest).encode())
        member.name = f"{RUN}/{name}"
        members[-1] = (member, content)

    return change


def _listed(**fields: Any) -> Callable[[list[Member]], None]:
    def change(members: list[Member]) -> None:
        manifest = json.loads(members[0][1])
        members[0] = (members[0][0], json.dumps({**manifest, **fields}).encode())

    return change


def _edited(members: list[Member]) -> None:
    members[-1] = (members[-1][0], members[-1][1].replace(b"demo", b"mode"))


def _damaged_record(members: list[Member]) -> None:
    """A result that the journal does not have, with the right checksum in the list."""
    manifest = json.loads(members[0][1])
    content = members[-1][1].replace(b"3025000.0", b"9025000.0")
    assert manifest["files"][-1]["path"] == "result.json"
    manifest["files"][-1]["sha256"] = hashlib.sha256(content).hexdigest()
    members[0] = (members[0][0], json.dumps(manifest).encode())
    members[-1] = (members[-1][0], content)


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (_renamed("../../outside.json"), ()),
        (_renamed("/etc/cron.d/x"), ()),
        (_renamed("metrics/../../x.json"), ()),
        (_renamed(".bashrc"), ()),
        (_link(tarfile.SYMTYPE), ()),
        (_link(tarfile.LNKTYPE), ()),
        (_link(tarfile.CHRTYPE), ()),
        (_link(tarfile.FIFOTYPE), ()),
        (lambda members: members.append(members[-1]), ()),
        (lambda members: members.pop(), ()),
        (lambda members: members.pop(0), ()),
        (lambda members: members.clear(), ()),
        (_edited, ()),
        (_damaged_record, ()),
        (_listed(run_id=".."), ("run_id",)),
        (_listed(run_id="a/b"), ("run_id",)),
        (_listed(version=2), ()),
        (_listed(surprise=1), ()),
        (_listed(files=[]), ("experiment.yaml", "journal.jsonl")),
    ],
)
def test_a_hostile_archive_leaves_nothing(
    tmp_path: Path, change: Callable[[list[Member]], None], facts: tuple[str, ...], says: Says
) -> None:
    members = members_of(bundled(tmp_path, make_run(tmp_path / "here")))
    change(members)
    path = archive_of(tmp_path / "hostile.tar.gz", members)
    before = sorted(tmp_path.iterdir())
    with pytest.raises((InputError, RecordError)) as caught:
        import_bundle(path, tmp_path / "there")
    assert caught.value == says(*facts)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_an_archive_that_ends_too_early_leaves_nothing(
    tmp_path: Path, kept: float, says: Says
) -> None:
    path = bundled(tmp_path, make_run(tmp_path / "here"))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(InputError) as caught:
        import_bundle(path, tmp_path / "there")
    assert caught.value == says("run.tar.gz")
    assert not (tmp_path / "there").exists()


def test_a_file_that_is_larger_than_its_list_says_is_not_read_to_its_end(
    tmp_path: Path, says: Says
) -> None:
    members = members_of(bundled(tmp_path, make_run(tmp_path / "here")))
    # 200 MB of zeros are 200 kB under gzip.
    members[-1] = (members[-1][0], bytes(200_000_000))
    path = archive_of(tmp_path / "bomb.tar.gz", members)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError) as caught:
        import_bundle(path, tmp_path / "there")
    assert caught.value == says("bomb.tar.gz", "result.json")


def test_what_is_no_archive_is_refused(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(b"hello" * 1000))
    with pytest.raises(InputError) as caught:
        import_bundle(path, tmp_path / "there")
    assert caught.value == says("x.tar.gz")


def test_a_run_that_is_there_is_kept(tmp_path: Path, says: Says) -> None:
    run = make_run(tmp_path / "here")
    path = bundled(tmp_path, run)
    before = files_of(run)
    with pytest.raises(InputError) as caught:
        import_bundle(path, tmp_path / "here")
    assert caught.value == says("--runs")
    assert files_of(run) == before


KILLED = """
import os, signal, sys
from pathlib import Path
from plimsoll.export.bundle import unpack

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(unpack, sys.argv[3], die)
unpack.import_bundle(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("step", ["_write", "_check", "_publish"])
def test_a_kill_leaves_no_half_run_and_the_next_import_clears_up(tmp_path: Path, step: str) -> None:
    path = bundled(tmp_path, make_run(tmp_path / "here"))
    there = tmp_path / "there"
    killed = subprocess.run([sys.executable, "-c", KILLED, path, there, step], check=False)
    assert killed.returncode == -signal.SIGKILL
    (leftover,) = there.iterdir()
    assert leftover.name.startswith(".plimsoll-import-")
    run, _ = import_bundle(path, there)
    assert list(there.iterdir()) == [run.path]


def test_an_import_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    path = bundled(tmp_path, make_run(tmp_path / "here"))
    there = tmp_path / "there"
    waiting = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "signal.pause()")
    with subprocess.Popen([sys.executable, "-c", waiting, path, there, "_publish"]) as other:
        while not list(there.glob(".plimsoll-import-*/result.json")):
            assert other.poll() is None
            time.sleep(0.01)
        import_bundle(path, there)
        assert len(list(there.glob(".plimsoll-import-*"))) == 1
        other.kill()


def test_what_the_journal_does_not_list_is_left_out_and_refused(tmp_path: Path, says: Says) -> None:
    run = write_sample_run(tmp_path / "here")
    parts = run.path / "metrics"
    shutil.copyfile(parts / "trial-0001.parquet", parts / "trial-0001-002.parquet")
    path = bundled(tmp_path, run.path)
    assert not any("-002" in member.name for member, _ in members_of(path))
    copy, _ = import_bundle(path, tmp_path / "there")
    assert list(check_run(copy)) == []
    # As one that packs whatever lies there would have made it.
    members = members_of(path)
    index = next(n for n, (m, _) in enumerate(members) if m.name.endswith("trial-0001.parquet"))
    member, content = members[index]
    added = tarfile.TarInfo(member.name.replace("0001.parquet", "0001-002.parquet"))
    listed = json.loads(members[0][1])
    name = "metrics/trial-0001.parquet"
    (entry,) = [each for each in listed["files"] if each["path"] == name]
    listed["files"].append({**entry, "path": name.replace("0001.", "0001-002.")})
    manifest = json.dumps(listed).encode()
    changed = [(members[0][0], manifest), *members[1:], (added, content)]
    archive = archive_of(tmp_path / "more.plimsoll.tar.gz", changed)
    with pytest.raises(InputError) as caught:
        import_bundle(archive, tmp_path / "elsewhere")
    assert caught.value == says("more.plimsoll.tar.gz", "metrics/trial-0001-002.parquet")


def _with_zeros(members: list[Member]) -> None:
    """A file of the run that is nothing but zeros, in the list as it is."""
    zeros = bytes(65 << 20)
    manifest = json.loads(members[0][1])
    path = "metrics/trial-0001.parquet"
    found = {"path": path, "bytes": len(zeros), "sha256": hashlib.sha256(zeros).hexdigest()}
    manifest["files"].append(found)
    members[0] = (members[0][0], json.dumps(manifest).encode())
    members.append((tarfile.TarInfo(f"{RUN}/{path}"), zeros))


def test_what_unpacks_to_a_hundred_times_its_size_is_not_unpacked(
    tmp_path: Path, says: Says
) -> None:
    members = members_of(bundled(tmp_path, make_run(tmp_path / "here")))
    _with_zeros(members)
    path = archive_of(tmp_path / "bomb.tar.gz", members)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError) as caught:
        import_bundle(path, tmp_path / "there")
    assert caught.value == says("100")
    assert not (tmp_path / "there").exists()


def test_what_does_not_fit_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bundled(tmp_path, make_run(tmp_path / "here"))
    full = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(MachineError, match="0 MiB are free") as refused:
        import_bundle(path, tmp_path / "there")
    assert "--runs" in refused.value.remedy
    assert not (tmp_path / "there").exists()
