"""What a load-line search can be told, as written in an experiment under `search`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, PrivateAttr, model_validator

from ..strategy.ask import ONLY_GOAL
from ..strategy.question import within
from ..strategy.settings import (
    GoalSettings,
    LossRatios,
    SearchModel,
    ToPps,
    TrialDurationField,
    ValidationSettings,
)
from ..text.errors import mistake
from ..text.units import DurationField, RatioField
from .plan import GoalPlan, LoadLinePlan
from .search import LoadLineSearch

# A trial that looks ahead must be short beside what it looks ahead to.
_WATCHED = 10


class LoadLineSettings(SearchModel):
    """The highest load that holds through the validation, found by what trials show.

    docs/load-line.md has the reasoning.
    """

    strategy: Literal["load-line"]
    # Of the capacity's bracket, as a share of its upper end.
    width: Annotated[RatioField, Field(ge=1e-4, le=0.2)] = 0.005
    # Of a trial that looks for the capacity.
    duration: TrialDurationField = 2.0
    # Of the trial that looks for stalls just below the capacity; at most a tenth of the
    # validation's.
    watch: TrialDurationField = 60.0
    # Whether back-to-back bursts may be sent to learn how much the DUT's buffers hold.
    bursts: bool = True
    # The chance that the load found is to have of surviving as long as its validation again.
    confidence: Annotated[RatioField, Field(ge=0.5, lt=1)] = 0.95
    # How often in a row an invalid trial other than a validation is run again.
    retries: NonNegativeInt = 3
    # So many validations of one goal may fail before the search gives up.
    attempts: PositiveInt = 20
    # All trials together take no longer than this; without it, as long as they take.
    budget: Annotated[DurationField, Field(gt=0)] | None = None
    # What to look for; without any, what the caller judges by.
    goals: tuple[GoalSettings, ...] = ()
    validation: ValidationSettings = ValidationSettings()
    # Of a long validation, what is judged by itself; None where only the whole is.
    _window_s: float | None = PrivateAttr(default=None)
    # What the caller says of goals that do not say how much loss they allow.
    _loss_ratios: LossRatios = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _budget_has_room_for_a_validation(self) -> Self:
        if self.budget is not None and self.budget < self.validation.duration:
            remedy = "give more, or a shorter validation"
            raise mistake("is less than one validation takes", remedy, "budget")
        return self

    @model_validator(mode="after")
    def _goals_have_names_of_their_own(self) -> Self:
        names = [goal.name for goal in self.goals]
        for index, name in enumerate(names):
            if name in names[:index]:
                remedy = "give each goal a name of its own"
                raise mistake(f"two goals are named {name}", remedy, "goals", index, "name")
        return self

    @property
    def loss_ratios(self) -> LossRatios:
        """The goals in order, the first of which is the run's; one by default."""
        goals = self.goals or (GoalSettings(name=ONLY_GOAL),)
        by_caller = self._loss_ratios
        return {
            goal.name: by_caller.get(goal.name) if goal.loss_ratio is None else goal.loss_ratio
            for goal in goals
        }

    def judged_by(self, loss_ratios: LossRatios, window_s: float | None = None) -> Self:
        """How much loss a goal allows, and in how long, says what may limit it."""
        copy = self.model_copy()
        copy._loss_ratios, copy._window_s = loss_ratios, window_s
        return copy

    def begin(self, to_pps: ToPps, reach_pps: float | None = None) -> LoadLineSearch:
        """The search, at its beginning. Raises InputError naming the field."""
        minimum_pps, maximum_pps = self.resolve_range(to_pps)
        return LoadLineSearch(
            LoadLinePlan(
                minimum_pps=minimum_pps,
                maximum_pps=maximum_pps,
                width=self.width,
                duration_s=self.duration,
                watch_s=self._watch_s,
                validation_s=self.validation.duration,
                bursts=self.bursts,
                confidence=self.confidence,
                retries=self.retries,
                validation_retries=self.validation.retries,
                attempts=self.attempts,
                budget_s=self.budget,
                goals=self._goal_plans(),
                reach_pps=within(reach_pps, minimum_pps, maximum_pps),
                window_s=self._window_s,
            )
        )

    @property
    def durations(self) -> Mapping[str, float]:
        """Every length in s of trials that are judged, by its field."""
        return {"duration": self.duration, "watch": self._watch_s, **super().durations}

    @property
    def _watch_s(self) -> float:
        return min(self.watch, self.validation.duration / _WATCHED)

    def _goal_plans(self) -> tuple[GoalPlan, ...]:
        return tuple(GoalPlan(name, ratio) for name, ratio in self.loss_ratios.items())
