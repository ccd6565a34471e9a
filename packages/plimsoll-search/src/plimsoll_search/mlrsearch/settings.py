"""What a Multiple Loss Ratio search can be told, as written in an experiment under `search`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, field_validator

from ..strategy.settings import (
    LossRatios,
    SearchModel,
    ToPps,
    ValidationSettings,
)
from ..strategy.tester_reach import within
from ..text.mistakes import mistake
from ..text.units import RatioField
from .goal_settings import MlrGoalSettings
from .plan import MlrPlan, ValidationPlan
from .search import MlrSearch
from .span import LoadSpan


class BackedOffValidation(ValidationSettings):
    """A validation that begins a little below what was found."""

    # How far below, and how much further after each failure, as a share of the load.
    back_off: Annotated[RatioField, Field(ge=1e-6, le=0.5)] = 0.005


class MlrSettings(SearchModel):
    """A search for one or more goals of RFC 9971, and the validation of what it finds."""

    strategy: Literal["mlrsearch"] = "mlrsearch"
    goals: Annotated[tuple[MlrGoalSettings, ...], Field(min_length=1)] = (MlrGoalSettings(),)
    # How often in a row an invalid trial is run again.
    retries: NonNegativeInt = 3
    # Whether a trial ends when its verdict can no longer change. With several goals only
    # validations do.
    early_abort: bool = True
    # Null: the relevant lower bound itself is the load line.
    validation: BackedOffValidation | None = BackedOffValidation()

    @field_validator("goals")
    @classmethod
    def _names_differ(cls, goals: tuple[MlrGoalSettings, ...]) -> tuple[MlrGoalSettings, ...]:
        name, times = Counter(goal.name for goal in goals).most_common(1)[0]
        if times > 1:
            raise mistake(f"{times} goals are named {name}", "give each a `name:` of its own")
        return goals

    @property
    def loss_ratios(self) -> LossRatios:
        """The goals in order, the first of which is the run's."""
        return {goal.name: goal.loss_ratio for goal in self.goals}

    @property
    def durations(self) -> Mapping[str, float]:
        """Every length in s of trials that are judged, by its field."""
        shortest = {
            f"goals[{index}].{_shortest_of(goal)}": goal.shortest_trial_s
            for index, goal in enumerate(self.goals)
        }
        return {**shortest, **super().durations}

    def begin(self, to_pps: ToPps, reach_pps: float | None = None) -> MlrSearch:
        """The search, at its beginning. Raises InputError naming the field."""
        return MlrSearch(self.plan(to_pps, reach_pps))

    def plan(self, to_pps: ToPps, reach_pps: float | None = None) -> MlrPlan:
        """The same with loads in pps per direction. Raises InputError naming the field."""
        minimum_pps, maximum_pps = self.resolve_range(to_pps)
        return MlrPlan(
            goals=tuple(goal.goal for goal in self.goals),
            span=LoadSpan(
                minimum_pps,
                maximum_pps,
                reach_pps=within(reach_pps, minimum_pps, maximum_pps),
            ),
            retries=self.retries,
            early_abort=self.early_abort,
            validation=self._validation(),
        )

    def _validation(self) -> ValidationPlan | None:
        if (asked := self.validation) is None:
            return None
        return ValidationPlan(asked.duration, asked.retries, asked.back_off)


def _shortest_of(goal: MlrGoalSettings) -> str:
    """The field that says how long the goal's shortest trials are."""
    given = goal.initial_trial_duration is not None
    return "initial_trial_duration" if given else "final_trial_duration"
