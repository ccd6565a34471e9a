"""A stream's pacing as people write it: `poisson`, or `{burst: 32}`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.text.units import parse_duration
from plimsoll.traffic.plan import Pacing

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
_MOST_BURST_FRAMES = 65_536
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
        return Pacing("burst", burst_frames=_whole(options, "burst", 1, _MOST_BURST_FRAMES))
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
