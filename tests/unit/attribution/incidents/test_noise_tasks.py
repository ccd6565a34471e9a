"""Tasks of the experiment's own noise are named as such."""

from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.ranking.rank import rank
from tests.unit.attribution.traces import DUT, MS, latency, seen, visit

TASKS = {812: "stress-ng timer"}


def test_a_neighbours_task_is_the_experiments_noise() -> None:
    events = visit(0, 4 * MS, DUT, 812, "stress-ng")
    found = explain(seen([latency(0, 4 * MS)], events, noise_tasks=TASKS))
    (cause,) = (each for each in found[0].causes if each.kind == "task")
    assert cause.name == "stress-ng (the experiment's noise: stress-ng timer)"
    assert (cause.pid, cause.owner) == (812, "dut")
    (row,) = (each for each in rank(found) if each.kind == "task")
    assert not row.own
    assert row.remedy is not None
    assert row.remedy.text.startswith("none: the experiment has it there on purpose")


def test_another_of_that_name_is_not() -> None:
    events = visit(0, 4 * MS, DUT, 813, "stress-ng")
    found = explain(seen([latency(0, 4 * MS)], events, noise_tasks=TASKS))
    (row,) = (each for each in rank(found) if each.kind == "task")
    assert row.name == "stress-ng"
    assert row.remedy is not None
    assert row.remedy.text.startswith("keep other processes off")
