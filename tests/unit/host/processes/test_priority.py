import os
import subprocess

import pytest

from plimsoll.host.processes.priority import favour


@pytest.mark.skipif(os.geteuid() != 0, reason="a better priority needs root")
def test_a_session_is_put_before_ordinary_programs() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        try:
            assert favour(process.pid)
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == -20
            with open(f"/proc/{process.pid}/autogroup") as group:
                assert group.read().split()[-1] == "-20"
        finally:
            process.kill()


def test_a_process_that_has_ended_is_no_error() -> None:
    process = subprocess.Popen(["true"], start_new_session=True)
    process.wait()
    assert not favour(process.pid)
