import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.host.processes.identity import (
    ProcessIdentity,
    end_process,
    hugepage_holders,
    identify,
    processes_with_environment,
    wait_for_end,
)

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""

# pthread_exit ends the main thread alone.
MAIN_THREAD_ENDS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.PyDLL(None).pthread_exit(None)
"""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_a_process_is_known_by_pid_and_start(sleeper: subprocess.Popen[bytes]) -> None:
    identity = identify(sleeper.pid)
    assert identity.alive
    assert identity == identify(sleeper.pid)


def test_the_start_is_the_one_that_ps_knows() -> None:
    # This process, for of one that began in this very second ps may find less than none.
    own = os.getpid()
    ticks = os.sysconf("SC_CLK_TCK")
    uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    elapsed = subprocess.run(
        ["ps", "-o", "etimes=", "-p", str(own)], capture_output=True, check=True
    )
    age_s = uptime_s - identify(own).start_ticks / ticks
    assert abs(age_s - int(elapsed.stdout)) <= 2


def test_a_recycled_pid_is_never_signalled(sleeper: subprocess.Popen[bytes]) -> None:
    former = ProcessIdentity(sleeper.pid, identify(sleeper.pid).start_ticks - 1)
    assert not former.alive
    assert end_process(former, patience_s=0)
    assert sleeper.poll() is None


def test_a_zombie_is_dead(sleeper: subprocess.Popen[bytes]) -> None:
    identity = identify(sleeper.pid)
    sleeper.kill()
    assert wait_for_end(identity)
    # Not reaped yet, so the pid is still there.
    assert Path(f"/proc/{sleeper.pid}").exists()
    assert not identity.alive


def test_a_process_lives_on_after_its_main_thread() -> None:
    with subprocess.Popen([sys.executable, "-c", MAIN_THREAD_ENDS]) as process:
        stat = Path(f"/proc/{process.pid}/stat")
        while stat.read_text().split()[2] != "Z":
            pass
        identity = identify(process.pid)
        assert identity.alive
        assert end_process(identity, patience_s=0)
        assert not identity.alive


def test_a_pid_without_process_has_no_identity(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    sleeper.wait()
    with pytest.raises(ProcessLookupError):
        identify(sleeper.pid)


def test_waiting_ends_at_the_timeout(sleeper: subprocess.Popen[bytes]) -> None:
    assert not wait_for_end(identify(sleeper.pid), timeout_s=0.01)


def test_a_process_that_listens_is_signalled_to_end(sleeper: subprocess.Popen[bytes]) -> None:
    assert end_process(identify(sleeper.pid), patience_s=60)
    assert sleeper.wait() == -15


def test_a_process_that_does_not_listen_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert end_process(identify(process.pid), patience_s=0.05)
        assert process.wait() == -9


def test_a_command_name_with_blanks_and_parentheses_is_read(tmp_path: Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/usr/bin/sleep")
    with subprocess.Popen([program, "600"]) as process:
        assert end_process(identify(process.pid), patience_s=0)
        assert process.wait() == -9


def test_processes_are_found_by_their_environment() -> None:
    mark = f"PLIMSOLL_TEST_MARK={os.getpid()}"
    name, _, value = mark.partition("=")
    with subprocess.Popen(["sleep", "600"], env={**os.environ, name: value}) as process:
        found = list(processes_with_environment(mark))
        process.kill()
    assert [identity.pid for identity in found] == [process.pid]


def test_a_process_without_hugepages_holds_none(sleeper: subprocess.Popen[bytes]) -> None:
    assert sleeper.pid not in {holder.pid for holder in hugepage_holders("HOME")}
