"""Absences of a DUT on another host, over real ssh: recorded there, and named here.

That host has this machine's kernel and TSC, so that what the disturber writes down by the TSC is
the truth that its trace, by another clock and carried over from it, is held against.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from plimsoll.host.processes.child import over_ssh
from plimsoll.host.processes.polling_loops import FoundLoop
from plimsoll.host.processes.schedule_stats import polling_threads
from plimsoll.observe.agent.host_agent import HostAgent
from plimsoll.observe.agent.observers import Observers
from plimsoll.observe.agent.remote_trace import RemoteTrace
from plimsoll.observe.kernel_trace.trace_program import TraceUnavailable
from plimsoll.observe.reading.observer import Observation
from plimsoll.record.causes.causes_record import Cause, TrialCauses
from tests.integration.command import Workplace, until, workplace
from tests.integration.dut_elsewhere import (
    DUT_CPU,
    DutHost,
    dut_host,
    standing_testpmd,
    trace_instances,
)
from tests.integration.provoked.disturbed_trial import (
    ENGINE_CPU,
    DisturbedTrial,
    Provoked,
    built_disturber,
    disturbed_trial,
)
from tests.tried_again import SpoiltByMachine

pytestmark = pytest.mark.alone

CGROUPS = Path("/sys/fs/cgroup/cpu")
# Lengths are right to 10 %, or this.
LENGTH_S = 0.0002
# The parent of the kernel's own threads.
KTHREADD = 2
# Between what the disturber writes down and what the kernel does.
BEGIN_S = 0.0002


@pytest.fixture
def dut(tmp_path: Path) -> Iterator[DutHost]:
    with dut_host(tmp_path) as made:
        yield made


@pytest.fixture
def place(tmp_path: Path, dut: DutHost) -> Iterator[Workplace]:
    with workplace(tmp_path) as made:
        made.environment["PATH"] = f"{dut.path}:{made.environment['PATH']}"
        yield made


@pytest.fixture
def disturber(tmp_path: Path) -> Path:
    return built_disturber(tmp_path)


def watched_trial(
    place: Workplace, disturber: Path, arguments: object, **more: object
) -> DisturbedTrial:
    """One through a testpmd of whose host the tester knows what its observer says."""
    before = trace_instances()
    with standing_testpmd(place) as lab:
        changes = {
            "lab": lab,
            "observe": {"hosts": [{"ssh": DutHost.name, "polled_cpus": [DUT_CPU]}]},
        }
        trial = disturbed_trial(place, disturber, arguments, changes=changes, **more)  # type: ignore[arg-type]
    until(lambda: trace_instances() <= before, "the trace instances to be gone")
    return trial


def assert_named(trial: DisturbedTrial, name: str, kind: str) -> None:
    """Each time that frames met has its cause, with the loop's host, CPU, begin and length."""
    causes = trial.causes
    (host,) = causes.trace.remote
    assert host.clock_error_ns is not None
    assert causes.trace.unwatched == ()
    loop = next(each for each in causes.loops if each.owner == "dut")
    assert (loop.host, loop.cpu, loop.process) == (DutHost.name, DUT_CPU, "dpdk-testpmd")
    provoked = trial.named(name)
    met = [each for each in provoked if _met(causes, each)]
    found = [(each, cause) for each in met if (cause := _cause_of(causes, each, kind)) is not None]
    wrong = [pair for pair in found if not _is_right(causes, host.clock_error_ns, *pair)]
    print(
        f"{name}: {len(provoked)} provoked, {len(met)} met, {len(found)} named, {len(wrong)} of "
        f"them off; clocks to ±{host.clock_error_ns / 1e3:.1f} us"
    )
    for each, cause in wrong:
        print(f"off: {each.begin_tsc}, {each.ns(causes.tsc_hz) / 1e6:.3f} ms: {cause}")
    if len(met) < 0.3 * len(provoked):
        raise SpoiltByMachine("others took so much that few of the faults met a frame")
    assert len(found) >= 0.9 * len(met) > 0
    assert len(wrong) <= 0.1 * len(found)


