from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.record.index.find import RunFilter, SortKey, in_order
from plimsoll.record.index.run_entry import RunEntry, RunState
from plimsoll.record.index.run_notes import RunNotes
from plimsoll.record.index.run_summary import RunSummary
from plimsoll.record.methods.method import RunAnswer
from plimsoll.record.run.run_directory import RunDirectory

SUMMARY = RunSummary(
    method="load-line",
    name="demo",
    dut="simulated",
    model="rare-stalls",
    began_unix_ns=100,
    ended_unix_ns=200,
    complete=True,
    answer=RunAnswer("1 Mpps", "load line", 1e6, "pps per direction"),
    verdict="pass",
    period="trial-0001",
    trials=1,
    versions={},
)


def entry(run_id: str = "r", state: RunState = "finished", **facts: Any) -> RunEntry:
    tags = facts.pop("tags", {})
    summary = None if state == "damaged" else replace(SUMMARY, **facts)
    return RunEntry(run_id, RunDirectory(Path(run_id)), state, summary, RunNotes(tags))


@pytest.mark.parametrize(
    ("criteria", "taken"),
    [
        (RunFilter(), True),
        (RunFilter(methods=("soak", "load-line")), True),
        (RunFilter(methods=("soak",)), False),
        (RunFilter(verdicts=("pass",)), True),
        (RunFilter(verdicts=("fail", "none")), False),
        (RunFilter(states=("finished",)), True),
        (RunFilter(states=("running", "stopped")), False),
        (RunFilter(duts=("simulated",)), True),
        (RunFilter(duts=("rare-stalls",)), True),
        (RunFilter(duts=("loopback", "simulated/rare-stalls")), True),
        (RunFilter(duts=("loopback",)), False),
        (RunFilter(since_ns=100), True),
        (RunFilter(since_ns=101), False),
        (RunFilter(until_ns=101), True),
        (RunFilter(until_ns=100), False),
        (RunFilter(name="d*o"), True),
        (RunFilter(name="r"), True),
        (RunFilter(name="D*"), False),
        (RunFilter(tags=(("kernel", None),)), True),
        (RunFilter(tags=(("kernel", "6.1"), ("nic", None))), True),
        (RunFilter(tags=(("kernel", "6"),)), False),
        (RunFilter(tags=(("kernel", "6.1"), ("rack", None))), False),
        (RunFilter(methods=("load-line",), verdicts=("fail",)), False),
    ],
)
def test_every_criterion_has_to_hold(criteria: RunFilter, *, taken: bool) -> None:
    assert criteria.takes(entry(tags={"kernel": "6.1", "nic": "e810"})) is taken


@pytest.mark.parametrize(
    ("criteria", "taken"),
    [
        (RunFilter(), True),
        (RunFilter(states=("damaged",)), True),
        (RunFilter(name="2026*"), True),
        (RunFilter(tags=(("kernel", None),)), True),
        (RunFilter(since_ns=1), True),
        (RunFilter(until_ns=1), False),
        (RunFilter(verdicts=("none",)), False),
        (RunFilter(methods=("load-line",)), False),
        (RunFilter(duts=("simulated",)), False),
    ],
)
def test_of_a_damaged_run_only_what_is_known_can_be_queried(
    criteria: RunFilter, *, taken: bool
) -> None:
    damaged = entry("20260314T120005-demo", "damaged", tags={"kernel": "6.1"})
    assert criteria.takes(damaged) is taken


def test_a_run_of_an_unknown_time_is_in_no_span() -> None:
    timeless = entry(began_unix_ns=None)
    assert RunFilter().takes(timeless)
    assert not RunFilter(since_ns=0).takes(timeless)
    assert not RunFilter(until_ns=2**62).takes(timeless)


def ids(by: SortKey, *entries: RunEntry, reverse: bool = False) -> str:
    return "".join(each.run_id for each in in_order(entries, by, reverse=reverse))


def test_the_latest_is_first_and_what_has_no_time_is_last() -> None:
    runs = (entry("a", began_unix_ns=1), entry("b", began_unix_ns=3), entry("c", began_unix_ns=2))
    unknown = entry("x", began_unix_ns=None)
    assert ids("began", unknown, *runs) == "bcax"
    assert ids("began", unknown, *runs, reverse=True) == "acbx"


def test_the_highest_answer_is_first_among_those_of_its_unit() -> None:
    def answer(value: float | None, unit: str) -> RunAnswer:
        return RunAnswer("", "", value, unit)

    runs = (
        entry("a", answer=answer(1.0, "pps")),
        entry("b", answer=answer(3.0, "pps")),
        entry("c", answer=answer(2.0, "ns")),
        entry("d", answer=None),
        entry("e", "damaged"),
        entry("f", answer=answer(None, "pps")),
    )
    assert ids("answer", *runs) in ("cba" + rest for rest in ("fde", "dfe", "fed"))
    assert ids("answer", *runs, reverse=True)[:3] == "abc"


def test_texts_are_in_their_order_and_equals_by_time() -> None:
    runs = (
        entry("a", name="y", dut="z", method=None, began_unix_ns=1),
        entry("b", "stopped", name="x", dut=None, method="soak", began_unix_ns=2),
        entry("c", name="y", dut="y", method="probe", began_unix_ns=3),
    )
    assert ids("name", *runs) == "bca"
    assert ids("dut", *runs) == "cab"
    assert ids("method", *runs) == "cba"
    assert ids("state", *runs) == "cab"
    assert ids("id", *runs) == "abc"
    assert ids("id", *runs, reverse=True) == "cba"
