import os
import subprocess
import threading

import pytest

from plimsoll.host.processes.affinity import SHARING, quick_to_answer, raise_priority


@pytest.mark.skipif(os.geteuid() != 0, reason="a better priority needs root")
def test_a_session_is_put_before_ordinary_programs_and_may_be_put_back() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        try:
            for niceness, options in ((-20, ()), (-10, (SHARING,))):
                assert raise_priority(process.pid, *options)
                assert os.getpriority(os.PRIO_PROCESS, process.pid) == niceness
                with open(f"/proc/{process.pid}/autogroup") as group:
                    assert group.read().split()[-1] == str(niceness)
        finally:
            process.kill()


def test_a_process_that_has_ended_is_no_error() -> None:
    process = subprocess.Popen(["true"], start_new_session=True)
    process.wait()
    assert not raise_priority(process.pid)


@pytest.mark.skipif(os.geteuid() != 0, reason="a better priority needs root")
def test_a_server_is_before_ordinary_programs_and_behind_polling_loops() -> None:
    found: list[int] = []

    def serve() -> None:
        before = os.getpriority(os.PRIO_PROCESS, 0)
        with quick_to_answer():
            found.append(os.getpriority(os.PRIO_PROCESS, 0))
            started = threading.Thread(
                target=lambda: found.append(os.getpriority(os.PRIO_PROCESS, 0))
            )
            started.start()
            started.join()
        found.append(os.getpriority(os.PRIO_PROCESS, 0) - before)

    # On a thread of its own, as the priority is one's.
    server = threading.Thread(target=serve)
    server.start()
    server.join()
    assert found == [-10, -10, 0]
