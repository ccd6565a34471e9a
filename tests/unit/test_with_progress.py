"""What `make` says of steps that take minutes."""

import subprocess
from pathlib import Path

WITH_PROGRESS = Path(__file__).parents[2] / "build-aux/with-progress"


def run(log: Path, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [WITH_PROGRESS, "building the engine", log, "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_step_is_reported_before_it_starts_and_its_output_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = run(log, "echo one; echo two >&2")
    first, last = done.stdout.splitlines()
    assert first == "plimsoll: building the engine; this may take minutes"
    assert last.startswith("plimsoll:   done in ")
    assert (done.returncode, done.stderr) == (0, "")
    assert log.read_text() == "one\ntwo\n"


def test_of_a_step_that_fails_the_end_is_shown_and_its_status_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = run(log, "seq 100; exit 7")
    assert done.returncode == 7
    *shown, said = done.stderr.splitlines()
    assert shown == [str(number) for number in range(61, 101)]
    assert said.endswith(f"the whole output is in {log}")
    assert "done" not in done.stdout
