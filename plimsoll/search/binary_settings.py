"""What a binary search can be told, as written in an experiment under `search`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from plimsoll.errors import InputError
from plimsoll.traffic.units import DurationField, Rate, RateField, RatioField, format_pps

# Below, nothing is measured; above, a unit was mistaken.
SHORTEST_TRIAL_S = 0.001
LONGEST_TRIAL_S = 7 * 86400

TrialDurationField = Annotated[DurationField, Field(ge=SHORTEST_TRIAL_S, le=LONGEST_TRIAL_S)]


class ValidationSettings(BaseModel):
    """The long trial that a load must pass to be the load line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    duration: TrialDurationField = 60.0
    # How often in a row an invalid trial is run again.
    retries: NonNegativeInt = 3


class BinarySettings(BaseModel):
    """A bisection between two loads, and the validation of what it finds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: Literal["binary"] = "binary"
    minimum: RateField
    maximum: RateField
    # Where to begin; the maximum if not given.
    start: RateField | None = None
    # The search ends when the bounds are this close, as a share of the upper one; no
    # tester paces finer than a millionth.
    granularity: Annotated[RatioField, Field(ge=1e-6)] = 0.01
    # Of one search trial.
    duration: TrialDurationField = 5.0
    # How often in a row an invalid trial is run again.
    retries: NonNegativeInt = 3
    validation: ValidationSettings = ValidationSettings()

    def resolve(
        self, frame_size: float, line_rate_bps: float | None, profile_pps: float | None
    ) -> BinaryPlan:
        """The same with loads in pps per direction.

        Raises InputError naming the field for a load that cannot be told in pps,
        and for loads out of order.
        """

        def to_pps(field: str, rate: Rate) -> float:
            try:
                return rate.to_pps(frame_size, line_rate_bps, profile_pps)
            except InputError as error:
                raise InputError(
                    error.message, where=f"search.{field}", remedy=error.remedy
                ) from None

        maximum_pps = to_pps("maximum", self.maximum)
        return BinaryPlan(
            minimum_pps=to_pps("minimum", self.minimum),
            maximum_pps=maximum_pps,
            start_pps=maximum_pps if self.start is None else to_pps("start", self.start),
            granularity=self.granularity,
            duration_s=self.duration,
            retries=self.retries,
            validation_duration_s=self.validation.duration,
            validation_retries=self.validation.retries,
        )


@dataclass(frozen=True, slots=True)
class BinaryPlan:
    """BinarySettings with every load in pps per direction."""

    minimum_pps: float
    maximum_pps: float
    start_pps: float
    granularity: float
    duration_s: float
    retries: int
    validation_duration_s: float
    validation_retries: int

    def __post_init__(self) -> None:
        if self.minimum_pps > self.maximum_pps:
            raise InputError(
                f"is {format_pps(self.minimum_pps)}, above the maximum of "
                f"{format_pps(self.maximum_pps)}",
                where="search.minimum",
                remedy="give a minimum below the maximum",
            )
        if not self.minimum_pps <= self.start_pps <= self.maximum_pps:
            raise InputError(
                f"is {format_pps(self.start_pps)}, outside {format_pps(self.minimum_pps)} to "
                f"{format_pps(self.maximum_pps)}",
                where="search.start",
                remedy="start between minimum and maximum",
            )
