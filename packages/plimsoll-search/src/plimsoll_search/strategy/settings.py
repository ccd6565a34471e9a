"""What every strategy's settings share, as written in an experiment under `search`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from ..text.errors import InputError
from ..text.units import DurationField, Rate, RateField, RatioField, format_pps
from .ask import ONLY_GOAL, Search

# Below, nothing is measured; above, a unit was mistaken.
SHORTEST_TRIAL_S = 0.001
LONGEST_TRIAL_S = 7 * 86400

TrialDurationField = Annotated[DurationField, Field(ge=SHORTEST_TRIAL_S, le=LONGEST_TRIAL_S)]

# Turns a load, given in a field of `search`, into pps per direction. Raises InputError.
ToPps = Callable[[str, Rate], float]
# By goal, the share of frames that it lets be lost; None where only the caller knows.
LossRatios = Mapping[str, float | None]


class ValidationSettings(BaseModel):
    """The long trial that a load must pass to be the load line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    duration: TrialDurationField = 60.0
    # How often in a row an invalid trial is run again.
    retries: NonNegativeInt = 3


class GoalSettings(BaseModel):
    """What to look for, by a name of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    # The share of frames that a trial may lose and still pass; null leaves it to the caller.
    loss_ratio: Annotated[RatioField, Field(lt=1)] | None = None


class SearchModel(BaseModel, ABC):
    """The settings of one strategy. A subclass adds `strategy: Literal[...]`."""

    # Whether its search goes by the verdicts of trials alone, and not by their loss.
    by_verdicts_alone: ClassVar[bool] = False

    model_config = ConfigDict(extra="forbid", frozen=True)

    minimum: RateField
    maximum: RateField
    # A strategy that always validates narrows this to settings.
    validation: ValidationSettings | None = ValidationSettings()

    @property
    def loads(self) -> Mapping[str, Rate]:
        """Every load that the settings name, by its field."""
        return {"minimum": self.minimum, "maximum": self.maximum}

    @property
    def durations(self) -> Mapping[str, float]:
        """Every length in s of trials that are judged, by its field."""
        return {} if self.validation is None else {"validation.duration": self.validation.duration}

    @property
    def loss_ratios(self) -> LossRatios:
        """The goals in order, the first of which is the run's; one by default."""
        return {ONLY_GOAL: None}

    @property
    def repetitions(self) -> int:
        """How often the trial that proves a load line is run, each time to be passed."""
        return 1

    def judged_by(self, loss_ratios: LossRatios, window_s: float | None = None) -> Self:
        """The same for trials that pass with so much loss; most need not know.

        A validation of two windows or more is judged by it in each window as well.
        """
        return self

    @abstractmethod
    def begin(self, to_pps: ToPps, reach_pps: float | None = None) -> Search:
        """The search, at its beginning; `reach_pps` is the highest load that the tester offers.

        It asks for no load above that but the minimum; None where it is not known.
        Raises InputError naming the field for a load that cannot be told in pps, and for
        loads out of order.
        """

    def validated_for(self, duration_s: float) -> Self:
        """The same with another length of the validation, which it then has in any case."""
        asked: ValidationSettings = (
            self.validation or type(self).model_fields["validation"].get_default()
        )
        validation = asked.model_copy(update={"duration": duration_s})
        return self.model_copy(update={"validation": validation})

    def resolve_range(self, to_pps: ToPps) -> tuple[float, float]:
        """Minimum and maximum in pps per direction. Raises InputError."""
        minimum_pps = to_pps("minimum", self.minimum)
        maximum_pps = to_pps("maximum", self.maximum)
        if minimum_pps > maximum_pps:
            raise InputError(
                f"is {format_pps(minimum_pps)}, above the maximum of {format_pps(maximum_pps)}",
                where="search.minimum",
                remedy="give a minimum below the maximum",
            )
        return minimum_pps, maximum_pps
