"""When a stream's frames go, as people write it: its pacing, and its part of a trial."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.text.units import DurationField, parse_duration
from plimsoll.traffic.plan import ALL_THE_TIME, LONGEST_TRIAL_S, Pacing, Schedule

_PLAIN = {
    "constant": Pacing(),
    "poisson": Pacing("poisson"),
    "captured": Pacing("captured"),
    "back-to-back": Pacing("back-to-back"),
    "one-in-flight": Pacing("one-in-flight"),
}
_WITH_OPTIONS = ("burst", "poisson", "one-in-flight")
_FORMS = (
    "write constant, {burst: 32}, poisson, {poisson: {seed: 7}}, captured, back-to-back or "
    "{one-in-flight: {timeout: 100ms}}"
)
_MAX_BURST_FRAMES = 65_536
_LONGEST_TIMEOUT_S = 10.0


def parse_pacing(given: object) -> Pacing:
    """A pacing from its name, or from its name with options; raises a mistake."""
    if isinstance(given, Pacing):
        return given
    if isinstance(given, str) and given in _PLAIN:
        return _PLAIN[given]
    if not isinstance(given, dict) or len(given) != 1:
        raise mistake(f"{given!r} is not a pacing", _FORMS)
    ((kind, options),) = given.items()
    if kind == "burst":
        return Pacing("burst", burst_frames=_whole(options, "burst", 1, _MAX_BURST_FRAMES))
    if kind == "poisson":
        return Pacing("poisson", seed=_whole(_option(options, "seed"), "seed", 0, 2**63 - 1))
    if kind == "one-in-flight":
        return Pacing("one-in-flight", timeout_us=_timeout_us(_option(options, "timeout")))
    raise mistake(f"{kind!r} is not a pacing with options", did_you_mean(str(kind), _WITH_OPTIONS))


def written_pacing(pacing: Pacing) -> str | dict[str, object]:
    """What `parse_pacing` reads back to this very pacing."""
    match pacing.kind:
        case "burst":
            return {"burst": pacing.burst_frames}
        case "poisson":
            return {"poisson": {"seed": pacing.seed}}
        case "one-in-flight":
            return {"one-in-flight": {"timeout": f"{pacing.timeout_us:.15g}us"}}
        case _:
            return pacing.kind


def _option(options: object, name: str) -> object:
    if not isinstance(options, dict) or list(options) != [name]:
        raise mistake(f"found {options!r}", f"give {name}, as in: {_FORMS.removeprefix('write ')}")
    return options[name]


def _whole(value: object, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise mistake(f"{name}: found {value!r}", f"give a whole number from {least} to {most}")
    return value


def _timeout_us(value: object) -> float:
    try:
        seconds = parse_duration(value)
    except InputError as error:
        raise mistake(f"timeout: {error.message}", error.remedy) from None
    if not 1e-6 <= seconds <= _LONGEST_TIMEOUT_S:
        raise mistake(f"timeout: found {value!r}", "give a time from 1us to 10s")
    return seconds * 1e6


PacingField = Annotated[
    Pacing,
    BeforeValidator(parse_pacing),
    PlainSerializer(written_pacing),
    WithJsonSchema({"type": ["string", "object"]}),
]


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
