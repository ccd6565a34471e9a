"""An experiment's `search`: the library's strategies, for goals that criteria judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self, Union

from pydantic import Field, model_validator

from plimsoll.search.load_line.settings import LoadLineSettings
from plimsoll.search.mlrsearch.settings import MlrGoalSettings, MlrSettings
from plimsoll.search.registry import strategy_models
from plimsoll.search.strategy.ask import ONLY_GOAL
from plimsoll.search.strategy.settings import GoalSettings, SearchModel
from plimsoll.text.mistakes import mistake
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.criteria.registry import CriterionSettings

# By name, a goal's criteria; None stands for the experiment's own.
GoalCriteria = Mapping[str, tuple[CriterionSettings, ...] | None]


class JudgedGoal(GoalSettings):
    """A goal with criteria of its own; without any, those of the experiment are its own.

    `loss_ratio` is short for criteria that allow so much loss, over all directions.
    """

    criteria: Annotated[tuple[CriterionSettings, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> Self:
        if self.loss_ratio is not None and self.criteria is not None:
            raise mistake("loss_ratio and criteria both say which trials fail", "give one of them")
        return self

    @property
    def judged_by(self) -> tuple[CriterionSettings, ...] | None:
        """The criteria; None stands for the experiment's own."""
        if self.loss_ratio is None:
            return self.criteria
        loss = LossRatio(at_most=self.loss_ratio, per="total")
        # A frame that comes back broken or at the wrong port is as good as lost.
        return (loss, FrameCount(kind="corrupt"), FrameCount(kind="misdirected"))


class JudgedMlrGoal(MlrGoalSettings, JudgedGoal):
    """RFC 9971's goal attributes, and which trials are high-loss."""

    @model_validator(mode="before")
    @classmethod
    def _criteria_in_place_of_the_presets_loss(cls, given: Any) -> Any:
        if isinstance(given, dict) and "preset" in given and given.get("criteria") is not None:
            return {"loss_ratio": None, **given}
        return given


class JudgedLoadLine(LoadLineSettings):
    """`load-line` in an experiment."""

    goals: tuple[JudgedGoal, ...] = ()


class JudgedMlr(MlrSettings):
    """`mlrsearch` in an experiment."""

    goals: Annotated[tuple[JudgedMlrGoal, ...], Field(min_length=1)] = (JudgedMlrGoal(),)


_JUDGED: dict[type[SearchModel], type[SearchModel]] = {
    MlrSettings: JudgedMlr,
    LoadLineSettings: JudgedLoadLine,
}
# An experiment's `search`: every strategy there is, and for goals those above.
if TYPE_CHECKING:

    class ExperimentSearch(SearchModel):
        """Any of them."""

        strategy: str

else:
    ExperimentSearch = Annotated[
        Union[tuple(_JUDGED.get(each, each) for each in strategy_models())],  # noqa: UP007
        Field(discriminator="strategy"),
    ]


def goal_criteria(search: SearchModel) -> GoalCriteria:
    """The goals in order, the first of which is the run's; one by default."""
    if isinstance(search, JudgedMlr | JudgedLoadLine) and search.goals:
        return {goal.name: goal.judged_by for goal in search.goals}
    return {ONLY_GOAL: None}


def judged_by_criteria(
    search: ExperimentSearch, criteria: tuple[CriterionSettings, ...], window_s: float | None
) -> ExperimentSearch:
    """The same, knowing how much loss its goals allow where an experiment has these criteria.

    A validation of two windows or more is judged in each of them as well.
    """
    by_goal = goal_criteria(search)
    allowed = {name: loss_allowed(own or criteria) for name, own in by_goal.items()}
    return search.judged_by(allowed, window_s)


def loss_allowed(criteria: tuple[CriterionSettings, ...]) -> float:
    """The share of frames that may be lost; all of them where no criterion is about loss."""
    return min((each.at_most for each in criteria if isinstance(each, LossRatio)), default=1.0)
