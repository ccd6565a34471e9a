"""The search and the verdicts of a binary-search.py command line, as sections of an experiment."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plimsoll.benchmark.trafficgen.command import TrafficgenCommand
from plimsoll.benchmark.trafficgen.options import PROFILE
from plimsoll.errors import InputError
from plimsoll.text.bounded_yaml import Noted

# trafficgen's own for --rate 0 and --rate-unit %.
_WHOLE_RATE = 100.0
_LINE_RATE = 100
_DOUBLING = 2
# How many parts a trial is cut into; trafficgen makes as many as the NIC has flow counters.
_SEGMENTS = 10


def search_section(command: TrafficgenCommand) -> dict[str, Any]:
    """Its binary search. Raises InputError for a rate that Plimsoll cannot search for."""
    rate = _rate(command)
    section: dict[str, Any] = {
        "strategy": "binary",
        "minimum": _minimum(command, rate),
        **_upwards(command, rate),
        "granularity": _noted(
            command, f"{_plain(command['search-granularity'])}%", "search-granularity"
        ),
        "duration": _runtime(command, "search-runtime"),
    }
    if command.whole("sniff-runtime"):
        section["sniff"] = _runtime(command, "sniff-runtime")
    section["retries"] = _noted(command, command["max-retries"], "max-retries")
    section |= _after_retries(command)
    if command.whole("one-shot") == 1:
        section["one_shot"] = _noted(command, True, "one-shot")
        section.pop("sniff", None)
    section["validation"] = _validation(command)
    return section


def criteria_section(command: TrafficgenCommand) -> list[Any]:
    """What its trials must meet."""
    at_most = f"{_plain(command['max-loss-pct'])}%"
    ratio = {
        "kind": "loss-ratio",
        "at_most": _noted(command, at_most, "max-loss-pct"),
        "per": _noted(command, _per(command), "loss-granularity"),
    }
    criteria: list[Any] = [ratio]
    if command["stream-mode"] == "segmented" and command["traffic-generator"] != PROFILE:
        segments = Noted(_SEGMENTS, "trafficgen: as many as the NIC has flow counters")
        segment = {"kind": "segment-loss", "at_most": at_most, "segments": segments}
        criteria.append(Noted(segment, command.origin("stream-mode")))
    return [
        *criteria,
        {"kind": Noted("duplicate", _duplicates(command))},
        {"kind": "corrupt"},
        {"kind": Noted("misdirected", "trafficgen always quits on a wrong port")},
    ]


def tester_section(command: TrafficgenCommand) -> dict[str, Any]:
    """How far its generator may stray."""
    return {
        field: _noted(command, f"{_plain(command[option])}%", option)
        for field, option in (
            ("rate_tolerance", "rate-tolerance"),
            ("runtime_tolerance", "runtime-tolerance"),
        )
    }


def seconds(whole: int) -> str:
    """A time as people write it: 10800 s are 3h."""
    for length, unit in ((3600, "h"), (60, "m")):
        if whole and whole % length == 0:
            return f"{whole // length}{unit}"
    return f"{whole}s"


def _rate(command: TrafficgenCommand) -> Decimal:
    """In the unit of --rate-unit, with trafficgen's meaning of 0."""
    unit, generator = command.text("rate-unit"), command.text("traffic-generator")
    if unit not in ("%", "mpps") or (unit == "mpps" and generator == PROFILE):
        raise InputError(
            f"{unit} is not a rate that {generator} can be given",
            where="--rate-unit",
            remedy="use %" if generator == PROFILE else "use % or mpps",
        )
    if unit == "mpps" and command.text("frame-size").lower() == "imix":
        raise InputError(
            "mpps of imix, which trafficgen refuses", where="--rate-unit", remedy="use %"
        )
    rate = _not_negative(command, "rate")
    if unit == "%" and generator != PROFILE and rate > _LINE_RATE:
        raise InputError(
            f"{rate} % are more than the line rate", where="--rate", remedy="give at most 100"
        )
    if rate:
        return rate
    if unit == "%":
        return Decimal(_plain(_WHOLE_RATE))
    # trafficgen's line rate of 10 Gbps, in millions of frames a second.
    return Decimal(f"{9999 / (int(command.text('frame-size')) * 8 + 160):.6f}")


