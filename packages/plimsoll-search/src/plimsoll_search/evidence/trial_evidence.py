"""What a trial shows apart from its verdict, small enough for the journal: searches steer by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, with_config

# Of a dataclass that is a part of a record as it is: a field that it does not have is damage.
recorded = with_config(ConfigDict(extra="forbid"))


class EvidenceModel(BaseModel):
    """Plain JSON of its fields alone; made from any object with the same attributes.

    Each is built when first used, not when it is imported: a program needs few of them.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        from_attributes=True,
        ser_json_inf_nan="null",
        defer_build=True,
    )


# Of the absences of one cause, so many of the first are kept: enough for a period to show.
FIRST_KEPT = 32
# And so many of the longest of the rest: as many as a trial's evidence has latency peaks, so
# that none of these is without its cause for want of room.
LONGEST_KEPT = 64


class DutAbsence(EvidenceModel):
    """One time in which a polling loop of the DUT did not have its CPU."""

    at_s: float = Field(description="When the loop lost its CPU, in s since the first frame.")
    length_ns: int = Field(ge=0, description="How long the cause had the CPU, in ns.")
    confidence: Literal["exact", "partial"] = Field(
        description="exact: intervals that the kernel saw cover at least 80 % of what frames "
        "suffered. partial: they cover less, or only the queue that they left explains it."
    )


class Disturbance(EvidenceModel):
    """One cause that took a CPU from a polling loop of the DUT, and when it did so."""

    kind: str = Field(description="As in a trial's causes: task, workqueue, interrupt, ...")
    name: str = Field(
        description="What it was, without the numbers of interchangeable workers: kworker."
    )
    cpu: int | None = Field(description="The CPU that it took.")
    host: str | None = Field(
        default=None, description="The host whose CPU it is; null for the tester's own."
    )
    count: int = Field(ge=1, description="How many absences it caused that frames suffered from.")
    absences: tuple[DutAbsence, ...] = Field(
        description="By time, at most 96 of them: the first 32 and the 64 longest of the rest."
    )

    @property
    def consecutive_s(self) -> tuple[float, ...]:
        """When those absences began between which none is left out, in s."""
        kept_all = len(self.absences) == self.count
        known = self.absences if kept_all else self.absences[:FIRST_KEPT]
        return tuple(absence.at_s for absence in known)


class LossSample(EvidenceModel):
    """An interval in which frames were lost that no stall of the tester explains."""

    begin_s: float = Field(
        description="Where the interval begins, in s since the trial's first frame."
    )
    end_s: float = Field(description="Where it ends, in s since the trial's first frame.")
    frames: int = Field(description="Frames lost in it.")


class LatencyPeak(EvidenceModel):
    """The worst latency of load frames in an interval, tester stalls left out.

    A DUT that stops looking for a while delays the frame that came first by as long, so
    peaks show its stalls before they lose anything.
    """

    at_s: float = Field(description="The interval, in s since the trial's first frame.")
    max_ns: int = Field(
        description="The worst latency of load frames in it, in ns, without samples that a stall "
        "of the tester may have made longer."
    )


class OfferedInterval(EvidenceModel):
    """An interval of a trial, and the load per direction that was offered in it."""

    begin_s: float = Field(description="When it began, in s since the trial's first frame.")
    end_s: float = Field(description="When it ended, in s since the trial's first frame.")
    pps: float = Field(
        description="The offered load in it, in pps per direction, by the load stream that was "
        "offered the least part of what was due."
    )


class TrialEvidence(EvidenceModel):
    """A trial's evidence. Times are in s since its first frame, latencies those of load frames."""

    sending_s: float = Field(
        description="How long frames were sent, in s; the drain afterwards is not counted."
    )
    intervals: int = Field(description="How many intervals of the trial were looked at.")
    offered: int = Field(description="Frames offered in all directions.")
    lost: int = Field(
        description="Frames lost in all directions, without what the tester's stalls explain."
    )
    loss_ratio: float = Field(
        description="Loss of the worst direction, a share (1 is all), without what the tester's "
        "stalls explain."
    )
    forwarded_pps: float = Field(
        description="Frames per second that came back, per direction, of the direction with least."
    )
    first_loss_s: float | None = Field(
        description="When the first frame was lost, in s since the first frame."
    )
    lossy_intervals: int = Field(description="Intervals in which frames were lost.")
    losses: tuple[LossSample, ...] = Field(
        description="Intervals with losses by time, at most 256: the first 128, and the 128 "
        "largest of the others."
    )
    min_ns: int | None = Field(
        description="Least latency of load frames, in ns, exact; null if there are no samples."
    )
    p50_ns: int | None = Field(
        description="Median latency of load frames, in ns, at most 0.78 % high; null if there "
        "are no samples."
    )
    p99_ns: int | None = Field(
        description="99th percentile of the latency of load frames, in ns, at most 0.78 % high; "
        "null if there are no samples."
    )
    max_ns: int | None = Field(
        description="Greatest latency of load frames, in ns, exact; null if there are no samples."
    )
    latency_growth: float | None = Field(
        description="Median slope of the intervals' median latency, in ns per s (Theil and Sen), "
        "of the direction in which it is steepest. A queue that only grows has one."
    )
    peaks: tuple[LatencyPeak, ...] = Field(description="The largest latency peaks; at most 64.")
    offered_pps: float | None = Field(
        default=None,
        description="Load per direction that the tester reached, in frames per second, by the "
        "stream that was offered the least part of what was due. Null where no stream has a rate, "
        "and in records of versions that did not measure it.",
    )
    least_offered: OfferedInterval | None = Field(
        default=None,
        description="The interval in which the tester fell shortest of the intended load; null "
        "where no load stream has a rate, and in records of versions that did not look for it.",
    )
    disturbances: tuple[Disturbance, ...] = Field(
        default=(),
        description="What took CPUs from the DUT's polling loops on this host, at most 16 causes, "
        "those that took most first. Empty where no kernel events are recorded.",
    )


class HostCpu(NamedTuple):
    """CPU number `cpu` of `host`; a host of None is the tester's own.

    A number of None stands for a CPU that is not known, and for all CPUs of the host.
    """

    host: str | None
    cpu: int | None

    def __str__(self) -> str:
        """For people: "CPU 3", or "CPU 3 of dut.lab" where it is not the tester's host."""
        return f"CPU {self.cpu}{of_host(self.host)}"


def of_host(host: str | None) -> str:
    """What follows the name of something on a host, for people: nothing on the tester's own."""
    return "" if host is None else f" of {host}"


def named_cpus(places: Iterable[HostCpu]) -> str:
    """Several for people, by host: "CPU 0, 1 and CPU 3 of dut.lab"."""
    by_host: dict[str | None, list[str]] = {}
    for place in dict.fromkeys(places):
        by_host.setdefault(place.host, []).append(str(place.cpu))
    return " and ".join(f"CPU {', '.join(cpus)}{of_host(host)}" for host, cpus in by_host.items())
