"""How many frames went into the DUT and came out of it, by the tester's count and by the DUT's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.finding_record import FindingRecord

DutDirection = Literal["into", "out-of"]
# The rule by which a trial is judged by these sums, and what its sentences say of a direction.
DUT_COUNTERS_RULE = "dut-counters"
SENT_TO, RECEIVED_FROM = "sent to", "received from"


class CounterRecord(RecordModel):
    """One port and direction, by which the trial was judged: two counts that must be equal."""

    port: int | None = Field(
        description="The port of both sides; null for the sum over all ports, where frames came "
        "back damaged or on a wrong port."
    )
    direction: DutDirection = Field(description="Into the DUT or out of it.")
    tester: int = Field(
        description="Frames by the tester's count: those of all streams, learning and probes "
        "among them, its host's own, foreign, stale and truncated ones, and what its port missed."
    )
    dut: int = Field(
        description="Frames by the DUT's port counters; into it also those that its port missed "
        "or found in error."
    )


def counters_of_findings(findings: Iterable[FindingRecord]) -> Iterator[CounterRecord]:
    """The same of an earlier version's trial, which kept them in the judge's findings alone."""
    for each in findings:
        if each.rule == DUT_COUNTERS_RULE and each.value is not None and each.limit is not None:
            port = each.subject.removeprefix("port ")
            yield CounterRecord(
                port=int(port) if port.isdecimal() else None,
                direction="into" if SENT_TO in each.text else "out-of",
                tester=round(each.value),
                dut=round(each.limit),
            )
