"""An observer in a virtual machine, whose kernel and TSC are its own, records what happens there.

The machine is QEMU's, without virtualisation by hardware: no length of time means anything but
by the guest's own clock, of which the tester knows what round trips tell.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.attribution.events.trace_reading import TraceCoverage
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.observations import HostObservations, Observations
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.benchmark.testbed.shared_cpus import loops_of_host
from plimsoll.generator.interface import ClockReading
from plimsoll.observe.agent import host_agent
from plimsoll.observe.agent.host_agent import HostAgent
from plimsoll.observe.agent.observers import Observers
from plimsoll.observe.agent.remote_trace import HostClock, RemoteTrace
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.observe.reading.observer import Observation
from plimsoll.record.trials.clock_fit import ClockFit
from tests.integration.command import until
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.nic_guest import ROOT, Machine, NicGuest, booted_machine

pytestmark = [pytest.mark.full, pytest.mark.alone]

GUEST_CPU = 1
# It polls, and says by which number it is known.
FORWARDER = f"""
import os
os.sched_setaffinity(0, {{{GUEST_CPU}}})
with open("/run/forwarder", "w") as file:
    file.write(str(os.getpid()))
while True:
    pass
"""
# Stops it for a while; by the guest's raw clock, from when to when at least.
STOPPER = """
import json, os, signal, time
pid = int(open("/run/forwarder").read())
raw_ns = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
def state(): return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
first = raw_ns()
os.kill(pid, signal.SIGSTOP)
while state() != "T": pass
begin = raw_ns()
time.sleep(0.5)
end = raw_ns()
os.kill(pid, signal.SIGCONT)
print(json.dumps([first, begin, end, raw_ns()]))
"""


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NicGuest]:
    try:
        with booted_machine(Machine(), tmp_path_factory.mktemp("guest")) as booted:
            for name, program in (("forwarder", FORWARDER), ("stopper", STOPPER)):
                (booted.folder / "shared" / f"{name}.py").write_text(program)
            booted.start(f"hostname dut-vm; exec {sys.executable} /shared/forwarder.py")
            booted.must("until [ -s /run/forwarder ]; do sleep 0.2; done; mkdir -p /run/state")
            yield booted
    except CannotBoot as why:
        pytest.skip(str(why))


@pytest.fixture
def trace(
    guest: NicGuest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RemoteTrace]:
    """That of the guest, whose observer is spoken to by a port of the virtual machine."""
    # An emulated processor takes that long.
    monkeypatch.setattr(host_agent, "_PATIENCE_S", 600.0)
    observers = Observers(print)
    here = (sys.executable, "-m", "plimsoll.observe")
    within = (sys.executable, "-m", "tests.integration.vm.in_guest", str(guest.folder))
    variables = (f"PYTHONPATH={ROOT}", "PLIMSOLL_STATE=/run/state")
    there = (*within, "env", *variables, sys.executable, "-m", "plimsoll.observe")
    for name, argv, cpus in (("here", here, ()), ("dut-vm", there, (GUEST_CPU,))):
        agent = HostAgent(name, argv, tmp_path / f"{name}.log", os.environ)
        observers.add(agent, Observation(sources=("mpstat",), polled_cpus=cpus), {"dut": cpus})
    (found,) = observers.traces()
    yield found
    observers.close()


def own_clock() -> ClockFit:
    """The raw clock itself in place of the TSC: a tick is a nanosecond."""
    now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    times = (now_ns - 10**9, now_ns)
    return ClockFit.of([ClockReading(at, at, at, 0) for at in times])


def test_a_loop_that_was_stopped_in_a_virtual_machine_is_named(
    guest: NicGuest, trace: RemoteTrace
) -> None:
    assert trace.unavailable is None, trace.unavailable
    (loop,) = loops_of_host(trace)
    assert (loop.host, loop.cpu, loop.sleeps) == ("dut-vm", GUEST_CPU, False)
    trace.start()
    before_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    first, begin, end, last = json.loads(guest.must(f"{sys.executable} /shared/stopper.py"))
    after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    trace.stop()
    clock = trace.clock(own_clock())
    assert isinstance(clock, HostClock), clock
    print(
        f"stopped for {(end - begin) / 1e6:.1f} ms there, clocks to ±{clock.error_ns / 1e6:.3f} ms"
    )
    # Two kernels, two clocks: what the guest did between two looks at ours is between them.
    assert before_ns - clock.error_ns <= clock.tsc_of(first)
    assert clock.tsc_of(last) <= after_ns + clock.error_ns
    margin = 30_000_000
    read = trace.read([(first - margin, last + margin)], limit=200_000)
    assert read is not None
    assert read.left_out == 0
    incident = Incident("latency", "load", clock.tsc_of(begin), clock.tsc_of(end), 1, end - begin)
    events = [KernelEvent(clock.tsc_of(e.tsc), e.cpu, e.name, e.fields) for e in read.events]
    (found,) = explain(
        Observations(
            tsc_hz=1e9,
            incidents=[incident],
            loops=[loop],
            others=[
                HostObservations(
                    host=trace.host,
                    events=events,
                    coverage=TraceCoverage({GUEST_CPU: (0, 2**62)}),
                    ticks=trace.ticks,
                    clock_error=round(clock.error_ns),
                )
            ],
        )
    )
    cause = max(found.causes, key=lambda each: each.length_ns or 0)
    assert (cause.kind, cause.host, cause.cpu) == ("stopped", "dut-vm", GUEST_CPU)
    assert cause.length_ns == pytest.approx(end - begin, rel=0.1)


def test_nothing_stays_in_the_guest(guest: NicGuest) -> None:
    """By a mount of tracefs, as only the observer's own processes see the one that it had."""
    look = "mkdir -p /run/tracing; mount -t tracefs nodev /run/tracing; ls /run/tracing/instances"
    until(lambda: "plimsoll-" not in guest.must(look), "the trace instances to be gone")
    assert guest.must("ls /run/state") == ""
