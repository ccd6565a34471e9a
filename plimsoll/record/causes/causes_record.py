"""What explains a trial's spikes, losses and stalls: `causes/<trial>.json` of a run.

Its JSON Schema is published as trial-causes.schema.json.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.files.whole_file import read_whole, write_whole
from plimsoll.record.run.file_check import require_intact_paths
from plimsoll.record.run.listed_files import listed_in
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.search.evidence.trial_evidence import HostCpu

_REMEDY = "restore it from a copy of the run, or delete it and lose the trial's causes"
_NUMBERED = re.compile(r"[1-9][0-9]{0,8}\.json")


Confidence = Literal["exact", "partial", "counter", "unexplained"]


class _Part(RecordModel):
    # Readers of the document may rely on every field, those with a default too.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


# Beside PollingLoop, which also has the streams whose frames it handles.
class LoopRecord(_Part):
    """A polling loop: one thread, alone on its CPU."""

    owner: Literal["tester", "dut"] = Field(description="Whose loop it is.")
    process: str = Field(description="Its program, such as dpdk-testpmd.")
    cpu: int = Field(description="The CPU on which it polls.")
    thread_id: int = Field(description="Its thread, as the kernel numbers it.")
    host: str | None = Field(
        default=None, description="The host on which it polls; null for the tester's own."
    )
    sleeps: bool = Field(
        default=False,
        description="Whether it sleeps while no frame comes: then it is absent only while it "
        "could run and did not.",
    )


class TracedCpu(_Part):
    """From when to when no event of a CPU was lost."""

    cpu: int = Field(description="The CPU.")
    host: str | None = Field(
        default=None, description="The host whose CPU it is; null for the tester's own."
    )
    complete_from_tsc: int = Field(
        description="From when on no event is missing, in ticks of the tester's TSC."
    )
    complete_to_tsc: int = Field(description="The trace's end, in ticks of the tester's TSC.")
    lost_events: int = Field(
        default=0, ge=0, description="Events of this CPU for which the buffer had no room."
    )


class RemoteTraceState(_Part):
    """What is known of the kernel's events on another host during a trial."""

    host: str = Field(description="Its name.")
    clock: Literal["mono_raw"] | None = Field(
        description="The trace's clock; null where there was no trace."
    )
    clock_error_ns: float | None = Field(
        default=None,
        description="By how much, in ns, all times of the host may be off together on the "
        "tester's TSC: half of the narrowest round trips to its clock, and how far that is from "
        "running evenly; null where the two clocks could not be tied together.",
    )
    events: int = Field(default=0, ge=0, description="Events that were read around incidents.")
    names: tuple[str, ...] = Field(default=(), description="Events that were recorded, by name.")


class UnwatchedDut(_Part):
    """That loops of the DUT may have been away and nothing would have shown it, and why."""

    host: str | None = Field(
        description="The host of the DUT, as the experiment or it itself names it; null where none "
        "is named."
    )
    reason: str = Field(description="Why its kernel's events were not recorded.")
    remedy: str = Field(description="What to do about it.")


class TraceState(_Part):
    """What is known of the kernel's events during a trial."""

    clock: Literal["x86-tsc", "mono_raw"] | None = Field(
        description="The trace's clock; null where there was no trace."
    )
    events: int = Field(default=0, ge=0, description="Events that were read around incidents.")
    names: tuple[str, ...] = Field(default=(), description="Events that were recorded, by name.")
    cpus: tuple[TracedCpu, ...] = Field(
        default=(), description="The CPUs that were traced, on all hosts."
    )
    unavailable: str | None = Field(
        default=None,
        description="Why there was no trace on the tester's own host; null where there was one.",
    )
    remote: tuple[RemoteTraceState, ...] = Field(
        default=(), description="Other hosts on which loops of the DUT poll."
    )
    unwatched: tuple[UnwatchedDut, ...] = Field(
        default=(), description="Where absences of the DUT were not watched."
    )


