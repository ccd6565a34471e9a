"""The TSC tied to the kernel's raw clock and to wall-clock time by measured readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from pydantic import Field

from plimsoll.generator.interface import ClockReading
from plimsoll.record.files.record_model import RecordModel


@dataclass(frozen=True, slots=True)
class _Line:
    """ns of a clock as a straight line over the TSC.

    TSC values are some 1e14 and wall-clock ns 1e18, beyond what a float holds exactly, so
    the line goes through an origin in integers and only differences from it are floats.
    """

    origin_tsc: int
    origin_ns: int
    offset_ns: float
    ns_per_tick: float

    @classmethod
    def through(cls, ticks: Sequence[int], clock_ns: Sequence[int]) -> Self:
        """By least squares (the normal equations about the mean)."""
        origin_tsc, origin_ns = ticks[0], clock_ns[0]
        x = [tick - origin_tsc for tick in ticks]
        y = [ns - origin_ns for ns in clock_ns]
        mean_x, mean_y = fmean(x), fmean(y)
        spread = sum((each - mean_x) ** 2 for each in x)
        together = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        slope = together / spread
        return cls(origin_tsc, origin_ns, mean_y - slope * mean_x, slope)

    def ns(self, tsc: int) -> int:
        return self.origin_ns + round(self.offset_ns + self.ns_per_tick * (tsc - self.origin_tsc))

    def tsc(self, ns: int) -> int:
        return self.origin_tsc + round((ns - self.origin_ns - self.offset_ns) / self.ns_per_tick)


@dataclass(frozen=True, slots=True)
class ClockFit:
    """Carries times over between the tester's TSC, CLOCK_MONOTONIC_RAW and the wall clock.

    `error_ns` is by how much a time may be wrong within the span of the readings: the
    farthest that any reading lies from the fitted lines, and the widest reading's width.
    The wall clock is slewed and stepped by NTP, so its line may be off by more than that of
    the raw clock; the larger counts.
    """

    raw: _Line
    wall: _Line
    error_ns: float

    @classmethod
    def of(cls, readings: Sequence[ClockReading]) -> Self:
        """Fit both clocks by least squares. Raises ValueError unless two times are given."""
        if len({reading.tsc for reading in readings}) < 2:
            raise ValueError("a clock fit needs readings at two times")
        ticks = [reading.tsc for reading in readings]
        raw = _Line.through(ticks, [reading.raw_ns for reading in readings])
        wall = _Line.through(ticks, [reading.unix_ns for reading in readings])
        residual_ns = max(
            max(abs(raw.ns(each.tsc) - each.raw_ns), abs(wall.ns(each.tsc) - each.unix_ns))
            for each in readings
        )
        return cls(raw, wall, float(residual_ns + max(each.width_ns for each in readings)))

    @property
    def tsc_hz(self) -> float:
        """Ticks per second of CLOCK_MONOTONIC_RAW."""
        return 1e9 / self.raw.ns_per_tick

    def raw_ns(self, tsc: int) -> int:
        """CLOCK_MONOTONIC_RAW at that time."""
        return self.raw.ns(tsc)

    def unix_ns(self, tsc: int) -> int:
        """Wall clock at that time, ns since 1970."""
        return self.wall.ns(tsc)

    def tsc(self, unix_ns: int) -> int:
        """TSC at that wall-clock time."""
        return self.wall.tsc(unix_ns)


# A wall clock that was set while a trial was going on.
class ClockStep(RecordModel):
    """One step of the wall clock during a trial, which the trial's times do not follow."""

    at_s: float = Field(
        description="By when the clock had been set, in s since the trial's first frame."
    )
    by_s: float = Field(
        description="By how much the clock was set, in s: negative where it was set back."
    )

    @property
    def sentence(self) -> str:
        """It in words."""
        way = "set back" if self.by_s < 0 else "set forward"
        return f"the wall clock was {way} by {abs(self.by_s):.3f} s at {self.at_s:.1f} s"
