"""When in a trial a stream sends, as people write it: `{start: 5s, duration: 10s}`."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, model_validator

from plimsoll.text.mistakes import mistake
from plimsoll.text.units import DurationField
from plimsoll.traffic.plan import ALL_THE_TIME, LONGEST_TRIAL_S, Schedule

_SHORTEST_S = 0.001


def _written(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.15g}s"


_AsWritten = PlainSerializer(_written)
_Offset = Annotated[DurationField, Field(ge=0, le=LONGEST_TRIAL_S), _AsWritten]
_Span = Annotated[DurationField | None, Field(ge=_SHORTEST_S, le=LONGEST_TRIAL_S), _AsWritten]


class ScheduleSettings(BaseModel):
    """From `start` on, for `duration` or to the trial's end.

    With `repeat` the stream sends again `pause` after it ended, over and over.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: _Offset = 0.0
    duration: _Span = None
    repeat: bool = False
    pause: _Span = None

    @model_validator(mode="after")
    def _leaves_something_out(self) -> Self:
        if self.repeat and self.duration is None:
            problem = "a stream that sends to the trial's end cannot repeat"
            raise mistake(problem, "give duration, or remove repeat", "repeat")
        if self.repeat and self.pause is None:
            problem = "without a pause the repetitions are one"
            raise mistake(problem, "give pause, such as 5s, or remove repeat", "pause")
        if self.pause is not None and not self.repeat:
            problem = "nothing follows the pause"
            raise mistake(problem, "give repeat: true, or remove pause", "pause")
        if self.start == 0 and self.duration is None:
            raise mistake("it sends all the time", "give start or duration, or remove schedule")
        return self

    def plan(self) -> Schedule:
        """The same for a plan."""
        return Schedule(self.start, self.duration, self.pause)


def planned_schedule(settings: ScheduleSettings | None) -> Schedule:
    """The schedule of a stream that may have none."""
    return ALL_THE_TIME if settings is None else settings.plan()
