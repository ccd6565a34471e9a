"""The trial record: everything a trial found, as the journal keeps it.

Its JSON Schema is published as docs/schemas/trial-record.schema.json.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from plimsoll.generator.interface import EndedBy, TrialPlan, TrialReport
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.clock_step import ClockStep
from plimsoll.record.trials.counter_record import CounterRecord, counters_of_findings
from plimsoll.record.trials.host_readings import HostReadings
from plimsoll.record.trials.longest_latency import NamedLatency, longest_of
from plimsoll.record.trials.loss_blame_record import LossBlameRecord
from plimsoll.record.trials.neighbour_record import NeighbourRecord
from plimsoll.record.trials.offered_range import OfferedRange
from plimsoll.record.trials.schedule_record import ScheduleRecord
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.tester_record import (
    OwnTimeRecord,
    PortRecord,
    ResolvedRecord,
    WorkerRecord,
)
from plimsoll.record.trials.trial_evidence import TrialEvidence
from plimsoll.record.trials.trial_parts import (
    NO_CONTEXT,
    TrialContext,
    TrialIdentity,
    TrialPhase,
)

Verdict = Literal["pass", "fail", "invalid", "none"]
FindingOutcome = Literal["ok", "fail", "invalid"]


class FindingRecord(RecordModel):
    """One rule applied to one subject: measured value, limit, and a sentence that says it."""

    rule: str
    subject: str
    value: float | None
    limit: float | None
    unit: str
    outcome: FindingOutcome
    text: str
    undecided: bool = Field(
        default=False,
        description="Whether it is invalid because stalls of the tester leave open by how much the "
        "DUT alone kept or broke the limit.",
    )

    def is_of(self, kinds: Collection[str]) -> bool:
        """Whether it judges by a criterion of one of these kinds.

        A criterion's rule is its kind, or its kind and what it is about: latency-p99.
        """
        return any(f"{self.rule}-".startswith(f"{kind}-") for kind in kinds)


class GoalVerdict(RecordModel):
    """The verdict by one goal's criteria, and the rules that made it fail or invalid."""

    verdict: Verdict
    rules: tuple[str, ...]


class DutPortRecord(RecordModel):
    """One port of the DUT: its own counters over this trial."""

    port: int
    rx_frames: int
    tx_frames: int
    rx_missed: int
    rx_errors: int
    tx_errors: int
    rx_no_mbuf: int


class HopRecord(RecordModel):
    """A point that frames pass inside the DUT, and how many did in this trial, by its counters."""

    direction: int = Field(ge=0, description="Index of the path that the frames take.")
    place: str = Field(description="Which point, in words; in the order in which frames pass it.")
    frames: int = Field(description="Frames that passed it in this trial.")


