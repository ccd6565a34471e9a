"""Disturbances of our own making are named, by the record of a real trial; a quiet one has none.

Who took a polling loop's CPU, when and for how long is written down by the one that took it, so
what the record says can be held against it. Other causes may appear too: the machine is not ours.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.processes.schedule_stats import polling_threads
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_program import TraceUnavailable
from plimsoll.record.causes.causes_record import Cause
from tests.integration.command import Workplace, until
from tests.integration.provoked.disturbed_trial import (
    DUT_CPU,
    ENGINE_CPU,
    DisturbedTrial,
    Provoked,
    built_disturber,
    built_spinning_handler,
    disturbed_trial,
)
from tests.integration.provoked.matching import score, sent_by, task
from tests.tried_again import SpoiltByMachine

pytestmark = pytest.mark.alone

CGROUPS = Path("/sys/fs/cgroup/cpu")
FREEZER = Path("/sys/fs/cgroup/freezer")
DISTURBERS = (
    "core-taker",
    "tlb-victim",
    "tlb-sender",
    "timer-storm",
    "stopper",
    "quota-watch",
    "freezer",
    "tracer",
    "mover",
    "spinner",
)
# The ring holds 16384 frames, 54.6 ms at 300 kpps: of so many ms some 25 are lost.
SPIN_MS = 80
TIMERS = 800
# Of some 120 periods of a trial.
FEWEST_THROTTLINGS = 10
OF_THE_DUT = pytest.param(DUT_CPU, ENGINE_CPU, id="dut")
OF_THE_TESTER = pytest.param(ENGINE_CPU, DUT_CPU, id="tester")
ON_EACH_CPU = pytest.mark.parametrize(("cpu", "other"), [OF_THE_DUT, OF_THE_TESTER])


@pytest.fixture(scope="module", autouse=True)
def _kernel_events() -> None:
    """Without them no trial need be run to find that nothing is named."""
    # Not tmp_path: ledgers' paths must be short.
    with tempfile.TemporaryDirectory(prefix="pl-") as state, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIMSOLL_STATE", state)
        with swept_ledger("trace") as ledger:
            trace = KernelTrace.open([DUT_CPU], ledger)
            if isinstance(trace, TraceUnavailable):
                pytest.skip(f"no kernel events: {trace.reason} ({trace.remedy})")
            trace.close()


@pytest.fixture(scope="module")
def disturber(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_disturber(tmp_path_factory.mktemp("disturber"))


@pytest.mark.parametrize(
    ("cpu", "other"),
    [
        pytest.param(*OF_THE_DUT.values, id="dut", marks=pytest.mark.slow),
        pytest.param(*OF_THE_TESTER.values, id="tester", marks=pytest.mark.full),
    ],
)
def test_a_real_time_thread_that_takes_the_core(
    place: Workplace, disturber: Path, cpu: int, other: int
) -> None:
    trial = disturbed_trial(place, disturber, lambda _: ("core-taker", cpu, 2000, 500))
    taken = trial.named("core-taker")
    found = score(f"core-taker on CPU {cpu}", trial, taken, cpu, task("core-taker", cpu))
    if not found.lengths_hold:
        raise SpoiltByMachine(f"a hypervisor may take the CPU between two readings: {found}")
    found.hold()


@pytest.mark.full
@ON_EACH_CPU
def test_a_storm_of_tlb_shoot_downs(
    place: Workplace, disturber: Path, cpu: int, other: int
) -> None:
    trial = disturbed_trial(place, disturber, lambda _: ("tlb-storm", cpu, other, 2000, 500))
    taken = trial.named("tlb-victim")
    score(f"tlb-victim on CPU {cpu}", trial, taken, cpu, task("tlb-victim", cpu)).hold()
    shot = sent_by(["tlb-shootdown"], "tlb-sender", cpu)
    found = score(f"shoot-downs on CPU {cpu}", trial, taken, cpu, shot)
    # How long they took in all, only the kernel knows.
    type(found)(found.what, found.provoked, found.seen, found.named, ()).hold()


@pytest.mark.full
@ON_EACH_CPU
def test_many_timers(place: Workplace, disturber: Path, cpu: int, other: int) -> None:
    trial = disturbed_trial(place, disturber, lambda _: ("timer-storm", cpu, TIMERS, 250))
    armed = trial.named("timer-storm")
    score(f"timer-storm on CPU {cpu}", trial, armed, cpu, task("timer-storm", cpu)).hold()

    def expiring(cause: Cause) -> bool:
        return (
            cause.kind == "interrupt"
            and cause.name.startswith("local_timer (")
            and "timerfd_tmrproc" in cause.name
            and cause.cpu == cpu
        )

    score(f"timers on CPU {cpu}", trial, trial.named("expiry"), cpu, expiring).hold()


@pytest.mark.full
@ON_EACH_CPU
def test_a_stopped_process(place: Workplace, disturber: Path, cpu: int, other: int) -> None:
    def stopping(pids: dict[str, int]) -> Sequence[object]:
        pid = pids["dut" if cpu == DUT_CPU else "tester"]
        until(lambda: bool(polling_threads(pid)), "the polling loop")
        (thread,) = polling_threads(pid)
        return ("stopper", other, pid, thread, 10_000, 500)

    trial = disturbed_trial(place, disturber, stopping)
    stops = sent_by(["stopped"], "stopper", cpu)
    score(f"SIGSTOP on CPU {cpu}", trial, trial.named("stopper"), cpu, stops).hold()


@pytest.mark.full
@ON_EACH_CPU
def test_a_frozen_cgroup(place: Workplace, disturber: Path, cpu: int, other: int) -> None:
    if not FREEZER.is_dir():
        pytest.skip(f"no freezer of cgroup v1 at {FREEZER}")
    group = FREEZER / f"frozen-{os.getpid()}"

    def freezing(pids: dict[str, int]) -> Sequence[object]:
        return ("freezer", other, pids["dut" if cpu == DUT_CPU else "tester"], group, 10_000, 500)

    trial = disturbed_trial(place, disturber, freezing)
    assert not group.exists()
    frozen = sent_by(["stopped"], "freezer", cpu)
    score(f"freezer on CPU {cpu}", trial, trial.named("freezer"), cpu, frozen).hold()
    assert "major-fault" not in {each.kind for each in of_loops(trial)}


@pytest.mark.full
def test_a_traced_loop(place: Workplace, disturber: Path) -> None:
    def tracing(pids: dict[str, int]) -> Sequence[object]:
        return ("tracer", ENGINE_CPU, polling_thread(pids["dut"]), 10_000, 500)

    trial = disturbed_trial(place, disturber, tracing)
    traced = sent_by(["stopped"], "tracer", DUT_CPU)
    score("tracer", trial, trial.named("tracer"), DUT_CPU, traced).hold()


@pytest.mark.full
def test_a_loop_that_is_moved_to_another_cpu(place: Workplace, disturber: Path) -> None:
    def moving(pids: dict[str, int]) -> Sequence[object]:
        thread = polling_thread(pids["dut"])
        return ("mover", ENGINE_CPU, thread, DUT_CPU, ENGINE_CPU, 30_000, 500)

    trial = disturbed_trial(place, disturber, moving)

    def to_the_other(cause: Cause) -> bool:
        return cause.name.startswith(f"moved from CPU {DUT_CPU} to CPU {ENGINE_CPU} for ")

    found = score("moved", trial, trial.named("mover"), DUT_CPU, to_the_other)
    # While it had the other CPU it was not away: for how long that was, only the kernel knows.
    type(found)(found.what, found.provoked, found.seen, found.named, ()).hold()
    assert "throttling" not in {each.kind for each in of_loops(trial)}


@pytest.mark.full
def test_a_dut_that_spins_in_a_signal_handler(
    place: Workplace, disturber: Path, tmp_path: Path
) -> None:
    """Its CPU runs it all the while: nothing was stolen, whatever a counter says."""
    handler = built_spinning_handler(tmp_path)
    place.environment |= {"LD_PRELOAD": str(handler), "SPIN_US": str(SPIN_MS * 1000)}

    def spinning(pids: dict[str, int]) -> Sequence[object]:
        thread = polling_thread(pids["dut"])
        return ("spinner", ENGINE_CPU, pids["dut"], thread, SPIN_MS * 1000, 1000)

    criteria = [{"kind": "loss-ratio", "at_most": "50%"}]
    trial = disturbed_trial(place, disturber, spinning, criteria=criteria)
    ms = trial.causes.tsc_hz / 1e3
    lost = [
        incident
        for incident in trial.incidents("loss")
        for spin in trial.named("spinner")
        if min(incident.end_tsc, spin.end_tsc) - max(incident.begin_tsc, spin.begin_tsc) > 10 * ms
    ]
    found = [[(c.kind, c.cpu) for c in each.causes] for each in lost]
    print(f"spun {len(trial.named('spinner'))} times, lost {len(lost)} times: {found}")
    assert len(lost) >= 0.5 * len(trial.named("spinner")) > 0
    assert sum(("busy-elsewhere", DUT_CPU) in each for each in found) >= 0.8 * len(found)
    for each in lost:
        stolen = sum(c.length_ns or 0 for c in each.causes if c.kind == "hypervisor-steal")
        assert stolen < 0.2 * each.length_ns, each.sentence


def polling_thread(pid: int) -> int:
    until(lambda: bool(polling_threads(pid)), "the polling loop")
    (thread,) = polling_threads(pid)
    return thread


def of_loops(trial: DisturbedTrial) -> list[Cause]:
    return [cause for incident in trial.causes.incidents for cause in incident.causes]


@pytest.mark.full
def test_a_quota_of_the_duts_cgroup(place: Workplace, disturber: Path) -> None:
    if not (CGROUPS / "cpu.cfs_quota_us").exists():
        pytest.skip(f"no CPU controller of cgroup v1 at {CGROUPS}")
    group = CGROUPS / f"throttled-{os.getpid()}"

    def limiting(pids: dict[str, int]) -> Sequence[object]:
        # 40 ms a period: others would have to take as much for the quota not to be used up. In
        # 55 ms the ring is full (16384 frames at 300 kpps), and losses end the trial.
        return ("quota", ENGINE_CPU, pids["dut"], group, 60_000, 100_000)

    trial = disturbed_trial(place, disturber, limiting)
    assert not group.exists()
    if len(trial.named("throttled")) < FEWEST_THROTTLINGS:
        raise SpoiltByMachine("others took the 40 % of the CPU that the quota leaves them")
    assert_throttling_is_named(trial)


def assert_throttling_is_named(trial: DisturbedTrial) -> None:
    """When exactly it began is not known: between two readings of the kernel's count."""
    throttled = trial.named("throttled")
    ticks_per_ns = trial.causes.tsc_hz / 1e9
    times = {
        (cause.begin_tsc, cause.begin_tsc + (cause.length_ns or 0) * ticks_per_ns)
        for incident in trial.causes.incidents
        for cause in incident.causes
        if (cause.kind, cause.cpu) == ("throttling", DUT_CPU) and cause.begin_tsc is not None
    }
    # The count moves when the quota is filled up, and the loop had waited since before.
    named = [
        each
        for each in throttled
        if any(begin <= each.end_tsc and each.begin_tsc <= end for begin, end in times)
    ]
    print(f"quota: throttled {len(throttled)} times, {len(named)} named rightly")
    for each in throttled:
        if each not in named:
            print(f"not named: {each}; in that time {_causes_in(trial, each)}")
    assert len(throttled) >= FEWEST_THROTTLINGS
    assert len(named) >= 0.95 * len(throttled)


def _causes_in(trial: DisturbedTrial, time: Provoked) -> list[Cause]:
    causes = (cause for incident in trial.causes.incidents for cause in incident.causes)
    return [c for c in causes if c.begin_tsc and time.begin_tsc <= c.begin_tsc <= time.end_tsc]


@pytest.mark.full
def test_a_quiet_trial_blames_no_disturber(place: Workplace, disturber: Path) -> None:
    trial = disturbed_trial(place, disturber, None)
    found = [cause for incident in trial.causes.incidents for cause in incident.causes]
    assert not [cause for cause in found if cause.name in DISTURBERS]
    assert not [cause for cause in found if cause.kind in ("throttling", "stopped", "moved")]
    assert not [cause for cause in found if (cause.woken_by or "").startswith(DISTURBERS)]
