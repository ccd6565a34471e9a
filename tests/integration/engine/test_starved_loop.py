"""A polling loop without its CPU: the main thread waits for it, and lets it have what there is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.engine.requests import CPUS, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession

# Takes the CPU from every ordinary thread for half a second.
THIEF = f"""
import os, time
os.sched_setaffinity(0, {{{CPUS[0]}}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
end = time.monotonic() + 0.5
while time.monotonic() < end:
    pass
"""
# Its naps are of a millisecond in the end. Of 20 µs each there were 4000 in 0.4 s.
MAX_WAKES = 1500


def wakes(engine: EngineSession) -> int:
    status = Path(f"/proc/{engine.process.pid}/status").read_text()
    found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)$", status, re.MULTILINE)
    assert found is not None
    return int(found[1])


@pytest.mark.skipif(os.getuid() != 0 or len(CPUS) < 2, reason="needs root and two CPUs")
def test_the_main_thread_wakes_ever_less_often_while_it_waits(engine: EngineSession) -> None:
    engine.ask(open_request("net_ring0", main_cpus=CPUS[1:]))
    before = wakes(engine)
    engine.send(trial_request(stream(0, 1000), duration_s=3.0, interval_s=0.1))
    engine.next_interval()
    subprocess.run([sys.executable, "-c", THIEF], check=True)
    (worker,) = engine.reply_to(2)["workers"]
    assert worker["worst_stall_ns"] > 300e6
    assert wakes(engine) - before < MAX_WAKES
