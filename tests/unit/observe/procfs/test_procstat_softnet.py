"""What CPUs did with packets, by softnet_stat."""

from pathlib import Path

import pytest

from plimsoll.observe.agent.agent import Sampler
from plimsoll.observe.procfs.procstat_softnet import Softnet
from plimsoll.observe.reading.observer import ObservedHost
from tests.unit.observe.trees import HostTree
from tests.unit.observe.watched import Watched

PROCESSED, DROPPED, SQUEEZED = (
    f"softnet-{kind}-sec" for kind in ("processed", "dropped", "time-squeeze")
)


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path, cpus=4, interrupts=0)


def watched(tree: HostTree) -> Watched:
    return Watched(Softnet, ObservedHost(tree.files))


def test_hexadecimal_columns_are_counted_by_cpu(tree: HostTree) -> None:
    softnet = watched(tree)
    tree.tables.softnet[2][:3] = [tree.tables.softnet[2][0] + 0xABCD, 0x1F, 2]
    tree.write()
    rows = softnet.read()
    assert rows.counts(PROCESSED, cpu="2") == [0xABCD]
    assert rows.counts(DROPPED, cpu="2") == [0x1F]
    assert rows.counts(SQUEEZED, cpu="2") == [2]
    # No drop is a figure, too.
    assert rows.counts(DROPPED, cpu="3") == [0]


def test_the_file_says_which_cpu_a_line_is_of(tree: HostTree) -> None:
    softnet = watched(tree)
    tree.offline(1)
    tree.tables.softnet[2][0] += 5
    tree.write()
    softnet.read()
    tree.online(1)
    tree.write()
    softnet.read()
    tree.tables.softnet[1][0] += 3
    tree.write()
    rows = softnet.read()
    assert sum(n or 0 for n in rows.counts(PROCESSED, cpu="2")) == 5
    assert rows.times(PROCESSED, cpu="1") == [(2, 3)]
    assert rows.counts(PROCESSED, cpu="1") == [3]


def test_an_older_kernels_lines_are_those_of_the_cpus_online(tree: HostTree) -> None:
    file = tree.files.proc / "net/softnet_stat"
    file.write_text("00000001 0 0 0 0 0 0 0 0 0 0\n" * 3)
    tree.set_sys("devices/system/cpu/online", "0,2-3")
    softnet = watched(tree)
    file.write_text("1 0 0 0 0 0 0 0 0 0 0\n1 0 0 0 0 0 0 0 0 0 0\na 0 0 0 0 0 0 0 0 0 0\n")
    rows = softnet.read()
    assert rows.counts(PROCESSED, cpu="3") == [9]
    assert {row.names["cpu"] for row in rows.rows} == {"0", "2", "3"}


def test_a_file_with_other_lines_ends_it(tree: HostTree) -> None:
    sampler = Sampler(ObservedHost(tree.files), [Softnet], "host", "trial-0001")
    (tree.files.proc / "net/softnet_stat").write_text("no hexadecimal at all " * 5 + "\n")
    assert sampler.tick() == []
    assert "invalid literal" in sampler.missing["procstat softnet"]


def test_a_counter_that_wraps_goes_on(tree: HostTree) -> None:
    # At ten million packets a second that takes seven minutes.
    tree.tables.softnet[0][0] = 2**32 - 1
    tree.write()
    softnet = watched(tree)
    tree.tables.softnet[0][0] += 10**7
    tree.write()
    assert softnet.read().counts(PROCESSED, cpu="0") == [10**7]
