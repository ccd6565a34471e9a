"""One directory that somebody else has made must not hide the others, nor stay for ever."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.record.index.run_dirs import make_run, make_stopped
from tests.worded.says import Says

HOSTILE = "20260314T120006-hostile"


def plimsoll(*args: str | Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own: what is tested is that it does not end by a signal."""
    command = [sys.executable, "-m", "plimsoll.cli", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(params=["[" * 100_000, "{a: " * 50_000], ids=["lists", "mappings"])
def runs(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    make_run(tmp_path)
    make_stopped(tmp_path, HOSTILE, experiment=request.param)
    return tmp_path


def test_the_others_are_listed_and_it_is_named(runs: Path, says: Says) -> None:
    listed = plimsoll("runs", "list", "--runs", runs)
    assert listed.returncode == 0
    # How long ago it was is by the clock on the wall.
    assert "3.025 Mpps" in listed.stdout
    assert HOSTILE in listed.stderr
    assert listed.stderr == says("1")


@pytest.mark.parametrize("command", [["runs", "show"], ["report"]])
def test_it_is_an_error_of_the_record_and_no_more(runs: Path, command: list[str]) -> None:
    shown = plimsoll(*command, runs / HOSTILE)
    assert shown.returncode in (0, 4)
    assert "nested too deeply" in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stderr


def test_it_can_be_removed(runs: Path) -> None:
    removed = plimsoll("runs", "rm", "--yes", runs / HOSTILE)
    assert (removed.returncode, removed.stderr.count("Traceback")) == (0, 0)
    assert [path.name for path in runs.iterdir()] == ["20260314T120005-demo"]
