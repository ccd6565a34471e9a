"""A real trace instance on this kernel; skipped where it cannot be had."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from plimsoll.attribution.events.standstill import standstills
from plimsoll.attribution.events.trace_reading import TraceReading
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.host.cpus import allowed_cpus
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.trace_instance import trace_instance
from plimsoll.host.processes.identity import wait_for_end
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_program import KernelEvent, TraceUnavailable

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]
CPU = max(allowed_cpus())
SLEEPS = 20
# Reads the TSC by machine code of its own: rdtscp; shl rdx, 32; or rax, rdx; ret. Prints its
# reading before and after each sleep. A neighbour keeps the CPU from being idle: some kernels
# (6.18 on a virtual machine here) do not trace every switch away from the idle task.
SLEEPER = f"""
import ctypes, mmap, os, signal, time
os.sched_setaffinity(0, {{{CPU}}})
sleeper = os.getpid()
if (neighbour := os.fork()) == 0:
    os.nice(19)
    while os.getppid() == sleeper:
        pass
    os._exit(0)
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("0f01f9 48c1e220 4809d0 c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
tsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)
for _ in range({SLEEPS}):
    before = tsc()
    time.sleep(0.002)
    print(before, tsc())
os.kill(neighbour, signal.SIGKILL)
os.waitpid(neighbour, 0)
"""
OWNER = f"""
import time
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
with swept_ledger("trace") as ledger:
    trace = KernelTrace.open([{CPU}], ledger)
    assert isinstance(trace, KernelTrace), trace
    trace.start()
    print(ledger.directory, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    # Not tmp_path: ledgers' paths must be short.
    with tempfile.TemporaryDirectory(prefix="pl-") as state:
        monkeypatch.setenv("PLIMSOLL_STATE", state)
        with swept_ledger("trace") as made:
            yield made


@pytest.fixture
def trace(ledger: Ledger) -> Iterator[KernelTrace]:
    opened = KernelTrace.open([CPU], ledger)
    if isinstance(opened, TraceUnavailable):
        pytest.skip(f"{opened.reason} ({opened.remedy})")
    with opened:
        yield opened


def slept(trace: KernelTrace) -> tuple[int, list[tuple[int, int]]]:
    """The id of a thread that slept on CPU while `trace` recorded, and from when until when."""
    trace.start()
    sleeper = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True)
    output, _ = sleeper.communicate()
    trace.stop()
    assert sleeper.returncode == 0
    spans = [tuple(map(int, line.split())) for line in output.splitlines()]
    return sleeper.pid, [(span[0], span[1]) for span in spans]


def inside(events: list[KernelEvent], begin: int, end: int) -> list[KernelEvent]:
    return [event for event in events if begin <= event.tsc <= end]


def test_a_sleeping_thread_is_seen_leaving_its_cpu_being_woken_and_coming_back(
    trace: KernelTrace,
) -> None:
    if trace.clock != "x86-tsc":
        pytest.skip("this kernel's traces have no x86-tsc clock")
    thread, spans = slept(trace)
    events = trace.read(spans)
    assert len(spans) == SLEEPS
    assert trace.lost_events == ()
    assert events == [e for e in events if any(begin <= e.tsc <= end for begin, end in spans)]
    for begin, end in spans:
        seen = inside(events, begin, end)
        # It may also be preempted on the way; asleep it is once, in state 1 (TASK_INTERRUPTIBLE).
        left = [e for e in seen if e.fields.get("prev_pid") == thread]
        back = [e for e in seen if e.fields.get("next_pid") == thread]
        asleep = [e for e in left if e.fields["prev_state"] == 1]
        woken = [e for e in seen if e.name == "sched_waking" and e.fields["pid"] == thread]
        assert len(asleep) == len(woken) == 1
        assert {e.cpu for e in left + back} == {CPU}
        assert asleep[0].tsc < woken[0].tsc < back[-1].tsc
        assert woken[0].fields["target_cpu"] == CPU