class Cause(_Part):
    """One cause of one incident.

    Its kind is one of the CauseKind of plimsoll/attribution/incidents/incident.py, unless another
    version has recorded it. `owner`, `cpu` and `host` say whose CPU it took. What filled a queue
    counts from its own begin: the cause of a loss, and one that left a queue behind in which a
    frame waited later.
    """

    kind: str = Field(
        description="interrupt, softirq, task, ipi, tlb-shootdown, timer-tick, workqueue, "
        "throttling, stopped, moved (to another CPU), slept, lock-contention, rcu, "
        "memory-pressure, major-fault, frequency, idle-exit, tester-stall (a link to what "
        "follows), hypervisor-steal, stood-still (timer ticks are missing), hardware, "
        "machine-check, busy-elsewhere (the DUT itself, by its own doing), corrupt (the frames "
        "came back corrupt), misdirected (they came back on a wrong port), "
        "truncated (they came back cut short) or unexplained."
    )
    name: str = Field(description="What it was, such as kworker/1:2 (vmstat_update).")
    owner: Literal["tester", "dut"] | None = Field(description="Whose CPU it took.")
    cpu: int | None = Field(description="The CPU that it took.")
    host: str | None = Field(
        default=None, description="The host whose CPU it is; null for the tester's own."
    )
    pid: int | None = Field(description="The task, where it was one.")
    cgroup: str | None = Field(description="The task's cgroup, where known.")
    woken_by: str | None = Field(description="Who set it off, where seen.")
    begin_tsc: int | None = Field(description="When it took the CPU, in ticks of the tester's TSC.")
    length_ns: int | None = Field(
        description="How long it had the CPU within the incident, in ns; what filled a queue "
        "counts from its own begin."
    )
    confidence: Confidence = Field(
        description="exact: intervals that the kernel saw cover at least 80 % of the incident. "
        "partial: they cover less, or only the queue that they left explains it. counter: only "
        "a counter moved. unexplained: nothing is known."
    )
    frames: float | None = Field(
        default=None,
        description="Lost frames that it accounts for, if more than its length explains.",
    )
    own: bool = Field(
        default=False,
        description="Whether it is a task of Plimsoll's own, by its process's id; false in "
        "records of earlier versions, which went by names.",
    )

    @property
    def place(self) -> HostCpu:
        """The CPU that it took, and of which host."""
        return HostCpu(self.host, self.cpu)


class ExplainedIncident(_Part):
    """A latency spike, a loss event or a stall of the tester, with its causes."""

    kind: Literal["latency", "loss", "stall"] = Field(description="What it is.")
    subject: str = Field(description="The stream, or the CPU of the tester's loop.")
    begin_tsc: int = Field(
        description="When the frame or the last one before the gap was sent, or the stall began, "
        "in ticks of the tester's TSC."
    )
    end_tsc: int = Field(
        description="When the frame came, the first one after the gap was sent, or the stall "
        "ended, in ticks of the tester's TSC."
    )
    begin_unix_ns: int | None = Field(
        description="The begin on the wall clock, in ns since 1970; null where the clocks were "
        "not read together."
    )
    frames: int = Field(ge=0, description="Lost frames, or those of the spike; 0 for a stall.")
    length_ns: int = Field(
        ge=0,
        description="The latency, the stall, or the time in which lost frames were sent, in ns.",
    )
    refused: bool = Field(
        default=False,
        description="Whether the frames were lost because the tester's port had no room for them.",
    )
    sentence: str = Field(description="The explanation in one sentence.")
    absence_ns: int | None = Field(
        default=None,
        ge=0,
        description="For how long the DUT must have been away at least, in ns, for those of the "
        "lost frames that are explained: (its buffer + these frames) / load, less what bursts and "
        "rates above the trial's mean can make of it. "
        "Null for other incidents, where the buffer or the load is not known, and in records of "
        "earlier versions.",
    )
    causes: tuple[Cause, ...] = Field(description="Its causes in the order of the chain.")


class Remedy(_Part):
    """What can be done about a cause."""

    text: str = Field(description="What to do.")
    checks: tuple[int, ...] = Field(
        default=(), description="Checks of plimsoll tune audit that cover it, by number."
    )


