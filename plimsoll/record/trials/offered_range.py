"""In which time a trial offered frames: what its rates are rates over.

The drain after it is recorded too, and may hold the last few frames sent: rates that are
taken over it come out too low.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field

from plimsoll.generator.interface import Interval
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.samples.metric_type import MetricSample, MetricType

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
