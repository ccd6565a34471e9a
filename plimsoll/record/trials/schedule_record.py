"""Who had the polled CPUs during a trial, as the kernel's scheduler counted it."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel


class PollingThreadRecord(RecordModel):
    """One polling loop, from just before the trial to just after it.

    `process` is "tester", or the DUT's process by its name. The loop ran for `run_ns`, and
    was ready to run and waited for its CPU for `wait_ns`; `slices` is how often it was put on
    a CPU, `involuntary_switches` how often it was taken off.
    """

    process: str
    pid: int
    tid: int
    cpu: int
    run_ns: int
    wait_ns: int
    slices: int
    involuntary_switches: int
    last_cpu: int | None = Field(
        default=None,
        description="The CPU that it was pinned to or last seen on when the trial ended; null in "
        "records of earlier versions.",
    )


class OtherProcessRecord(RecordModel):
    """Another process that was last seen on a polled CPU, `cpu`, in the same time.

    It ran for `run_ns` in `slices` times, on any CPU unless it is `pinned` to this one.
    `slices` is 0 where the kernel does not count them.
    """

    comm: str
    pid: int
    cpu: int
    pinned: bool
    run_ns: int
    slices: int


class ScheduleRecord(RecordModel):
    """Both, over `watched_s`; of the others those that ran longest, the first first."""

    watched_s: float
    threads: tuple[PollingThreadRecord, ...]
    others: tuple[OtherProcessRecord, ...]
