"""Records a trace anew, with the kernel's own rendering of it: the expectations of the tests.

As root: python -m tests.unit.observe.kernel_trace.record. It goes into recorded/, laid out as
tracefs lays out an instance, with the text of `trace` and the few symbols that it names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from plimsoll.host.ledger.ledger import Ledger
from plimsoll.observe.kernel_trace.instance import TraceInstance
from tests.unit.observe.kernel_trace.ring_page import PAGE_BYTES

RECORDED = Path(__file__).parent / "recorded"
CPU = 1
EVENTS = (
    "sched:sched_switch",
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
    "irq:softirq_entry",
    "irq:softirq_exit",
    "irq_vectors:local_timer_entry",
    "irq_vectors:local_timer_exit",
    "timer:hrtimer_expire_entry",
    "ipi:ipi_send_cpu",
    "ipi:ipi_send_cpumask",
    "workqueue:workqueue_execute_start",
)
# Sleeps often on one CPU under a name with all that a name should not have.
SLEEPER = """
import ctypes, os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
ctypes.CDLL(None).prctl(15, bytes.fromhex("22 5c 0a 7b 7d ff 7f 2c 1b 5b 33 31 6d"), 0, 0, 0)
for _ in range(40):
    time.sleep(0.001)
"""


def main() -> None:
    """Record, and replace recorded/."""
    ledger = Ledger.create("record")
    ledger.note_trace_instance("plimsoll-record")
    try:
        instance = TraceInstance("plimsoll-record")
        instance.use_clock(["x86-tsc"])
        instance.limit_to_cpus([CPU])
        instance.size_buffers({CPU: 256})
        for event in EVENTS:
            instance.enable(event)
        instance.start()
        subprocess.run([sys.executable, "-c", SLEEPER, str(CPU)], check=True)
        instance.stop()
        shutil.rmtree(RECORDED, ignore_errors=True)
        _keep(instance.directory)
    finally:
        ledger.undo()


def _keep(instance: Path) -> None:
    for name in ("set_event", "trace", "events/header_page"):
        _copy(instance, name)
    for event in EVENTS:
        _copy(instance, f"events/{event.replace(':', '/')}/format")
    _keep_symbols((RECORDED / "trace").read_text(errors="replace"))
    pages = RECORDED / f"per_cpu/cpu{CPU}/trace_pipe_raw"
    pages.parent.mkdir(parents=True)
    pipe = os.open(instance / f"per_cpu/cpu{CPU}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
    with pages.open("wb") as file:
        try:
            while page := os.read(pipe, PAGE_BYTES):
                file.write(page)
        except BlockingIOError:
            pass
    os.close(pipe)


def _copy(instance: Path, name: str) -> None:
    (RECORDED / name).parent.mkdir(parents=True, exist_ok=True)
    (RECORDED / name).write_bytes((instance / name).read_bytes())


def _keep_symbols(text: str) -> None:
    named = set(re.findall(r"(?:function=|callsite=|callback=|: function )(\w+)", text))
    lines = Path("/proc/kallsyms").read_text().splitlines()
    kept = [line for line in lines if line.split()[2] in named]
    (RECORDED / "kallsyms").write_text("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
