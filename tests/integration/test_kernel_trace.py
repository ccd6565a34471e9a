"""A real trace instance on this kernel; skipped where it cannot be had."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.host.cpus import allowed_cpus
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.trace_instance import trace_instance
from plimsoll.host.processes.identity import wait_for_end
from plimsoll.observe.kernel_trace.event import KernelEvent
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_unavailable import TraceUnavailable

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
