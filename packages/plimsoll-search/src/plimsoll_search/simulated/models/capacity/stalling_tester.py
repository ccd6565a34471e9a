"""A DUT with nothing wrong, tested by a tester that is not always there."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...away_times import AwayTimes
from .steady import Steady


class StallingTester(Steady):
    """Like `fixed-capacity`; each polling loop of the tester is away now and then.

    With exponential gaps of the mean `period`, for log-normal lengths of the median
    `length`: what a machine does that shares its CPUs.
    """

    summary: ClassVar[str] = "a good DUT and a tester whose own loops are away now and then"

    kind: Literal["stalling-tester"] = "stalling-tester"
    period: Annotated[DurationField, Field(ge=1e-3, le=86_400)] = 2.0
    length: Annotated[DurationField, Field(ge=1e-6, le=10)] = 2e-3
    length_deviation: Annotated[RatioField, Field(gt=0, le=3)] = 0.9

    @property
    def tester_away(self) -> AwayTimes:
        """As set."""
        return AwayTimes(self.period, self.length, self.length_deviation)