def _met(causes: TrialCauses, each: Provoked) -> bool:
    """Whether a listed spike or loss lies in most of it."""
    least = 0.5 * (each.end_tsc - each.begin_tsc)
    return any(
        min(incident.end_tsc, each.end_tsc) - max(incident.begin_tsc, each.begin_tsc) > least
        for incident in causes.incidents
        if incident.kind != "stall"
    )


def _cause_of(causes: TrialCauses, each: Provoked, kind: str) -> Cause | None:
    """The longest of this kind on the DUT's host that has some of that time."""
    (host,) = causes.trace.remote
    slack = ((host.clock_error_ns or 0) / 1e9 + BEGIN_S) * causes.tsc_hz
    found = [
        cause
        for incident in causes.incidents
        for cause in incident.causes
        if (cause.kind, cause.host, cause.cpu) == (kind, DutHost.name, DUT_CPU)
        and cause.begin_tsc is not None
        and each.begin_tsc - slack <= cause.begin_tsc <= each.end_tsc + slack
    ]
    return max(found, key=lambda cause: cause.length_ns or 0, default=None)


def _is_right(causes: TrialCauses, error_ns: float, each: Provoked, cause: Cause) -> bool:
    """Begin and length; where the maker only knows bounds of the length, they are these."""
    assert cause.begin_tsc is not None
    least, most = sorted((each.ns(causes.tsc_hz), float(each.most_ns or each.ns(causes.tsc_hz))))
    length_ns = cause.length_ns or 0
    off_ns = max(0.0, least - length_ns, length_ns - most)
    begin_off_s = abs(cause.begin_tsc - each.begin_tsc) / causes.tsc_hz
    right_length = off_ns <= max(0.1 * least, LENGTH_S * 1e9)
    return right_length and begin_off_s <= error_ns / 1e9 + BEGIN_S


def polling_thread(pid: int) -> int:
    until(lambda: bool(polling_threads(pid)), "the polling loop")
    (thread,) = polling_threads(pid)
    return thread


def test_a_thief_on_the_cpu_of_a_dut_elsewhere(place: Workplace, disturber: Path) -> None:
    trial = watched_trial(place, disturber, lambda _: ("core-taker", DUT_CPU, 5000, 500))
    assert_named(trial, "core-taker", "task")
    names = {
        cause.name
        for incident in trial.causes.incidents
        for cause in incident.causes
        if cause.kind == "task" and cause.host == DutHost.name and not cause.own
    }
    assert "core-taker" in names
    (run,) = place.runs.iterdir()
    why = place.run("why", run)
    assert why.returncode == 0, why.stderr
    assert "CPU 1 of dut" in why.stdout
    assert "were not watched" not in why.stdout


@pytest.mark.slow
def test_a_stopped_loop_of_a_dut_elsewhere(place: Workplace, disturber: Path) -> None:
    def stopping(pids: dict[str, int]) -> Sequence[object]:
        return ("stopper", ENGINE_CPU, pids["dut"], polling_thread(pids["dut"]), 10_000, 500)

    trial = watched_trial(place, disturber, stopping)
    assert_named(trial, "stopper", "stopped")
    senders = {
        (cause.woken_by or "").partition(" ")[0]
        for incident in trial.causes.incidents
        for cause in incident.causes
        if cause.kind == "stopped"
    }
    assert "stopper" in senders


