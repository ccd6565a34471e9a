"""The settings of a soak, apart from its experiment."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from plimsoll.benchmark.experiment.trial_settings import SHORTEST_WINDOW_S, check_trial_duration
from plimsoll.errors import InputError
from plimsoll.text.units import DurationField, RateField, RatioField, format_duration


class SoakSettings(BaseModel):
    """A load per direction for so long, judged in windows; times in s."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    load: RateField
    duration_s: DurationField
    window_s: DurationField
    stop_on_failure: bool = False
    # A window in twenty: more, and the tester is not fit to judge such a latency there.
    undecided: RatioField = 0.05

    def check(self) -> None:
        """Raise InputError, naming the option, where no soak can be like this."""
        check_trial_duration(self.duration_s, "--duration")
        if self.duration_s < SHORTEST_WINDOW_S:
            raise InputError(
                f"a soak of {format_duration(self.duration_s)} is too short to judge",
                where="--duration",
                remedy=f"give {format_duration(SHORTEST_WINDOW_S)} or more",
            )
        if self.window_s < SHORTEST_WINDOW_S:
            raise InputError(
                f"a window of {format_duration(self.window_s)} is too short to judge",
                where="--window",
                remedy=f"give {format_duration(SHORTEST_WINDOW_S)} or more",
            )
        if self.window_s > self.duration_s:
            raise InputError(
                f"a window of {format_duration(self.window_s)} is longer than the soak",
                where="--window",
                remedy=f"give {format_duration(self.duration_s)} or less",
            )

    @classmethod
    def recorded(cls, journalled: object, where: str) -> Self:
        """As the journal at `where` has it. Raises InputError for one of another version."""
        try:
            return cls.model_validate(journalled)
        except ValidationError as error:
            raise InputError(
                "the settings that this soak began with cannot be read",
                where=where,
                remedy="read it with the version of plimsoll that wrote it, or start a new soak",
            ) from error
