"""The parts of a trial's record that are not measured: which trial it was, and its context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from plimsoll.dut.sight import Hop
from plimsoll.neighbours.neighbour_run import NeighbourRun
from plimsoll.record.trials.clock_fit import ClockStep
from plimsoll.record.trials.host_readings import HostReadings
from plimsoll.record.trials.loss_blame_record import LossBlameRecord
from plimsoll.record.trials.offered_range import OfferedRange
from plimsoll.record.trials.schedule_record import ScheduleRecord
from plimsoll.search.evidence.trial_evidence import TrialEvidence

TrialPhase = Literal[
    "calibration",
    "warmup",
    "teaching",
    "ceiling",
    "baseline",
    "search",
    "sniff",
    "watch",
    "burst",
    "validation",
    "single",
    "soak",
    "latency",
    "frame-loss",
    "back-to-back",
    "recovery",
    "reset",
    "probe",
]


@dataclass(frozen=True, slots=True)
class TrialIdentity:
    """Which trial of its run it is; the fields are those of the record."""

    number: int
    phase: TrialPhase
    attempt: int = 1
    goal: str | None = None
    repetition: int = 1
    step: str | None = None


@dataclass(frozen=True, slots=True)
class TrialContext:
    """What the DUT, the hosts and the kernel had to say of a trial, as far as it is known.

    `dut`, `own` and `counters` have the attributes of DutPortRecord, OwnTimeRecord and
    CounterRecord.
    """

    dut: Sequence[object] | None = None
    evidence: TrialEvidence | None = None
    observed: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    hosts: Sequence[HostReadings] = ()
    own: object | None = None
    loss_blame: LossBlameRecord | None = None
    schedule: ScheduleRecord | None = None
    offered: OfferedRange | None = None
    noise: Sequence[NeighbourRun] = ()
    hops: Sequence[Hop] = ()
    clock_steps: Sequence[ClockStep] = ()
    counters: Sequence[object] | None = None


NO_CONTEXT = TrialContext()
