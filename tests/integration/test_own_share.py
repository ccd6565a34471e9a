"""Two CPUs, both polled, one of them by a DUT in the kernel: where Plimsoll's own work is done.

What it takes of the polled CPUs all the same spoils the trial.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig
from plimsoll.benchmark.testbed.testbed import testbed as open_bed
from plimsoll.errors import MachineError
from plimsoll.generator.interface import Interval
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.own_processes import COMMAND
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.own_time import MAIN_THREAD

CPUS = sorted(os.sched_getaffinity(0))[:2]
TESTER, DUT = CPUS[0], CPUS[-1]
EXPERIMENT = Experiment.model_validate(
    {
        "name": "own",
        "lab": {"kind": "linux-bridge", "cpu": DUT},
        "generator": {"cpus": [TESTER]},
        "profile": {"streams": [{"name": "load", "role": "load"}]},
        "observe": {"enabled": False},
        "search": {"minimum": "1kpps", "maximum": "2kpps"},
    }
)
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(os.getuid() != 0 or len(CPUS) < 2, reason="needs root and two CPUs"),
]


@pytest.fixture
def bed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Testbed]:
    """The engine polls one CPU, the kernel forwards on the other, and this process has no third."""
    try:
        EXPERIMENT.lab.check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    # Not tmp_path: ledgers' paths must be short.
    state = tempfile.mkdtemp(prefix="pl-")
    monkeypatch.setenv("PLIMSOLL_STATE", state)
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CPUS)
    try:
        with (
            swept_ledger("test") as ledger,
            open_bed(TestbedConfig.of(EXPERIMENT), ledger, lambda _: None) as made,
        ):
            yield made
    finally:
        os.sched_setaffinity(0, before)
        shutil.rmtree(state)


@contextmanager
def busy_thread(cpu: int) -> Iterator[None]:
    """A thread of this process that never sleeps, on one CPU, and goes back when it is moved."""
    begun, over = threading.Event(), threading.Event()

    def spin() -> None:
        while not over.is_set():
            os.sched_setaffinity(threading.get_native_id(), {cpu})
            begun.set()

    thread = threading.Thread(target=spin)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run_trial(bed: Testbed) -> tuple[Outcome, set[int]]:
    """A trial of half a second, and the CPUs on which this process was let run in it."""
    cpus: set[int] = set()

    def watch(interval: Interval) -> bool:
        cpus.update(os.sched_getaffinity(0))
        return False

    streams = compile_profile(EXPERIMENT.profile, 1000.0, bed.ports.paths)
    plan = bed.shared_cpus.without_wakeups(bed.plan(EXPERIMENT.trial, streams, 0.5, 1000.0), ())
    return bed.trial(plan, watch), cpus


def own_share(outcome: Outcome) -> Finding:
    (finding,) = (f for f in TesterLimits().findings(outcome) if f.rule == "own-share")
    return finding


def cpus_of_threads(pid: int) -> set[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {cpu for task in tasks for cpu in os.sched_getaffinity(int(task.name))}


def test_the_duts_cpu_is_left_to_the_dut(bed: Testbed) -> None:
    outcome, cpus = run_trial(bed)
    assert cpus == {TESTER}
    assert os.sched_getaffinity(0) == set(CPUS)
    assert bed.generator.facts.pid is not None
    assert cpus_of_threads(bed.generator.facts.pid) == {TESTER}
    assert outcome.own is not None
    assert {MAIN_THREAD, COMMAND} <= outcome.own.cpu_ns.keys()


def test_a_thread_of_ours_that_takes_the_duts_cpu_spoils_the_trial(bed: Testbed) -> None:
    with busy_thread(DUT):
        finding = own_share(run_trial(bed)[0])
    assert finding.outcome == "invalid"
    assert f"({COMMAND} " in finding.text
