"""What the engine gave up, in all of its threads, and that polling loops would not miss it."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from plimsoll.host.processes.schedule_stats import polling_threads
from tests.integration.command import until
from tests.integration.engine.requests import open_request, stream, trial_request
from tests.integration.engine.session import EngineSession

PATIENCE_S = 60


def send_for_hours(engine: EngineSession) -> None:
    engine.ask(open_request("net_ring0", "net_ring1"))
    engine.send(trial_request(stream(0, 200_000), duration_s=7200, interval_s=0.5, drain_s=0.1))
    until(lambda: bool(polling_threads(engine.process.pid)), "the polling loop")


def test_every_thread_is_filtered_and_gains_nothing(engine: EngineSession) -> None:
    if "system calls are not filtered" in engine.stderr:
        pytest.skip("this kernel or this build has no filter")
    send_for_hours(engine)
    threads = list(Path(f"/proc/{engine.process.pid}/task").iterdir())
    assert len(threads) >= 2
    for thread in threads:
        status = (thread / "status").read_text()
        assert "NoNewPrivs:\t1\n" in status
        assert "Seccomp:\t2\n" in status


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_polling_loop_makes_no_system_call(engine: EngineSession) -> None:
    """So no filter can cost it anything: the kernel runs filters at system calls alone."""
    send_for_hours(engine)
    (loop, *_) = polling_threads(engine.process.pid)
    with subprocess.Popen(
        ["strace", "-qq", "-e", "trace=all", "-e", "signal=none", "-p", str(loop)],
        stderr=subprocess.PIPE,
        text=True,
    ) as tracer:
        for _ in range(4):
            assert engine.next()["event"] == "interval"
        tracer.send_signal(signal.SIGINT)
        _, seen = tracer.communicate(timeout=PATIENCE_S)
    assert seen == ""
