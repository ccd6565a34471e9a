"""Softirqs by kind and CPU."""

from pathlib import Path

from plimsoll.observe.procfs.procstat_softirqs import Softirqs
from plimsoll.observe.reading.observer import ObservedHost
from tests.unit.observe.trees import HostTree, Line
from tests.unit.observe.watched import Watched

RATE = "softirqs-sec"


def test_each_kind_is_counted_by_cpu(tmp_path: Path) -> None:
    tree = HostTree(tmp_path, cpus=2, interrupts=0)
    received = Line({0: 1000, 1: 7})
    tree.tables.softirqs = {"HI": Line({}), "NET_RX": received}
    tree.write()
    softirqs = Watched(Softirqs, ObservedHost(tree.files))
    received.counts[0] += 250
    tree.write()
    softirqs.read()
    received.counts[0] += 750
    received.counts[1] += 1
    tree.write()
    rows = softirqs.read()
    assert rows.counts(RATE, type="NET_RX", cpu="0") == [250, 750]
    assert rows.counts(RATE, type="NET_RX", cpu="1") == [0, 1]
    # It has never come, which one row says.
    assert [row.names["cpu"] for row in rows.matching(RATE, type="HI")] == ["0"]
    assert rows.counts(RATE, type="HI") == [0]
    assert {row.unit for row in rows.rows} == {"1/s"}


def test_a_cpu_that_is_offline_keeps_its_column(tmp_path: Path) -> None:
    tree = HostTree(tmp_path, cpus=4, interrupts=0)
    softirqs = Watched(Softirqs, ObservedHost(tree.files))
    tree.offline(3)
    tree.tables.softirqs["TIMER"].counts[0] += 3
    tree.write()
    rows = softirqs.read()
    assert rows.counts(RATE, type="TIMER", cpu="3") == [0]
    assert rows.counts(RATE, type="TIMER", cpu="0") == [3]
