"""The table of counters beside the sentence on how many trials agree."""

from dataclasses import replace

import pytest

from plimsoll.methods.load_line.answer import evidence
from plimsoll.record.trials.counter_record import CounterRecord
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import DutPortRecord, TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.table import CellValue
from tests.worded.says import Says

# Of the DUT's own counters alone nobody can tell: its port missed frames, and hosts were answered.
DUT = (DutPortRecord(
    port=0, rx_frames=93_915, tx_frames=100_000, rx_missed=6_085, rx_errors=0, tx_errors=0,
    rx_no_mbuf=0,
),)  # fmt: skip


def counted(port: int, way: str, tester: int, dut: int) -> FindingRecord:
    """As trials of earlier versions have it."""
    return FindingRecord(
        rule="dut-counters",
        subject=f"port {port}",
        value=tester,
        limit=dut,
        unit="frames",
        outcome="ok" if tester == dut else "invalid",
        text=f"port {port}: the tester counts {tester:,} frames {way} the DUT, the DUT {dut:,}",
    )


def shown(data: RunData, **changed: object) -> tuple[list[dict[str, CellValue]], str]:
    assert data.focus is not None
    focus: TrialRecord = data.focus.model_copy(update=changed)
    found = evidence(replace(data, focus=focus))
    return [*found.counters.records()], found.uncompared


def test_the_table_has_the_sums_that_were_judged(finished: RunData) -> None:
    sums = (
        CounterRecord(port=0, direction="into", tester=100_000, dut=100_000),
        CounterRecord(port=None, direction="out-of", tester=99_990, dut=100_000),
    )
    lines, _ = shown(finished, dut=DUT, counters=sums)
    assert [(each["direction"], each["difference_frames"]) for each in lines] == [
        ("tester → DUT, port 0", 0),
        ("DUT → tester, all ports", -10),
    ]


def test_those_of_an_earlier_version_are_in_its_findings(finished: RunData) -> None:
    findings = (counted(0, "sent to", 100_000, 100_000), counted(1, "received from", 5, 6))
    lines, _ = shown(finished, dut=DUT, counters=None, findings=findings)
    assert [tuple(each.values()) for each in lines] == [
        ("tester → DUT, port 0", 100_000, 100_000, 0),
        ("DUT → tester, port 1", 5, 6, -1),
    ]


@pytest.mark.parametrize(
    ("dut", "facts"),
    [(DUT, ()), (None, ())],
)
def test_what_was_not_judged_is_not_made_up(
    finished: RunData, dut: tuple[DutPortRecord, ...] | None, facts: tuple[str, ...], says: Says
) -> None:
    lines, uncompared = shown(finished, dut=dut, counters=None, findings=())
    assert lines == []
    assert uncompared == says(*facts)
