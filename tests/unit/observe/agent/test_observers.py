"""The agents of a test bed together, and what an experiment may ask of them."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import module_argv
from plimsoll.observe.agent.agent import HOSTNAME_VARIABLE
from plimsoll.observe.agent.host_agent import HostAgent
from plimsoll.observe.agent.observers import LocalHost, Observers, StartingAgents, open_observers
from plimsoll.observe.agent.settings import UNOBSERVED, ObserveSettings, RemoteHost
from plimsoll.observe.reading.observer import Observation
from plimsoll.record.metrics.metrics import MetricsWriter, read_metrics
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import HostReadings, ObserverEnd
from plimsoll.version import VERSION
from tests.unit.host.kubernetes.exec_server import ExecServer

HERE = LocalHost(polled={"tester": (0,), "dut": ()}, run_on=tuple(os.sched_getaffinity(0)))
TUNING = {"name": "dut", "platform": "vm", "cpus": {"reserved": "0", "isolated": "1"}}
QUICK = ObserveSettings(interval=0.1, sources=("mpstat",))


@pytest.fixture
def ledger(state: Path) -> Iterator[Ledger]:
    assert state.is_dir()
    found = Ledger.create("test")
    yield found
    found.undo()


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "observed", {})


def watch(observers: Observers, run: RunDirectory, period: str) -> None:
    with ExitStack() as writers:

        def writer_for(hostname: str) -> MetricsWriter:
            return writers.enter_context(MetricsWriter(run, period, hostname))

        with observers.watching(period, writer_for):
            os.sched_yield()


def test_this_host_is_watched_and_the_record_says_how(ledger: Ledger, run: RunDirectory) -> None:
    messages: list[str] = []
    observers = open_observers(QUICK, HERE, StartingAgents(QUICK, ledger), messages.append)
    watch(observers, run, "trial-0001")
    (record,) = observers.records
    observers.close()
    assert messages == []
    assert record.hostname == os.uname().nodename
    assert record.polled == {"tester": "0", "dut": ""}
    assert record.sources == ("mpstat",)
    assert record.interval_s == 0.1
    assert {row.period for row in read_metrics(run)} <= {"trial-0001"}
    assert list(run.metrics.glob(f"trial-0001@{record.hostname}.jsonl")) != []


def test_its_process_is_in_the_ledger(ledger: Ledger) -> None:
    observers = open_observers(QUICK, HERE, StartingAgents(QUICK, ledger), print)
    noted = {each.name: each.identity for each in ledger.record.processes}
    assert noted["observer"].alive
    observers.close()
    assert not noted["observer"].alive


def test_nothing_is_started_where_nothing_is_requested(ledger: Ledger) -> None:
    observers = open_observers(UNOBSERVED, HERE, StartingAgents(UNOBSERVED, ledger), print)
    assert observers.records == ()
    assert ledger.record.processes == ()


def test_one_that_dies_is_reported_and_trials_go_on(ledger: Ledger, run: RunDirectory) -> None:
    messages: list[str] = []
    observers = open_observers(QUICK, HERE, StartingAgents(QUICK, ledger), messages.append)
    (noted,) = ledger.record.processes
    os.kill(noted.identity.pid, signal.SIGKILL)
    watch(observers, run, "trial-0001")
    watch(observers, run, "trial-0002")
    assert len(messages) == 1
    assert "the observer has ended" in messages[0]
    # The host stays in the record, so that no criterion takes it for one that was fine.
    (record,) = observers.records
    assert record.hostname == os.uname().nodename
    assert (record.sources, record.missing) == ((), {"mpstat": "the observer has ended"})
    # The record of each trial says since when nothing is known, and why.
    (readings,) = observers.readings
    assert readings == HostReadings(
        hostname=os.uname().nodename,
        readings=None,
        skipped=None,
        cpu_s=None,
        ended=ObserverEnd(period="trial-0001", why="the observer has ended"),
    )
    observers.close()


def test_a_host_that_cannot_be_reached_stays_in_the_record(tmp_path: Path) -> None:
    messages: list[str] = []
    observers = Observers(messages.append)
    unreachable = ("sh", "-c", "echo 'ssh: no route to dut.lab' >&2")
    agent = HostAgent("root@dut.lab", unreachable, tmp_path / "log", os.environ)
    observers.add(agent, Observation(sources=("mpstat", "smi")), {"dut": (2, 3)})
    (record,) = observers.records
    assert record.hostname == "root@dut.lab"
    assert record.polled == {"dut": "2-3"}
    why = "the observer has ended: ssh: no route to dut.lab"
    assert (record.sources, record.missing) == ((), {"mpstat": why, "smi": why})
    assert len(messages) == 1
    (readings,) = observers.readings
    assert readings.ended == ObserverEnd(period=None, why=why)
    observers.close()


LOSES_A_SOURCE = """
import sys
def say(reply): print('{"reply":' + reply, flush=True)
for line in sys.stdin:
    if '"open"' in line:
        say('"opened","version":"%s","hostname":"dut-7","pid":1,"ran_on":"0","interval_s":1,'
            '"sources":["mpstat","smi"],"missing":{"thermal":"no sensor"}}')
    elif '"begin"' in line:
        say('"begun","unix_ns":1}')
    else:
        say('"ended","ticks":12,"skipped":3,"cpu_s":0.25,'
            '"missing":{"thermal":"no sensor","smi":"it went"}}')
