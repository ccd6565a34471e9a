"""What a binary search can be told, as written in an experiment under `search`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, model_validator

from ..strategy.ask import Search
from ..strategy.question import InvalidAction, RepeatField, TrialPolicy, within
from ..strategy.settings import (
    SearchModel,
    ToPps,
    TrialDurationField,
    ValidationSettings,
)
from ..text.errors import mistake
from ..text.units import Rate, RateField, RatioField
from .bounds import BinaryPlan
from .search import BinarySearch, OneShot


class RepeatedValidation(ValidationSettings):
    """A validation that may have to pass several times."""

    # How many trials have to pass.
    repeat: RepeatField = 1


class BinarySettings(SearchModel):
    """A bisection between two loads, and the validation of what it finds."""

    by_verdicts_alone: ClassVar[bool] = True

    strategy: Literal["binary"] = "binary"
    # Where to begin; by default the maximum, and with `rise` the minimum.
    start: RateField | None = None
    # The load is multiplied by this until one fails; by default the maximum comes at once.
    # In steps of 1 % a tenfold range takes 232 trials; finer ones are a mistake.
    rise: Annotated[float, Field(ge=1.01, le=1000)] | None = None
    # The search ends when the bounds are this close, as a share of the upper one; no
    # tester paces finer than a millionth.
    granularity: Annotated[RatioField, Field(ge=1e-6)] = 0.01
    # Of a trial that looks first whether a search trial is worth it; by default there is none.
    sniff: TrialDurationField | None = None
    # Of one search trial.
    duration: TrialDurationField = 5.0
    # How many search trials have to pass.
    repeat: RepeatField = 1
    # How often in a row an invalid trial is run again.
    retries: NonNegativeInt = 3
    # What follows when it stays invalid because too little or too much was offered, it ran
    # too short or too long, or more came back than was sent.
    on_rate_failure: InvalidAction = "retry"
    on_runtime_failure: InvalidAction = "retry"
    on_negative_loss: InvalidAction = "retry"
    # Only validate the start, without a search.
    one_shot: bool = False
    validation: RepeatedValidation = RepeatedValidation()

    @model_validator(mode="after")
    def _one_shot_has_no_search(self) -> Self:
        for field in ("sniff", "rise"):
            if self.one_shot and getattr(self, field) is not None:
                raise mistake("one_shot runs no search", f"leave out {field} or one_shot", field)
        return self

    @property
    def loads(self) -> Mapping[str, Rate]:
        """Every load that the settings name, by its field."""
        loads = super().loads
        return loads if self.start is None else {**loads, "start": self.start}

    @property
    def durations(self) -> Mapping[str, float]:
        """Every length in s of trials that are judged, by its field."""
        if self.one_shot:
            return super().durations
        sniff = {} if self.sniff is None else {"sniff": self.sniff}
        return {**sniff, "duration": self.duration, **super().durations}

    @property
    def repetitions(self) -> int:
        """Of the validation."""
        return self.validation.repeat

    def begin(self, to_pps: ToPps, reach_pps: float | None = None) -> Search:
        """The search, at its beginning. Raises InputError naming the field."""
        plan = self.plan(to_pps, reach_pps)
        return OneShot(plan.validation, plan.start_pps) if self.one_shot else BinarySearch(plan)

    def plan(self, to_pps: ToPps, reach_pps: float | None = None) -> BinaryPlan:
        """The same with loads in pps per direction. Raises InputError naming the field."""
        minimum_pps, maximum_pps = self.resolve_range(to_pps)
        default_pps = maximum_pps if self.rise is None else minimum_pps
        actions = self._actions()
        validation = self.validation
        return BinaryPlan(
            minimum_pps=minimum_pps,
            maximum_pps=maximum_pps,
            start_pps=default_pps if self.start is None else to_pps("start", self.start),
            granularity=self.granularity,
            rise=self.rise,
            # A sniff that stays invalid is no reason against the search trial.
            sniff=None if self.sniff is None else TrialPolicy("sniff", self.sniff, retries=0),
            search=TrialPolicy("search", self.duration, self.retries, self.repeat, actions),
            validation=TrialPolicy(
                "validation",
                validation.duration,
                validation.retries,
                validation.repeat,
                actions,
                is_validation=True,
            ),
            reach_pps=within(reach_pps, minimum_pps, maximum_pps),
        )

    def _actions(self) -> Mapping[str, InvalidAction]:
        """By the tester's rule."""
        return {
            "offered-rate": self.on_rate_failure,
            "runtime": self.on_runtime_failure,
            "negative-loss": self.on_negative_loss,
        }
