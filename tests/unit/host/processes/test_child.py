import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.processes.child import Child, describe_exit, with_parent_death_signal
from plimsoll.host.processes.identity import end_process, identify, wait_for_end
from tests.worded.says import Says

READS_STDIN = "import sys; sys.stdin.read(); print('end of stdin', flush=True)"
STARTS_A_CHILD = """
import os, sys, time
from pathlib import Path
from plimsoll.host.processes.child import Child
child = Child.start(["sleep", "600"], log=Path(sys.argv[1]), environment=os.environ,
                    lifetime=sys.argv[2])
# setpriv has tied it to us once it has turned into the program; a kill before that leaves
# it to the janitor.
while Path(f"/proc/{child.pid}/comm").read_text() != "sleep\\n":
    time.sleep(0.01)
print(child.pid, flush=True)
time.sleep(600)
"""


def start(program: str, log: Path) -> Child:
    return Child.start([sys.executable, "-c", program], log=log, environment=os.environ)


def start_grandchild(lifetime: str, log: Path) -> tuple[subprocess.Popen[bytes], int]:
    root = Path(__file__).resolve().parents[4]
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTS_A_CHILD, str(log), lifetime],
        stdout=subprocess.PIPE,
        cwd=root,
    )
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


def test_output_and_errors_land_in_the_log(tmp_path: Path) -> None:
    child = start(
        "import sys; print('one'); print(); print('two', file=sys.stderr)", tmp_path / "l"
    )
    assert child.wait(60)
    child.end(0)
    assert sorted(child.log_tail()) == ["one", "two"]
    assert child.exit_status() == 0


def test_the_tail_is_the_last_lines(tmp_path: Path) -> None:
    child = start("for n in range(5000): print('line', n)", tmp_path / "l")
    assert child.wait(60)
    child.end(0)
    assert child.log_tail(lines=2) == ("line 4998", "line 4999")


def test_stdin_stays_open_until_the_end(tmp_path: Path) -> None:
    child = start(READS_STDIN, tmp_path / "l")
    assert not child.wait(0.2)
    child.end(patience_s=60)
    assert child.exit_status() == -15


def test_a_child_lives_in_a_session_of_its_own(tmp_path: Path) -> None:
    child = start(READS_STDIN, tmp_path / "l")
    assert os.getsid(child.pid) == child.pid
    child.end(0)


def test_ending_twice_is_harmless(tmp_path: Path) -> None:
    child = start(READS_STDIN, tmp_path / "l")
    child.end(0)
    child.end(0)


def test_a_missing_program_is_named_with_a_remedy(tmp_path: Path, says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        Child.start(
            ["no-such-program"], log=tmp_path / "l", environment=os.environ, lifetime="standing"
        )
    assert caught.value == says("no-such-program")


def test_a_missing_setpriv_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("PATH", "/proc/nonexistent")
    with pytest.raises(MachineError) as caught:
        with_parent_death_signal(["true"])
    assert caught.value == says("PATH")


def test_our_child_dies_when_we_are_killed(tmp_path: Path) -> None:
    parent, pid = start_grandchild("ours", tmp_path / "l")
    child = identify(pid)
    parent.kill()
    parent.communicate()
    assert wait_for_end(child, timeout_s=60)


def test_a_standing_child_lives_on_and_its_stdin_stays_open(tmp_path: Path) -> None:
    parent, pid = start_grandchild("standing", tmp_path / "l")
    child = identify(pid)
    parent.kill()
    parent.communicate()
    assert child.alive
    # Its own read-write end keeps the FIFO from ever being at its end.
    assert Path(f"/proc/{pid}/fd/0").resolve() == (tmp_path / "l.stdin").resolve()
    flags = Path(f"/proc/{pid}/fdinfo/0").read_text().split()[3]
    assert int(flags, 8) & os.O_ACCMODE == os.O_RDWR
    assert end_process(child, patience_s=0)


@pytest.mark.parametrize(
    ("status", "facts"),
    [
        (0, ("0",)),
        (3, ("3",)),
        (-11, ("11",)),
        (-200, ("200",)),
    ],
)
def test_an_exit_is_put_in_words(status: int, facts: tuple[str, ...], says: Says) -> None:
    assert describe_exit(status) == says(*facts)


def test_it_runs_in_the_folder_that_was_named(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    child = Child.start(("pwd",), log=tmp_path / "log", environment=os.environ, folder=folder)
    assert child.wait(60)
    child.end(1)
    assert (tmp_path / "log").read_text().strip() == str(folder)


def test_an_interrupted_child_ends_by_sigint(tmp_path: Path) -> None:
    child = Child.start(("sleep", "60"), log=tmp_path / "log", environment=os.environ)
    child.interrupt()
    assert child.wait(60)
    assert child.exit_status() == -signal.SIGINT
    child.end(1)
