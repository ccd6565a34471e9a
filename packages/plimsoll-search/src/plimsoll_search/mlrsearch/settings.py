"""What a Multiple Loss Ratio search and its goals can be told, as written under `search`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeInt, field_validator, model_validator

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
from ..text.errors import did_you_mean, mistake
from ..text.units import RatioField
from .goal import Goal, LoadSpan, MlrPlan, ValidationPlan
from .search import MlrSearch

# FD.io CSIT, "MLR Search", section "Search Goals" of its test methodology: 1 s trials, 21 s
# of them in all, half of which may exceed. (CSIT counts the pauses between its trials as
# part of their duration, so that seven to a load are enough for it, where we take eleven.)
_CSIT = {
    "exceed_ratio": "50%",
    "width": "0.5%",
    "initial_trial_duration": "1s",
    "final_trial_duration": "1s",
    "duration_sum": "21s",
}

PRESETS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        # The non-drop and the partial drop rate.
        "csit-ndr": {"loss_ratio": "0%", **_CSIT},
        "csit-pdr": {"loss_ratio": "0.5%", **_CSIT},
        # RFC 9971, "MLRsearch Compliant with RFC 2544": unconditionally so (section 24).
        "rfc2544": {
            "loss_ratio": "0%",
            "exceed_ratio": "0%",
            "final_trial_duration": "60s",
            "duration_sum": "60s",
        },
        # RFC 9971, "MLRsearch Compliant with TST009": binary search with loss verification
        # (ETSI GS NFV-TST 009, 12.3.3), where a lossy trial is repeated once.
        "tst009": {
            "loss_ratio": "0%",
            "exceed_ratio": "50%",
            "final_trial_duration": "60s",
            "duration_sum": "120s",
        },
    }
)


# More trials at one load than anybody has the patience for.
_MAX_TRIALS = 10_000


class MlrGoalSettings(GoalSettings):
    """RFC 9971's goal attributes; what is not said is as CSIT has it.

    `loss_ratio`, over all directions as in the RFC, says which trials are high-loss; without it
    the caller does. A goal written as no more than a name, or with a
    `preset`, begins with what that preset says.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] = ONLY_GOAL
    # Of the duration sum, the share that high-loss trials may have at a lower bound.
    exceed_ratio: Annotated[RatioField, Field(lt=1)] = 0.5
    # How far the bounds may be apart, as a share of the upper one; no tester paces finer
    # than a millionth.
    width: Annotated[RatioField, Field(ge=1e-6, le=0.5)] = 0.005
    # Of the shortest trials; by default the final ones'.
    initial_trial_duration: TrialDurationField | None = None
    # Of the shortest trials that can make a load a lower bound.
    final_trial_duration: TrialDurationField = 1.0
    # So long, all trials at a load together classify it.
    duration_sum: TrialDurationField = 21.0

    @model_validator(mode="before")
    @classmethod
    def _begin_with_the_preset(cls, given: Any) -> Any:
        if isinstance(given, str):
            given = {"preset": given}
        if not isinstance(given, dict) or "preset" not in given:
            return given
        written = dict(given)
        name = str(written.pop("preset"))
        if name not in PRESETS:
            raise mistake(f"unknown preset {name!r}", did_you_mean(name, PRESETS))
        return {"name": name, **PRESETS[name], **written}

    @model_validator(mode="after")
    def _durations_rise(self) -> Self:
        initial, final = self.shortest_trial_s, self.final_trial_duration
        if initial > final:
            remedy = f"give at most the final one, {final:g}s"
            raise mistake(f"is {initial:g} s", remedy, "initial_trial_duration")
        if final > self.duration_sum:
            # The RFC allows it and advises against it: a load is then decided by less.
            remedy = f"give at least the final trial duration, {final:g}s"
            raise mistake(f"is {self.duration_sum:g} s", remedy, "duration_sum")
        if self.duration_sum > _MAX_TRIALS * initial:
            remedy = f"give at most {_MAX_TRIALS} times the initial trial duration"
            raise mistake(f"is {self.duration_sum:g} s", remedy, "duration_sum")
        return self

    @property
    def shortest_trial_s(self) -> float:
        """The initial trial duration, in s."""
        if self.initial_trial_duration is None:
            return self.final_trial_duration
        return self.initial_trial_duration

    @property
    def goal(self) -> Goal:
        """What the search is to reach."""
        return Goal(
            name=self.name,
            exceed_ratio=self.exceed_ratio,
            width=self.width,
            initial_duration_s=self.shortest_trial_s,
            final_duration_s=self.final_trial_duration,
            duration_sum_s=self.duration_sum,
        )


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
