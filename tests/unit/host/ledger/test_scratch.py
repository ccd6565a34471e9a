import os
from pathlib import Path

import pytest

from plimsoll.host.ledger.scratch import scratch_folder, sweep_scratch
from plimsoll.host.processes.identity import identify


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def folder_of(start_ticks: int, tmp_path: Path) -> Path:
    folder = tmp_path / f"plimsoll-scratch-{os.getpid()}-{start_ticks}-abc"
    folder.mkdir()
    (folder / "rows.jsonl").write_text("{}\n")
    return folder


def test_it_is_private_and_gone_at_the_end() -> None:
    with scratch_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert sweep_scratch() == []
        assert folder.is_dir()
    assert not folder.exists()


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    dead = folder_of(1, tmp_path)
    living = folder_of(identify(os.getpid()).start_ticks, tmp_path)
    assert sweep_scratch() == [f"removed {dead}"]
    assert [living] == list(tmp_path.iterdir())


def test_a_link_and_another_name_are_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / f"plimsoll-scratch-{os.getpid()}-1-abc").symlink_to(kept)
    (tmp_path / "plimsoll-scratch-x-1-abc").mkdir()
    assert sweep_scratch() == []
    assert kept.is_dir()
