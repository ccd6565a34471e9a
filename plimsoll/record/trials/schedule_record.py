"""Who had the polled CPUs during a trial, as the kernel's scheduler counted it."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel


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

    comm: str = Field(description="Its name, as the kernel has it.")
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
