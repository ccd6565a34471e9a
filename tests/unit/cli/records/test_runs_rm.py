import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.record.run.run_lock import locked
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.record.index.run_dirs import make_matrix, make_run, make_stopped
from tests.worded.says import Says

ROOT = Path("runs")
CHECKOUT = Path(__file__).resolve().parents[4]


def answer_on_a_terminal(folder: Path, answer: str, *words: str) -> tuple[int, str]:
    """Exit code and screen of `plimsoll runs rm` with a terminal to ask on."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "plimsoll.cli", "runs", "rm", *words]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "dumb"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment
    ) as process:
        os.close(theirs)
        screen = b""
        while b"[y/N]" not in screen:
            screen += os.read(ours, 1000)
        os.write(ours, f"{answer}\n".encode())
        try:
            while more := os.read(ours, 1000):
                screen += more
        except OSError:
            # Linux's way to say that nobody holds the other end any more.
            pass
        code = process.wait()
    os.close(ours)
    return code, screen.decode()


@pytest.mark.parametrize(("answer", "code", "left"), [("y", 0, 1), ("n", 2, 2), ("", 2, 2)])
def test_it_says_what_goes_and_asks(tmp_path: Path, answer: str, code: int, left: int) -> None:
    path = make_run(tmp_path / "runs")
    make_run(tmp_path / "runs", "20260315T120005-demo")
    size = sum(part.stat().st_size for part in path.iterdir())
    found, screen = answer_on_a_terminal(tmp_path, answer, "20260314")
    said = " ".join(screen.split())
    assert "20260314T120005-demo: finished, 3.025 Mpps per direction" in said
    assert f"{size / 1000:.3g} kB in 4 files" in said
    assert "Remove this run" in said
    assert (found, len(os.listdir(tmp_path / "runs"))) == (code, left)


def test_no_one_to_ask_is_a_no(plimsoll: Plimsoll, says: Says) -> None:
    path = make_run(ROOT)
    assert plimsoll("runs", "rm", "last") == 2
    assert plimsoll.err == says()
    assert "remedy: add --yes" in plimsoll.err
    assert path.is_dir()


def test_several_are_removed_each_once(plimsoll: Plimsoll, says: Says) -> None:
    first, second = make_run(ROOT), make_stopped(ROOT, "20260315T120005-demo")
    other = make_run(ROOT, "20260316T120005-demo")
    (second / "capture.pcap").touch()
    words = ("20260314", first, f"{first}/", "20260315")
    assert plimsoll("runs", "rm", *words, "--yes") == 0
    assert plimsoll.out.count("removed ") == 2
    assert "stopped, -" in plimsoll.err
    assert plimsoll.err == says("capture.pcap")
    assert os.listdir(ROOT) == [other.name]


def test_one_that_is_refused_keeps_all(plimsoll: Plimsoll) -> None:
    make_run(ROOT)
    running = make_stopped(ROOT, "20260315T120005-demo")
    part = make_matrix(ROOT) / "iteration-0001" / "sample-1"
    (ROOT / "other").mkdir()
    before = sorted(os.listdir(ROOT))
    with locked(running / "lock"):
        for refused, said in (
            (running, "the run is still running"),
            (part, "a part of the matrix run"),
            (ROOT / "other", "this is not a run"),
            ("gone", "there is no such run"),
            ("2026", "3 runs begin so"),
        ):
            assert plimsoll("runs", "rm", "20260314T12", refused, "--yes") == 2
            assert said in plimsoll.err
            assert sorted(os.listdir(ROOT)) == before


def test_of_a_link_the_link_goes(plimsoll: Plimsoll, says: Says) -> None:
    path = make_run(Path("elsewhere"))
    ROOT.mkdir()
    (ROOT / "linked").symlink_to(path.resolve())
    assert plimsoll("runs", "rm", "linked", "--yes") == 0
    assert plimsoll.err == says()
    assert os.listdir(ROOT) == []
    assert path.is_dir()


def test_what_an_earlier_removal_has_left_goes_too(plimsoll: Plimsoll, says: Says) -> None:
    make_run(ROOT)
    leftover = ROOT / ".plimsoll-removed-0123456789abcdef"
    leftover.mkdir()
    (leftover / "journal.jsonl").touch()
    assert plimsoll("runs", "rm", "last", "--yes") == 0
    assert plimsoll.err == says("1")
    assert os.listdir(ROOT) == []


def test_a_damaged_run_can_be_removed(plimsoll: Plimsoll) -> None:
    path = make_run(ROOT)
    (path / "journal.jsonl").unlink()
    assert plimsoll("runs", "rm", "2026", "--yes") == 0
    assert "damaged, -" in plimsoll.err
    assert os.listdir(ROOT) == []
