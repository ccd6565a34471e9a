"""The run queue, loads and blocked tasks; context switches and new tasks."""

import os
from pathlib import Path

import pytest

from plimsoll.observe.agent.agent import Sampler
from plimsoll.observe.procfs.sar_scheduler import SarScheduler
from plimsoll.observe.procfs.sar_tasks import SarTasks
from plimsoll.observe.reading.observer import ObservedHost
from tests.unit.observe.trees import HostTree
from tests.unit.observe.watched import Watched


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path, cpus=2, interrupts=5)


def test_loads_and_queue_are_as_sar_has_them(tree: HostTree) -> None:
    scheduler = Watched(SarScheduler, ObservedHost(tree.files))
    tree.tables.load = "6.31 5.94 4.07 7/903 99"
    tree.tables.stat["procs_blocked"] = 3
    tree.write()
    rows = scheduler.read()
    assert rows.values("Load-Average-01m") == [6.31]
    assert rows.values("Load-Average-05m") == [5.94]
    assert rows.values("Load-Average-15m") == [4.07]
    # Of the seven that run one is the reader.
    assert rows.values("Run-Queue-Length") == [6]
    assert rows.values("Process-List-Size") == [903]
    assert rows.values("IO-Blocked-Tasks") == [3]


def test_an_empty_queue_is_never_below_zero(tree: HostTree) -> None:
    scheduler = Watched(SarScheduler, ObservedHost(tree.files))
    tree.tables.load = "0.00 0.00 0.00 0/1 99"
    tree.write()
    assert scheduler.read().values("Run-Queue-Length") == [0]


@pytest.mark.parametrize("text", ["", "0.1 0.2 0.3\n", "a b c 1/2 3\n", "0.1 0.2 0.3 12 4\n"])
def test_another_form_of_loadavg_ends_it(tree: HostTree, text: str) -> None:
    (tree.files.proc / "loadavg").write_text(text)
    sampler = Sampler(ObservedHost(tree.files), [SarScheduler, SarTasks], "host", "trial-0001")
    assert list(sampler.missing) == ["sar-scheduler"]
    assert sampler.sources == ("sar-tasks",)


def test_switches_and_new_tasks_are_counted(tree: HostTree) -> None:
    tasks = Watched(SarTasks, ObservedHost(tree.files))
    tree.tables.stat["ctxt"] += 12_345
    tree.write()
    tasks.read()
    tree.tables.stat["ctxt"] += 1
    tree.tables.stat["processes"] += 4
    tree.write()
    rows = tasks.read()
    assert rows.counts("Context-switches-sec") == [12_345, 1]
    assert rows.counts("Processes-created-sec") == [0, 4]


def test_processes_that_this_test_begins_are_among_the_new() -> None:
    live = Watched(SarTasks, ObservedHost())
    for _ in range(5):
        child = os.posix_spawn("/bin/true", ["true"], {})
        os.waitpid(child, 0)
    rows = live.read()
    # Each of them also was switched to at least once.
    for kind in ("Processes-created-sec", "Context-switches-sec"):
        assert sum(n or 0 for n in rows.counts(kind)) >= 5
