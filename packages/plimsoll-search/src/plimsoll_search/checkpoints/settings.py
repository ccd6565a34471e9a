"""What a list of checkpoints can be told, as written in an experiment under `search`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, model_validator

from ..strategy.question import RepeatField, TrialPolicy, within
from ..strategy.settings import (
    SearchModel,
    ToPps,
    TrialDurationField,
    ValidationSettings,
)
from ..text.errors import InputError, mistake
from ..text.units import Rate, RateField, RatioField, format_pps
from .search import CheckpointPlan, CheckpointSearch

# Some load, and then every tenth up to where a DUT begins to be near its limit.
_SHARES = ("1%", "10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%")
# Each takes a trial; where so many are not enough, a search is meant.
_MAX_LOADS = 1000

ShareField = Annotated[RatioField, Field(gt=0)]
SharesField = Annotated[tuple[ShareField, ...], Field(min_length=1, max_length=_MAX_LOADS)]
RatesField = Annotated[tuple[RateField, ...], Field(min_length=1, max_length=_MAX_LOADS)]


class CheckpointSettings(SearchModel):
    """A list of loads to measure and judge, without a search between them."""

    by_verdicts_alone: ClassVar[bool] = True

    strategy: Literal["checkpoints"]
    # The loads as shares of the maximum; a list of them is the default.
    shares: SharesField | None = None
    # The loads themselves, instead of shares.
    rates: RatesField | None = None
    # Of one trial.
    duration: TrialDurationField = 60.0
    # How many trials at each load.
    repeat: RepeatField = 1
    # How often in a row an invalid trial is run again.
    retries: NonNegativeInt = 3
    # Null: a checkpoint's own trials decide.
    validation: ValidationSettings | None = None

    @model_validator(mode="before")
    @classmethod
    def _some_shares(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        without = all(given.get(field) is None for field in ("shares", "rates"))
        return {**given, "shares": _SHARES} if without else given

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if self.shares is not None and self.rates is not None:
            raise mistake("the loads are given twice", "give shares or rates", "rates")
        return self

    @property
    def loads(self) -> Mapping[str, Rate]:
        """Every load that the settings name, by its field."""
        return {**super().loads, **self._rates}

    @property
    def durations(self) -> Mapping[str, float]:
        """Every length in s of trials that are judged, by its field."""
        return {"duration": self.duration, **super().durations}

    @property
    def repetitions(self) -> int:
        """Of a checkpoint's own trials, where no validation follows them."""
        return self.repeat if self.validation is None else 1

    def begin(self, to_pps: ToPps, reach_pps: float | None = None) -> CheckpointSearch:
        """The search, at its beginning. Raises InputError naming the field."""
        return CheckpointSearch(self.plan(to_pps, reach_pps))

    def plan(self, to_pps: ToPps, reach_pps: float | None = None) -> CheckpointPlan:
        """The same with loads in pps per direction. Raises InputError naming the field."""
        loads_pps = _ascending(self._checkpoints(to_pps))
        return CheckpointPlan(
            loads_pps=loads_pps,
            reach_pps=within(reach_pps, loads_pps[0], loads_pps[-1]),
            checkpoint=self._checkpoint(),
            validation=self._validation(),
        )

    def validated_for(self, duration_s: float) -> Self:
        """The same with another length of the validation, which it then has in any case."""
        validation = self.validation or ValidationSettings()
        longer = validation.model_copy(update={"duration": duration_s})
        return self.model_copy(update={"validation": longer})

    def _checkpoint(self) -> TrialPolicy:
        return TrialPolicy(
            "search",
            self.duration,
            self.retries,
            self.repeat,
            run_all_repetitions=True,
            is_validation=self.validation is None,
        )

    def _validation(self) -> TrialPolicy | None:
        if self.validation is None:
            return None
        duration_s, retries = self.validation.duration, self.validation.retries
        return TrialPolicy("validation", duration_s, retries, is_validation=True)

    @property
    def _rates(self) -> dict[str, Rate]:
        return {f"rates[{index}]": rate for index, rate in enumerate(self.rates or ())}

    def _checkpoints(self, to_pps: ToPps) -> dict[str, float]:
        """By field, in pps and inside the range."""
        minimum_pps, maximum_pps = self.resolve_range(to_pps)
        loads_pps = {field: to_pps(field, rate) for field, rate in self._rates.items()}
        for index, share in enumerate(self.shares or ()):
            loads_pps[f"shares[{index}]"] = share * maximum_pps
        return {
            field: _inside(minimum_pps, load_pps, maximum_pps, field)
            for field, load_pps in loads_pps.items()
        }


def _inside(minimum_pps: float, load_pps: float, maximum_pps: float, field: str) -> float:
    """The load; an end of the range where only the last digits are beyond it."""
    inside = min(max(load_pps, minimum_pps), maximum_pps)
    if math.isclose(inside, load_pps, rel_tol=1e-9):
        return inside
    raise InputError(
        f"is {format_pps(load_pps)}, outside {format_pps(minimum_pps)} to "
        f"{format_pps(maximum_pps)}",
        where=f"search.{field}",
        remedy="give loads between minimum and maximum",
    )


def _ascending(loads_pps: Mapping[str, float]) -> tuple[float, ...]:
    """Raises for a load that is there twice."""
    first = dict[float, str]()
    for field, load_pps in loads_pps.items():
        if (other := first.setdefault(load_pps, field)) != field:
            raise InputError(
                f"is {format_pps(load_pps)}, as {other} is",
                where=f"search.{field}",
                remedy="leave one of them out; `repeat` measures every load more than once",
            )
    return tuple(sorted(first))
