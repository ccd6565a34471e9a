"""The trial record: everything a trial found, as the journal keeps it.

Its JSON Schema is published as trial-record.schema.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from plimsoll.dut.sight import Hop
from plimsoll.generator.interface import EndedBy, TrialPlan, TrialReport
from plimsoll.neighbours.neighbour import NeighbourRun
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.clock_fit import ClockStep
from plimsoll.record.trials.counter_record import CounterRecord, counters_of_findings
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.latency_record import NamedLatency, longest_of
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.tester_record import (
    OwnTimeRecord,
    PortRecord,
    ResolvedRecord,
    WorkerRecord,
)
from plimsoll.record.trials.trial_parts import (
    NO_CONTEXT,
    HostReadings,
    LossBlameRecord,
    OfferedRange,
    ScheduleRecord,
    TrialContext,
    TrialIdentity,
    TrialPhase,
)
from plimsoll.search.evidence.trial_evidence import TrialEvidence

Verdict = Literal["pass", "fail", "invalid", "none"]


class GoalVerdict(RecordModel):
    """The verdict by one goal's criteria, and the rules that made it fail or invalid."""

    verdict: Verdict = Field(
        description="pass; fail: the DUT broke a criterion of the goal; invalid: inconclusive "
        "because of the tester; none: not judged."
    )
    rules: tuple[str, ...] = Field(description="The rules that made it fail or invalid.")


# Beside DutPortCounters, which are those since it started.
class DutPortRecord(RecordModel):
    """One port of the DUT: its own counters over this trial."""

    port: int = Field(description="The DUT's port, as the DUT numbers it.")
    rx_frames: int = Field(description="Frames it received during the trial, by its own count.")
    tx_frames: int = Field(description="Frames it sent during the trial, by its own count.")
    rx_missed: int = Field(
        description="Frames its receive queue had no room for, by its own count."
    )
    rx_errors: int = Field(description="Frames it received with errors, by its own count.")
    tx_errors: int = Field(description="Frames it failed to send, by its own count.")
    rx_no_mbuf: int = Field(description="Frames for which it had no buffer, by its own count.")


class TrialRecord(RecordModel):
    """One finished trial."""

    number: int = Field(
        ge=1, description="Unique in the run, from 1; a trial that was cut short keeps its own."
    )
    phase: TrialPhase = Field(
        description="What the trial was for: calibration, warmup, ceiling, search, validation, "
        "soak, single and so on."
    )
    load_pps: float = Field(
        ge=0,
        description="Load per direction, in frames per second, as it was requested of the tester.",
    )
    attempt: int = Field(
        ge=1,
        description="Which trial in a row at this load it is, from 1; an invalid one is repeated.",
    )
    planned_s: float = Field(description="How long it was to send, in s.")
    sending_s: float = Field(
        description="How long frames were sent, in s; the drain afterwards is not counted."
    )
    ended_by: EndedBy = Field(
        description="duration; stop: ended early by a verdict or a signal; losses: ended early by "
        "the generator, with more lost than may be; link_down: a link went; streams: "
        "its last stream ended."
    )
    begin_unix_ns: int = Field(description="When its first frame was due: UTC, in ns since 1970.")
    verdict: Verdict = Field(
        description="pass; fail: the DUT broke a criterion; invalid: inconclusive because of the "
        "tester; none: not judged."
    )
    findings: tuple[FindingRecord, ...] = Field(description="What each rule found, kept or broken.")
    streams: tuple[StreamRecord, ...] = Field(description="One entry for each stream.")
    ports: tuple[PortRecord, ...] = Field(description="The tester's ports.")
    workers: tuple[WorkerRecord, ...] = Field(description="The tester's polling loops.")
    dut: tuple[DutPortRecord, ...] | None = Field(
        description="The DUT's own counters by port over the trial; null if it has no counters."
    )
    goal: str | None = Field(
        default=None,
        description="The goal of the search by whose criteria the verdict is; null outside of a "
        "search of several goals.",
    )
    goals: dict[str, GoalVerdict] = Field(
        default_factory=dict, description="The verdict by each goal's criteria, by the goal's name."
    )
    repetition: int = Field(
        default=1, ge=1, description="How often the same was run to see whether it repeats, from 1."
    )
    step: str | None = Field(
        default=None, description="The part of a standard test it belongs to; null elsewhere."
    )
    evidence: TrialEvidence | None = Field(
        default=None,
        description="Losses by second, latency peaks and growth; null where unmeasured.",
    )
    observed: dict[str, float | None] = Field(
        default_factory=dict,
        description="What a standard test looked for, by names that end in their unit.",
    )
    hosts: tuple[HostReadings, ...] = Field(
        default=(), description="How the observer of each host fared."
    )
    own: OwnTimeRecord | None = Field(
        default=None,
        description="What Plimsoll's own processes took of the polled CPUs while frames were "
        "sent; null where nothing is polled.",
    )
    schedule: ScheduleRecord | None = Field(
        default=None, description="Who had the polled CPUs; null where nothing polls or is counted."
    )
    offered: OfferedRange | None = Field(
        default=None,
        description="In which time frames were offered; null in records of earlier versions.",
    )

    noise: tuple[NeighbourRun, ...] = Field(
        default=(),
        description="The neighbours that the experiment had disturb this trial, and what they "
        "did; none in records of earlier versions.",
    )

    resolved: tuple[ResolvedRecord, ...] = Field(
        default=(),
        description="Whose MAC addresses were found by ARP or neighbour discovery for this trial; "
        "none where all were written, and in records of earlier versions.",
    )

    hops: tuple[Hop, ...] = Field(
        default=(),
        description="How many frames passed each point inside the DUT, along each direction; "
        "none where it counts its ports alone, and in records of earlier versions.",
    )

    clock_steps: tuple[ClockStep, ...] = Field(
        default=(),
        description="When and by how much the wall clock was set during the trial, whose times "
        "are not affected; none in records of earlier versions.",
    )

    counters: tuple[CounterRecord, ...] | None = Field(
        default=None,
        description="Frames into and out of the DUT by both sides' counts, as they were judged; "
        "null where it has no counters, and in records of earlier versions.",
    )

    loss_blame: LossBlameRecord | None = Field(
        default=None,
        description="What the lost frames are blamed on; null if no frame was lost or "
        "nothing polls here.",
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


# What weighs more comes first: one part that failed makes the whole fail.
_WEIGHTIEST_FIRST: tuple[Verdict, ...] = ("fail", "invalid", "pass")


def whole_verdict(parts: Iterable[Verdict | None]) -> Verdict:
    """Fail where a part failed, else invalid where one was, else pass; "none" without any.

    A part that was not judged ("none", or None in records of older versions) does not count.
    """
    found = set(parts)
    return next((verdict for verdict in _WEIGHTIEST_FIRST if verdict in found), "none")