def _not_negative(command: TrafficgenCommand, name: str) -> Decimal:
    value = Decimal(_plain(command[name]))
    if value < 0:
        raise InputError(f"{value} is below zero", where=f"--{name}", remedy="give one above it")
    return value


def _minimum(command: TrafficgenCommand, rate: Decimal) -> Noted:
    least = _not_negative(command, "min-rate")
    if least > rate:
        raise InputError(
            f"{least} is above --rate, {rate}", where="--min-rate", remedy="give one below it"
        )
    if least:
        return Noted(_load(command, least), command.origin("min-rate"))
    share = _not_negative(command, "search-granularity") / 100
    if not share:
        raise InputError(
            "a search would never end",
            where="--search-granularity",
            remedy="give a percentage above zero",
        )
    return Noted(_load(command, rate * share), "without --min-rate, --search-granularity of --rate")


def _upwards(command: TrafficgenCommand, rate: Decimal) -> dict[str, Any]:
    """The maximum and, where the search may rise above its first rate, how."""
    load, origin = _load(command, rate), command.origin("rate")
    if command.whole("one-shot") == 1:
        return {"maximum": Noted(load, origin)}
    if command.flag("disable-upward-search"):
        return {"maximum": Noted(load, f"{origin}, --disable-upward-search")}
    if load == "100%":
        return {"maximum": Noted(load, f"{origin}, beyond which there is nothing")}
    return {
        "maximum": Noted("100%", "of the line rate; trafficgen doubles without end"),
        "start": Noted(load, origin),
        "rise": Noted(_DOUBLING, "no --disable-upward-search"),
    }


def _load(command: TrafficgenCommand, rate: Decimal) -> str:
    """A load as Plimsoll writes it.

    With a profile, % is of the profile's own rates; without, of the line rate.
    """
    if command["rate-unit"] == "mpps":
        return f"{_digits(rate)}Mpps"
    if command["traffic-generator"] == PROFILE:
        return f"{_digits(rate / 100)}x"
    return f"{_digits(rate)}%"


def _runtime(command: TrafficgenCommand, name: str) -> Noted:
    uniform = command.whole("uniform-trial-runtime")
    if uniform > 0 and name != "sniff-runtime":
        return Noted(seconds(uniform), command.origin("uniform-trial-runtime"))
    return Noted(seconds(command.whole(name)), command.origin(name))


def _after_retries(command: TrafficgenCommand) -> dict[str, Any]:
    """What becomes of trials that stay invalid; trafficgen retries or not, Plimsoll always."""
    negative = command.text("negative-packet-loss").removeprefix("retry-to-")
    return {
        "on_rate_failure": _noted(
            command, command["rate-tolerance-failure"], "rate-tolerance-failure"
        ),
        "on_runtime_failure": Noted("fail", "as trafficgen always does"),
        "on_negative_loss": _noted(command, negative, "negative-packet-loss"),
    }


def _validation(command: TrafficgenCommand) -> dict[str, Any]:
    section: dict[str, Any] = {
        "duration": _runtime(command, "validation-runtime"),
        "retries": _noted(command, command["max-retries"], "max-retries"),
    }
    if command.flag("repeat-final-validation"):
        section["repeat"] = Noted(2, "--repeat-final-validation; here both must pass")
    return section


def _per(command: TrafficgenCommand) -> str:
    """trafficgen's device is one direction of one pair, which is a direction here."""
    return "stream" if command["loss-granularity"] == "segment" else "direction"


def _duplicates(command: TrafficgenCommand) -> str:
    origin = command.origin("duplicate-packet-failure")
    if command["duplicate-packet-failure"] == "fail":
        return origin
    return f"{origin}; here it fails the trial"


def _noted(command: TrafficgenCommand, value: Any, name: str) -> Noted:
    return Noted(value, command.origin(name))


def _plain(value: object) -> str:
    """A number without an exponent."""
    return _digits(Decimal(repr(value)))


def _digits(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
