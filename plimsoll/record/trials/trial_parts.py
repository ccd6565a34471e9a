"""The parts of a trial's record that are not measured: which trial it was, and its context.

In which time a trial offered frames: what its rates are rates over. The drain after it is recorded
too, and may hold the last few frames sent: rates that are taken over it come out too low.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from plimsoll.dut.sight import Hop
from plimsoll.generator.interface import Interval
from plimsoll.neighbours.neighbour import NeighbourRun
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.clock_fit import ClockStep
from plimsoll.search.evidence.trial_evidence import TrialEvidence


class ObserverEnd(RecordModel):
    """An observer was lost: in which period (null: before the first), and why."""

    period: str | None = Field(
        description="The period in which it was lost; null before the first."
    )
    why: str = Field(description="Why, in words.")


class HostReadings(RecordModel):
    """How one host was observed in one trial.

    If the observing process died in this trial or an earlier one, the host's figures end there, and
    the remaining fields are null.
    """

    hostname: str = Field(description="The host, as environment.json and its metrics call it.")
    readings: int | None = Field(ge=0, description="How often it was read in the trial.")
    skipped: int | None = Field(
        ge=0, description="Readings left out because the observer did not get its CPU in time."
    )
    cpu_s: float | None = Field(
        ge=0, description="CPU time that observing took on that host, in s."
    )
    lost: dict[str, str] = Field(
        default_factory=dict, description="By observer that stopped during the trial: the reason."
    )
    ended: ObserverEnd | None = Field(
        default=None,
        description="When and why the observing process died; null otherwise.",
    )


class LossBlameRecord(RecordModel):
    """Frames of the trial's largest loss events by cause; causes/<trial>.json has each event."""

    tester: float = Field(
        ge=0,
        description="Frames lost during a stall of the tester, or while a process of Plimsoll's "
        "own had the DUT's CPU.",
    )
    platform: float = Field(
        ge=0, description="Frames lost while anything else was seen to take the DUT's CPU."
    )
    unseen: float = Field(
        ge=0,
        description="Frames lost while no polling loop was seen absent: the load exceeded the "
        "DUT's capacity, or the cause left no trace.",
    )
    sentence: str = Field(description="The causes of the losses in one sentence.")


# A row of value 1 over the range, so that SQL over the Parquet files alone can use it.
OFFERING = MetricType("trafficgen-engine", "offering", "pass/fail", "", "max")
OFFERING_SAMPLE = MetricSample(OFFERING, {}, 1.0)


class OfferedRange(RecordModel):
    """[begin, end) of the intervals in which the generator was to send, in ns since the epoch.

    Both are edges of intervals, so that no row of the generator's lies across them.
    """

    begin_unix_ns: int = Field(description="When offering began, in ns since the epoch.")
    end_unix_ns: int = Field(
        description="When offering ended, in ns since the epoch: at the planned time, or when "
        "the trial was stopped. The drain comes after it."
    )

    @classmethod
    def extended(cls, so_far: Self | None, interval: Interval) -> Self | None:
        """`so_far` with one interval more; as it is where that belongs to the drain."""
        if interval.phase == "drain":
            return so_far
        length_ns = round((interval.end_s - interval.begin_s) * 1e9)
        begin_ns = interval.end_unix_ns - length_ns if so_far is None else so_far.begin_unix_ns
        return cls(begin_unix_ns=begin_ns, end_unix_ns=interval.end_unix_ns)


class PollingThreadRecord(RecordModel):
    """One polling loop, from just before the trial to just after it."""

    process: str = Field(description="tester, or the DUT's program.")
    pid: int = Field(description="Its process, as the kernel numbers it.")
    tid: int = Field(description="Its thread, as the kernel numbers it.")
    cpu: int = Field(
        description="The CPU that the loop was pinned to or last seen on when the trial began, as "
        "the kernel numbers it."
    )
    run_ns: int = Field(description="Time that the loop ran, in ns.")
    wait_ns: int = Field(description="Time that it was ready to run and waited for its CPU, in ns.")
    slices: int = Field(description="How often it was put on a CPU.")
    involuntary_switches: int = Field(description="How often it was taken off its CPU.")
    last_cpu: int | None = Field(
        default=None,
        description="The CPU that it was pinned to or last seen on when the trial ended; null in "
        "records of earlier versions.",
    )


class OtherProcessRecord(RecordModel):
    """Another process that was last seen on a polled CPU, in the same time."""

    comm: str = Field(description="Its name in the kernel.")
    pid: int = Field(description="Its process, as the kernel numbers it.")
    cpu: int = Field(
        description="The polled CPU on which it was last seen, as the kernel numbers it."
    )
    pinned: bool = Field(description="Whether it may run on this CPU alone.")
    run_ns: int = Field(
        description="Time that it ran, on any CPU unless it is pinned to this one, in ns."
    )
    slices: int = Field(description="How often it was put on a CPU; 0 where that is not counted.")


class ScheduleRecord(RecordModel):
    """Who had the polled CPUs."""

    watched_s: float = Field(description="How long was looked at, in s.")
    threads: tuple[PollingThreadRecord, ...] = Field(description="The polling loops.")
    others: tuple[OtherProcessRecord, ...] = Field(
        description="Other processes on the polled CPUs, by their time."
    )


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