def test_only_the_cpus_under_test_are_recorded_but_for_what_concerns_them(
    trace: KernelTrace,
) -> None:
    slept(trace)
    events = trace.read([(0, 2**64 - 1)])
    assert {e.cpu for e in events if e.name == "sched_switch"} == {CPU}
    assert {e.fields["target_cpu"] for e in events if e.name == "sched_waking"} == {CPU}
    assert [e.tsc for e in events] == sorted(e.tsc for e in events)
    assert trace.read([(0, 2**64 - 1)]) == []


def test_overwritten_events_are_reported_with_where_the_record_begins(
    trace: KernelTrace, ledger: Ledger
) -> None:
    own = trace_instance(ledger.record.trace_instances[0])
    (own / f"per_cpu/cpu{CPU}/buffer_size_kb").write_text("8")
    slept(trace)
    slept(trace)
    events = [e for e in trace.read([(0, 2**64 - 1)]) if e.name == "sched_switch"]
    (lost,) = [lost for lost in trace.lost_events if not lost.elsewhere]
    assert lost.cpu == CPU
    assert lost.events > 0
    assert lost.complete_from_tsc is not None
    assert lost.complete_from_tsc <= events[-1].tsc


def test_a_kill_leaves_no_instance(trace: KernelTrace) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ
    )
    assert owner.stdout is not None
    ledger = Ledger(Path(owner.stdout.readline().strip()))
    record = ledger.record
    instances = [trace_instance(name) for name in record.trace_instances]
    assert len(instances) == 2
    assert all((path / "tracing_on").read_text() == "1\n" for path in instances)
    janitor = next(each.identity for each in record.processes if each.name == "janitor")
    owner.kill()
    owner.communicate()
    assert wait_for_end(janitor, timeout_s=60)
    assert not any(path.exists() for path in instances)
    assert not ledger.directory.exists()


SPINNER = f"""
import os
os.sched_setaffinity(0, {{{CPU}}})
print(flush=True)
while True:
    pass
"""


def stolen_ms() -> int:
    """Of CPU, by /proc/stat: field 8 of its line, in units of 10 ms (proc(5))."""
    lines = Path("/proc/stat").read_text().splitlines()
    return next(int(line.split()[8]) * 10 for line in lines if line.startswith(f"cpu{CPU} "))


def test_what_a_polling_thread_s_run_time_lacks_is_no_more_than_was_stolen(
    ledger: Ledger,
) -> None:
    """By another source: /proc/stat. What is stolen while other tasks have the CPU is in it too."""
    host = HostTicks.of_this_host()
    if not host.steal_apart:
        pytest.skip("this kernel does not count stolen time apart from run time")
    argv = [sys.executable, "-c", SPINNER]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as spinner:
        try:
            assert spinner.stdout is not None
            spinner.stdout.readline()
            opened = KernelTrace.open([CPU], ledger, [spinner.pid])
            if isinstance(opened, TraceUnavailable) or opened.clock != "x86-tsc":
                pytest.skip("no kernel events by the time stamp counter")
            with opened:
                before = stolen_ms()
                opened.start()
                time.sleep(3)
                opened.stop()
                moved_ms = stolen_ms() - before
                events = opened.read([(0, 2**62)])
        finally:
            spinner.kill()
    loop = PollingLoop("dut", "spinner", CPU, spinner.pid)
    run_times = [e for e in events if e.name == "sched_stat_runtime"]
    assert len(run_times) > 100
    reading = TraceReading(events[0].tsc, events[-1].tsc, [loop])
    reading.read(events)
    # Of most pairs nothing lies between but the thread's own time.
    pairs = pairwise(run_times)
    tsc_hz = median((b.tsc - a.tsc) / int(b.fields["runtime"]) for a, b in pairs) * 1e9
    found = [s for s in standstills(reading, events, loop, tsc_hz, host) if not s.missing]
    lacking_ms = sum(each.ticks for each in found) / tsc_hz * 1e3
    assert lacking_ms <= moved_ms + 20