@pytest.mark.full
def test_a_quota_of_the_cgroup_of_a_dut_elsewhere(place: Workplace, disturber: Path) -> None:
    if not (CGROUPS / "cpu.cfs_quota_us").exists():
        pytest.skip(f"no CPU controller of cgroup v1 at {CGROUPS}")
    group = CGROUPS / f"throttled-elsewhere-{os.getpid()}"

    def limiting(pids: dict[str, int]) -> Sequence[object]:
        # Of the throttled times no more is known than when the kernel counted them.
        # In 55 ms the ring is full (16384 frames at 300 kpps), and losses end the trial.
        return ("quota", ENGINE_CPU, pids["dut"], group, 20_000, 60_000)

    trial = watched_trial(place, disturber, limiting)
    assert not group.exists()
    throttled = trial.named("throttled")
    if len(throttled) < 10:
        raise SpoiltByMachine("others took the 66 % of the CPU that the quota leaves them")
    ns = trial.causes.tsc_hz / 1e9
    times = {
        (cause.begin_tsc, cause.begin_tsc + (cause.length_ns or 0) * ns)
        for incident in trial.causes.incidents
        for cause in incident.causes
        if (cause.kind, cause.host, cause.cpu) == ("throttling", DutHost.name, DUT_CPU)
        and cause.begin_tsc is not None
    }
    named = [e for e in throttled if any(b <= e.end_tsc and e.begin_tsc <= end for b, end in times)]
    print(f"quota: throttled {len(throttled)} times, {len(named)} named")
    if len(named) < 0.9 * len(throttled) and _mostly_filled(trial):
        # Whose tasks these are is named; that the loop could not have run then is not seen.
        raise SpoiltByMachine("others filled the CPU while the loop was throttled")
    assert len(named) >= 0.9 * len(throttled)
    # No longer than a period, and of one at least a tick.
    assert all(4e6 <= (end - begin) / ns <= 66e6 for begin, end in times)


def _mostly_filled(trial: DisturbedTrial) -> bool:
    """Whether tasks of others had the DUT's CPU for most of the time of its spikes."""
    spikes = trial.incidents("latency")
    by_tasks = sum(
        cause.length_ns or 0
        for each in spikes
        for cause in each.causes
        if (cause.kind, cause.host, cause.cpu) == ("task", DutHost.name, DUT_CPU)
    )
    return by_tasks > 0.5 * sum(each.length_ns for each in spikes)


def test_an_observer_that_is_killed_in_mid_run_is_why_nothing_was_watched(
    place: Workplace, dut: DutHost, disturber: Path
) -> None:
    before = trace_instances()

    def killing(_: dict[str, int]) -> Sequence[object]:
        until(lambda: bool(trace_instances() - before), "the trace of the DUT's host")
        until(lambda: any(place.runs.glob("*/metrics/*@dut.jsonl")), "a reading of the DUT's host")
        (observer,) = dut.observers()
        observer.kill()
        return ("core-taker", DUT_CPU, 2000, 500)

    trial = watched_trial(place, disturber, killing)
    (unwatched,) = trial.causes.trace.unwatched
    assert unwatched.host == "dut"
    assert unwatched.reason.startswith("the observer has ended")
    # Its loop is known, and of its CPU nothing is said.
    assert [each.host for each in trial.causes.loops if each.owner == "dut"] == ["dut"]
    blamed = [c for i in trial.causes.incidents for c in i.causes if c.host == "dut"]
    assert {cause.confidence for cause in blamed} <= {"counter", "unexplained"}
    until(lambda: not dut.janitors(), "the janitor there to have done its work")
    (run,) = place.runs.iterdir()
    why = place.run("why", run)
    assert "The DUT's absences on dut were not watched: the observer has ended" in why.stdout
    report = place.run("report", run)
    assert report.returncode == 0, report.stderr
    assert "absences on dut were not watched" in (run / "report.html").read_text()


# Of the observer alone, with a thread that may run on the DUT's CPU only, and sleeps.


@pytest.fixture
def pinned() -> Iterator[int]:
    argv = ("taskset", "--cpu-list", str(DUT_CPU), "sleep", "1000")
    with subprocess.Popen(argv) as process:
        until(lambda: "sleep" in Path(f"/proc/{process.pid}/comm").read_text(), "the thread")
        yield process.pid
        process.kill()