class RankedCause(_Part):
    """One cause over many incidents, of a trial or of several."""

    kind: str = Field(description="As in a cause.")
    name: str = Field(description="As in a cause, without the numbers of interchangeable workers.")
    owner: Literal["tester", "dut"] | None = Field(description="Whose CPU it took.")
    cpu: int | None = Field(description="The CPU that it took.")
    host: str | None = Field(
        default=None, description="The host whose CPU it is; null for the tester's own."
    )
    own: bool = Field(description="Whether it is one of Plimsoll's own processes.")
    occurrences: int = Field(ge=0, description="How many times it was seen.")
    incidents: int = Field(ge=0, description="In how many incidents it has a part.")
    loss_share: float | None = Field(
        description="Its share of the lost frames of all loss events, 0 to 1; null without losses."
    )
    spike_share: float | None = Field(
        description="Its share of the spikes, 0 to 1; null without spikes."
    )
    total_ns: int | None = Field(description="How long it had the CPU in all, in ns.")
    worst_ns: int | None = Field(description="How long it had the CPU at once, in ns.")
    confidence: Confidence = Field(
        description="That of most of its explanations; of two, the weaker."
    )
    remedy: Remedy | None = Field(description="What to do about it; null where unknown.")

    @property
    def place(self) -> HostCpu:
        """The CPU that it took, and of which host."""
        return HostCpu(self.host, self.cpu)


class IncidentTotals(_Part):
    """What there was of the whole trial, of which `incidents` are the worst."""

    lost_frames: int = Field(
        description="Frames of judged streams that did not come back on their port as they were."
    )
    corrupt: int = Field(ge=0, description="Of these, frames that came back corrupt.")
    misdirected: int = Field(ge=0, description="Of these, frames that came back on a wrong port.")
    truncated: int = Field(
        default=0,
        ge=0,
        description="Of these, frames that came back cut short; 0 where it is not known of which "
        "stream they were, and in records of older versions.",
    )
    loss_events: int = Field(
        ge=0, description="Loss events that the tester counted, those among them that it listed."
    )
    spikes: int = Field(ge=0, description="Explained latencies from `spikes_from_ns` on.")
    stalls: int = Field(ge=0, description="Explained stalls of the tester.")


class TrialCauses(_Part):
    """The causes of one trial. `rows` rest on all incidents, also on those left out of the list."""

    format: Literal["plimsoll-trial-causes"] = Field(
        default="plimsoll-trial-causes", description="What this document is."
    )
    version: Literal[1] = Field(default=1, description="The version of its schema.")
    trial: int = Field(ge=1, description="The trial's number in its run.")
    tsc_hz: float = Field(gt=0, description="Ticks of the time stamp counter in a second.")
    clock_error_ns: float | None = Field(
        description="By how much, in ns, times on the wall clock may be wrong against the TSC; "
        "null where the clocks were not read together."
    )
    spikes_from_ns: int = Field(
        description="Latencies of this and more, in ns, count as spikes in the rows."
    )
    loops: tuple[LoopRecord, ...] = Field(
        description="The polling loops on the tester's host and on those that are watched."
    )
    trace: TraceState = Field(description="What is known of the kernel's events.")
    rows: tuple[RankedCause, ...] = Field(description="The causes, the costliest first.")
    incidents: tuple[ExplainedIncident, ...] = Field(
        description="The worst incidents: losses by frames, then spikes and stalls by length."
    )
    incidents_left_out: int = Field(ge=0, description="Incidents for which the list has no room.")
    totals: IncidentTotals | None = Field(
        default=None, description="Totals of the whole trial; null in records of earlier versions."
    )

    def write(self, run: RunDirectory) -> Path:
        """Write it into the run. Raises RecordError."""
        path = run.causes / f"{self.trial}.json"
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise write_failed(path, error) from error
        write_whole(path, self.model_dump_json(indent=1) + "\n")
        return path


def read_causes(run: RunDirectory) -> tuple[TrialCauses, ...]:
    """The causes of all trials that have some, by number. Raises RecordError."""
    paths = [path for path in listed_in(run, run.causes) if _NUMBERED.fullmatch(path.name)]
    require_intact_paths(run, paths)
    found = (read_whole(path, TrialCauses, _REMEDY) for path in paths)
    return tuple(sorted((each for each in found if each is not None), key=lambda e: e.trial))