"""
# At the end of the second period it says something on stderr and is gone.
DIES = """
import sys
def say(reply): print('{"reply":' + reply, flush=True)
ends = 0
for line in sys.stdin:
    if '"open"' in line:
        say('"opened","version":"%s","hostname":"dut-7","pid":1,"ran_on":"0","interval_s":1,'
            '"sources":["mpstat"],"missing":{}}')
    elif '"begin"' in line:
        say('"begun","unix_ns":1}')
    elif ends:
        sys.exit("out of memory")
    else:
        ends += 1
        say('"ended","ticks":12,"skipped":0,"cpu_s":0.25,"missing":{}}')
"""


def test_a_source_that_is_lost_in_a_trial_is_reported_once(
    tmp_path: Path, run: RunDirectory
) -> None:
    messages: list[str] = []
    observers = Observers(messages.append)
    argv = (sys.executable, "-c", LOSES_A_SOURCE % VERSION)
    observers.add(HostAgent("dut", argv, tmp_path / "log", os.environ), Observation(), {})
    assert observers.records[0].missing == {"thermal": "no sensor"}
    watch(observers, run, "trial-0001")
    watch(observers, run, "trial-0002")
    assert messages == ["observe: dut-7: smi: it went"]
    assert observers.records[0].missing == {"thermal": "no sensor", "smi": "it went"}
    # What was never read is reported once, in the environment.
    assert observers.readings == (
        HostReadings(hostname="dut-7", readings=12, skipped=3, cpu_s=0.25, lost={"smi": "it went"}),
    )
    observers.close()


def test_an_observer_that_is_lost_ends_in_that_trial_and_stays_so(
    tmp_path: Path, run: RunDirectory
) -> None:
    observers = Observers(lambda _: None)
    argv = (sys.executable, "-c", DIES % VERSION)
    observers.add(HostAgent("dut", argv, tmp_path / "log", os.environ), Observation(), {})
    found = []
    for number in (1, 2, 3):
        watch(observers, run, f"trial-000{number}")
        found += [observers.readings[0]]
    why = "the observer has ended: out of memory"
    assert [(each.readings, each.cpu_s) for each in found] == [
        (12, 0.25),
        (None, None),
        (None, None),
    ]
    end = ObserverEnd(period="trial-0002", why=why)
    assert [each.ended for each in found] == [None, end, end]
    assert {each.hostname for each in found} == {"dut-7"}
    observers.close()


def test_a_host_is_watched_once(ledger: Ledger, tmp_path: Path) -> None:
    observers = open_observers(QUICK, HERE, StartingAgents(QUICK, ledger), print)
    again = HostAgent("root@other", module_argv("plimsoll.observe"), tmp_path / "log", os.environ)
    with pytest.raises(InputError, match="is watched already") as caught:
        observers.add(again, Observation(), {})
    assert caught.value.where == "observe.hosts: root@other"
    observers.close()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"sources": ["mpsat"]}, "no source 'mpsat'"),
        ({"sources": []}, "at least 1 item"),
        ({"interval": "10ms"}, "greater than or equal to 0.1"),
        ({"hosts": [{"ssh": "-oProxyCommand=true"}]}, "'-oProxyCommand=true' is not a valid host"),
        ({"hosts": [{"ssh": "a b"}]}, "'a b' is not a valid host"),
        ({"hosts": [{"ssh": "node\n"}]}, "is not a valid host"),
        ({"hosts": [{"ssh": "node", "pids": {"vpp": 0}}]}, "greater than or equal to 1"),
        ({"hosts": [{"ssh": "node", "polled_cpus": [-1]}]}, "greater than or equal to 0"),
    ],
)
def test_an_impossible_query_is_refused(settings: object, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        ObserveSettings.model_validate(settings)


def test_agents_end_where_the_lab_does_not_come_up(ledger: Ledger) -> None:
    """They start before it, and are told what to watch once it stands."""
    with closing(StartingAgents(QUICK, ledger)):
        (noted,) = ledger.record.processes
        assert noted.identity.alive
    assert not noted.identity.alive


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A pod of `kube://lab`, in which the observer of the node worker-2 can be started."""
    program = tmp_path / "bin" / "plimsoll-observe"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m plimsoll.observe\n")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    there = {**os.environ, "PATH": path, HOSTNAME_VARIABLE: "worker-2"}
    server = ExecServer(tmp_path, environment=there)
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig()))
    yield "kube://lab/bench/observer/observe"
    server.end()