def assert_found(loops: Sequence[FoundLoop], pinned: int) -> None:
    """It alone; on a machine where others are pinned to that CPU, too, one of them all."""
    (loop,) = loops
    if others := others_pinned_there(pinned):
        assert loop.thread_id in {pinned, *others}
    else:
        assert loop == FoundLoop("sleep", DUT_CPU, pinned, sleeps=True)


def others_pinned_there(pinned: int) -> set[int]:
    """Processes of others, not the kernel's, that may run on the DUT's CPU only."""
    found = set()
    for each in psutil.process_iter():
        with suppress(psutil.Error):
            if each.pid != pinned and each.ppid() != KTHREADD and each.cpu_affinity() == [DUT_CPU]:
                found.add(each.pid)
    return found


class Watched:
    """The observers of a run here and there."""

    def __init__(self, dut: DutHost, folder: Path) -> None:
        self.messages: list[str] = []
        self.observers = Observers(self.messages.append)
        environment = {**os.environ, "PATH": f"{dut.path}:{os.environ['PATH']}"}
        here = (sys.executable, "-m", "plimsoll.observe")
        there = over_ssh(DutHost.name, "plimsoll-observe")
        for name, argv, cpus in (("here", here, ()), ("dut", there, (DUT_CPU,))):
            agent = HostAgent(name, argv, folder / f"{name}.log", environment)
            observation = Observation(sources=("mpstat",), polled_cpus=cpus)
            self.observers.add(agent, observation, {"dut": cpus})
        (self.trace,) = self.observers.traces()


@pytest.fixture
def watched(dut: DutHost, pinned: int, tmp_path: Path) -> Iterator[RemoteTrace]:
    made = Watched(dut, tmp_path)
    yield made.trace
    made.observers.close()


def test_the_thread_on_the_cpu_is_found(watched: RemoteTrace, pinned: int) -> None:
    assert watched.unavailable is None, watched.unavailable
    assert_found(watched.loops, pinned)


def test_nothing_stays_where_the_connection_drops(
    dut: DutHost, pinned: int, tmp_path: Path
) -> None:
    before = trace_instances()
    made = Watched(dut, tmp_path)
    assert made.trace.unavailable is None, made.trace.unavailable
    assert len(trace_instances() - before) == 2
    made.trace.start()
    servers = [each for each in dut.observers()[0].parents() if each.name().startswith("sshd")]
    servers[0].kill()
    until(lambda: trace_instances() <= before, "the trace instances to be gone")
    until(lambda: not dut.janitors() and not dut.observers(), "its processes to have ended")
    assert list(dut.state.iterdir()) == []
    made.trace.stop()
    assert made.trace.unavailable is not None
    made.observers.close()


def test_what_a_killed_observer_and_its_janitor_left_the_next_one_removes(
    dut: DutHost, pinned: int, tmp_path: Path
) -> None:
    before = trace_instances()
    made = Watched(dut, tmp_path)
    left = trace_instances() - before
    assert len(left) == 2
    (janitor,), (observer,) = dut.janitors(), dut.observers()
    janitor.kill()
    observer.kill()
    until(lambda: not dut.observers(), "the observer to be gone")
    made.observers.close()
    assert left <= trace_instances()
    again = Watched(dut, tmp_path)
    assert again.trace.unavailable is None, again.trace.unavailable
    assert not left & trace_instances()
    again.observers.close()
    until(lambda: trace_instances() <= before, "the trace instances to be gone")


def test_an_observer_without_rights_says_what_it_needs(
    dut: DutHost, pinned: int, tmp_path: Path
) -> None:
    if Path("/sys/kernel/tracing/instances").exists():
        pytest.skip("tracefs is mounted, and root may use it without any capability")
    dut.observer_runs("setpriv --bounding-set -sys_admin")
    made = Watched(dut, tmp_path)
    why = made.trace.unavailable
    assert isinstance(why, TraceUnavailable)
    assert "tracefs is not mounted, and cannot be" in why.reason
    assert "run as root" in why.remedy
    # Loop and clock are known all the same, and its counters.
    assert_found(made.trace.loops, pinned)
    assert made.messages == []
    made.observers.close()
