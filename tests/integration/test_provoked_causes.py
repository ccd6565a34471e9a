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
from plimsoll.observe.kernel_trace.trace_unavailable import TraceUnavailable
from plimsoll.record.causes.causes_record import CauseRecord
from tests.integration.command import Workplace, until
from tests.integration.provoked.disturbed_trial import (
    DUT_CPU,
    ENGINE_CPU,
    DisturbedTrial,
    Provoked,
    built_disturber,
    disturbed_trial,
)
from tests.integration.provoked.matching import Score, score, sent_by, task

CGROUPS = Path("/sys/fs/cgroup/cpu")
DISTURBERS = ("core-taker", "tlb-victim", "tlb-sender", "timer-storm", "stopper", "quota-watch")
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
    def scored() -> Score:
        trial = disturbed_trial(place, disturber, lambda _: ("core-taker", cpu, 2000, 500))
        taken = trial.named("core-taker")
        return score(f"core-taker on CPU {cpu}", trial, taken, cpu, task("core-taker", cpu))

    found = scored()
    if not found.lengths_hold:
        print(f"repeated once, as a hypervisor may take the CPU between two readings: {found}")
        found = scored()
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

    def expiring(cause: CauseRecord) -> bool:
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
def test_a_quota_of_the_duts_cgroup(place: Workplace, disturber: Path) -> None:
    if not (CGROUPS / "cpu.cfs_quota_us").exists():
        pytest.skip(f"no CPU controller of cgroup v1 at {CGROUPS}")
    group = CGROUPS / f"throttled-{os.getpid()}"

    def limiting(pids: dict[str, int]) -> Sequence[object]:
        # 40 ms a period: others would have to take as much for the quota not to be used up. In
        # 55 ms the ring is full (16384 frames at 300 kpps), and losses end the trial.
        return ("quota", ENGINE_CPU, pids["dut"], group, 60_000, 100_000)

    trial = disturbed_trial(place, disturber, limiting)
    if len(trial.named("throttled")) < FEWEST_THROTTLINGS:
        print("repeated once: others took the 40 % of the CPU that the quota leaves them")
        trial = disturbed_trial(place, disturber, limiting)
    assert not group.exists()
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


def _causes_in(trial: DisturbedTrial, time: Provoked) -> list[CauseRecord]:
    causes = (cause for incident in trial.causes.incidents for cause in incident.causes)
    return [c for c in causes if c.begin_tsc and time.begin_tsc <= c.begin_tsc <= time.end_tsc]


@pytest.mark.full
def test_a_quiet_trial_blames_no_disturber(place: Workplace, disturber: Path) -> None:
    trial = disturbed_trial(place, disturber, None)
    found = [cause for incident in trial.causes.incidents for cause in incident.causes]
    assert not [cause for cause in found if cause.name in DISTURBERS]
    assert not [cause for cause in found if cause.kind in ("throttling", "stopped")]
    assert not [cause for cause in found if (cause.woken_by or "").startswith(DISTURBERS)]