def test_a_node_of_a_cluster_is_watched_by_exec(
    node: str, ledger: Ledger, run: RunDirectory
) -> None:
    """Through Kubernetes' own client; what is left of the node's network is not its own."""
    host = RemoteHost(pod=node, polled_cpus=(0,))
    settings = QUICK.model_copy(update={"sources": ("mpstat", "sar-net"), "hosts": (host,)})
    messages: list[str] = []
    agents = StartingAgents(settings, ledger)
    observers = open_observers(settings, HERE, agents, messages.append)
    watch(observers, run, "trial-0001")
    assert messages == []
    here, there = observers.records
    assert there.hostname == "worker-2" != here.hostname
    assert (there.sources, there.polled) == (("mpstat",), {"dut": "0"})
    assert set(here.sources) == {"mpstat", "sar-net"}
    assert observers.readings[1].readings
    observers.close()


def test_a_node_whose_pod_is_gone_is_reported(node: str, ledger: Ledger, run: RunDirectory) -> None:
    gone = RemoteHost(pod="kube://lab/bench/gone")
    settings = QUICK.model_copy(update={"hosts": (gone,)})
    messages: list[str] = []
    observers = open_observers(settings, HERE, StartingAgents(settings, ledger), messages.append)
    watch(observers, run, "trial-0001")
    _, there = observers.records
    assert (there.hostname, there.sources) == ("kube://lab/bench/gone", ())
    assert len(messages) == 1
    assert "404" in messages[0]
    observers.close()


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ({}, "by ssh or by a pod"),
        ({"ssh": "dut.lab", "pod": "kube://lab/bench/dut"}, "by ssh or by a pod"),
        ({"pod": "bench/dut"}, "not a valid pod"),
        ({"pod": "kube://lab/bench/dut", "tuning": TUNING}, "is tuned"),
    ],
)
def test_a_host_is_reached_in_one_way(host: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        ObserveSettings.model_validate({"hosts": [host]})
