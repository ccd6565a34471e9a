"""One goal, as written under `search.goals`."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from ..strategy.ask import ONLY_GOAL
from ..strategy.settings import GoalSettings, TrialDurationField
from ..text.mistakes import did_you_mean, mistake
from ..text.units import RatioField
from .goal import Goal
from .presets import PRESETS

# More trials at one load than anybody has the patience for.
_MOST_TRIALS = 10_000


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
        if self.duration_sum > _MOST_TRIALS * initial:
            remedy = f"give at most {_MOST_TRIALS} times the initial trial duration"
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