class TrialRecord(RecordModel):
    """One finished trial. `load_pps` is per direction; `number` is unique in its run.

    `attempt` counts the trials at this load in a row from 1, `planned_s` is the
    duration requested and `sending_s` the one it came to (early abort). `dut` is
    null where the DUT has no counters to read.

    `goal` is the goal of the search by whose criteria the verdict and the findings are;
    `goals` has the verdicts by all of them. `repetition` counts the times that the same
    trial was requested to see whether it repeats, `step` names the part of a standard test
    that the trial belongs to, `observed` what that part looked for, by names that end in
    their unit. `hosts` tells how each host's observer fared; none where no host was observed.
    `schedule` tells who had the polled CPUs; null where nothing polls or is counted.
    """

    number: int = Field(ge=1)
    phase: TrialPhase
    load_pps: float = Field(ge=0)
    attempt: int = Field(ge=1)
    planned_s: float
    sending_s: float
    ended_by: EndedBy
    begin_unix_ns: int
    verdict: Verdict
    findings: tuple[FindingRecord, ...]
    streams: tuple[StreamRecord, ...]
    ports: tuple[PortRecord, ...]
    workers: tuple[WorkerRecord, ...]
    dut: tuple[DutPortRecord, ...] | None
    goal: str | None = None
    goals: dict[str, GoalVerdict] = Field(default_factory=dict)
    repetition: int = Field(default=1, ge=1)
    step: str | None = None
    evidence: TrialEvidence | None = None
    observed: dict[str, float | None] = Field(default_factory=dict)
    hosts: tuple[HostReadings, ...] = ()
    own: OwnTimeRecord | None = Field(
        default=None,
        description="What Plimsoll's own processes took of the polled CPUs while frames were "
        "sent; null where nothing is polled.",
    )
    schedule: ScheduleRecord | None = None
    offered: OfferedRange | None = Field(
        default=None,
        description="In which time frames were offered; null in records of earlier versions.",
    )

    noise: tuple[NeighbourRecord, ...] = Field(
        default=(),
        description="The neighbours that the experiment had disturb this trial, and what they "
        "did; none in records of earlier versions.",
    )

    resolved: tuple[ResolvedRecord, ...] = Field(
        default=(),
        description="Whose MAC addresses were found by ARP or neighbour discovery for this trial; "
        "none where all were written, and in records of earlier versions.",
    )

    hops: tuple[HopRecord, ...] = Field(
        default=(),
        description="How many frames passed each point inside the DUT, along each direction; "
        "none where it counts its ports alone, and in records of earlier versions.",
    )

    clock_steps: tuple[ClockStep, ...] = Field(
        default=(),
        description="When and by how much the wall clock was set during the trial, whose times "
        "go on as before; none in records of earlier versions.",
    )

    counters: tuple[CounterRecord, ...] | None = Field(
        default=None,
        description="Frames into and out of the DUT by both sides' counts, as they were judged; "
        "null where it has no counters, and in records of earlier versions.",
    )

    loss_blame: LossBlameRecord | None = Field(
        default=None,
        description="Whose the lost frames are; null where none was lost or nothing polls here.",
    )

    @classmethod
    def from_report(
        cls,
        identity: TrialIdentity,
        plan: TrialPlan,
        report: TrialReport,
        *,
        lost: Mapping[int, int],
        longest: Iterable[NamedLatency] = (),
        context: TrialContext = NO_CONTEXT,
    ) -> Self:
        """The record of a trial that ran `plan` and came back with `report`, not yet judged.

        `lost` gives the lost frames of every stream id in the report; a stream
        without an entry, or one the plan does not know, raises KeyError. `longest` has the
        longest latencies in the parts of tester and DUT, as far as they are known. Raises
        pydantic's ValidationError where the context lacks what the record keeps of it.
        """
        plans = {stream.stream: stream for stream in plan.streams}
        parts = {stream.name: longest_of(stream.name, longest) for stream in plan.streams}
        return cls.model_validate(
            {
                **_fields_of(identity),
                **_fields_of(context),
                "load_pps": plan.load_pps,
                "planned_s": plan.duration_s,
                "sending_s": report.sending_s,
                "ended_by": report.ended_by,
                "begin_unix_ns": report.begin_unix_ns,
                "verdict": "none",
                "findings": (),
                "streams": tuple(
                    StreamRecord.of(
                        plans[counts.stream],
                        counts,
                        lost[counts.stream],
                        parts[plans[counts.stream].name],
                    )
                    for counts in report.streams
                ),
                "ports": report.ports,
                "resolved": plan.resolved,
                "workers": tuple(WorkerRecord.of(counts) for counts in report.workers),
            }
        )

    def judged(
        self,
        verdict: Verdict,
        findings: Iterable[object],
        goals: Mapping[str, GoalVerdict] = MappingProxyType({}),
    ) -> Self:
        """The same trial with its verdict; `findings` have the attributes of FindingRecord.

        Raises pydantic's ValidationError when they have not.
        """
        records = tuple(FindingRecord.model_validate(finding) for finding in findings)
        return self.model_copy(
            update={"verdict": verdict, "findings": records, "goals": dict(goals)}
        )

    @property
    def offered_pps(self) -> float | None:
        """The offered load per direction, as against the intended `load_pps` (RFC 2285).

        By the load stream that was offered the least part of what was due; None where no load
        stream has a rate.
        """
        if self.evidence is not None and self.evidence.offered_pps is not None:
            return self.evidence.offered_pps
        planned = [(s, s.planned_pps) for s in self.streams if s.role == "load" and s.planned_pps]
        if not planned or self.sending_s <= 0:
            return None
        dues = [(s.offered, pps * self.sending_s) for s, pps in planned]
        # A frame more or less is how the last one fell.
        shares = [1.0 if abs(sent - due) <= 1 else sent / due for sent, due in dues]
        return self.load_pps * min(shares)

    @property
    def judged_counters(self) -> tuple[CounterRecord, ...]:
        """What the trial was judged by; of an earlier version's trial, from its findings."""
        if self.counters is not None:
            return self.counters
        return tuple(counters_of_findings(self.findings))

    @property
    def reasons(self) -> tuple[FindingRecord, ...]:
        """The findings that made the verdict what it is; none for a pass."""
        return tuple(finding for finding in self.findings if finding.outcome == self.verdict)


def _fields_of(part: TrialIdentity | TrialContext) -> dict[str, object]:
    return {each.name: getattr(part, each.name) for each in fields(part)}
