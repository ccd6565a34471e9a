"""Rates, durations, ratios and latencies as people write them.

Every `parse_` function raises InputError (without a place: the caller knows it)
that says what was found and how to write it. The `…Field` types are the same
parsers for pydantic models; they write back text that the parser reads again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal, TypeVar

from pydantic import (
    BeforeValidator,
    PlainSerializer,
    SerializationInfo,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from .errors import InputError
from .wire import l1_bits, l2_bits, max_pps

RateUnit = Literal["pps", "l1_bps", "l2_bps", "percent", "multiplier"]
T = TypeVar("T")

# The context in which pydantic validates what people wrote: numbers need their units.
WRITTEN = {"written": True}

# Digits as keyboards have them; those of other scripts look like letters to most readers.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(\S*)\s*", re.IGNORECASE)
_DURATION_PART = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([^\W\d_]+)")

_RATE_UNITS: dict[str, RateUnit] = {
    "pps": "pps",
    "bps": "l1_bps",
    "bps-l1": "l1_bps",
    "bps-l2": "l2_bps",
    "%": "percent",
    "x": "multiplier",
}
_RATE_SUFFIXES: dict[RateUnit, str] = {
    "pps": "pps",
    "l1_bps": "bps-l1",
    "l2_bps": "bps-l2",
    "percent": "%",
    "multiplier": "x",
}
# The micro sign, and the Greek letter that stands on keyboards (U+00B5, U+03BC).
_MICRO_SIGN, _GREEK_MU = "µ", "μ"
_PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SECONDS = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "m": Decimal(60),
    "min": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}

# Smaller ratios are written as powers of ten, as frame and bit error ratios are.
_MIN_PERCENT = 1e-8
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Of latencies: 5m is likelier milliseconds than minutes.
_LATENCY_UNITS = frozenset({"ns", "us", "µs", "ms", "s"})

_RATE_REMEDY = "write for example 500kpps, 2.5Mpps, 10Gbps (layer 1), 5Gbps-l2, 60% or 1.5x"
_DURATION_REMEDY = "write for example 250ms, 3s, 1m30s or 2h"
_RATIO_REMEDY = "write for example 0.002% or 2e-5"
_LATENCY_REMEDY = "write for example 800ns, 500us or 2ms"


@dataclass(frozen=True, slots=True)
class Rate:
    """A load as the user states it: `value` in `unit`, above zero and finite."""

    value: float
    unit: RateUnit

    def to_pps(
        self, frame_size: float, line_rate_bps: float | None, profile_pps: float | None
    ) -> float:
        """Frames a second of `frame_size` bytes (with FCS; a mean where sizes differ).

        Raises InputError for a percentage without a line rate, and for a
        multiplier of a profile that states no rate of its own.
        """
        match self.unit:
            case "pps":
                return self.value
            case "l1_bps":
                return self.value / l1_bits(frame_size)
            case "l2_bps":
                return self.value / l2_bits(frame_size)
            case "percent":
                return self.value / 100 * max_pps(frame_size, self._line_rate(line_rate_bps))
            case "multiplier":
                return self.value * self._profile_rate(profile_pps)

    def __str__(self) -> str:
        """Text that `parse_rate` reads back to this very rate."""
        return f"{_exact(self.value)}{_RATE_SUFFIXES[self.unit]}"

    def _line_rate(self, line_rate_bps: float | None) -> float:
        if line_rate_bps is None:
            raise InputError(
                f"{self} is a share of the line rate, and these ports have none",
                remedy="state the load in pps or bps, or give the lab's line_rate",
            )
        return line_rate_bps

    def _profile_rate(self, profile_pps: float | None) -> float:
        if profile_pps is None:
            raise InputError(
                f"{self} multiplies the profile's own rate, and the profile states none in pps",
                remedy="state the load in pps, or give the profile's load streams rates in pps",
            )
        return profile_pps


def parse_rate(given: object) -> Rate:
    """A rate from text with its unit such as "2.5 Mpps", or from a number of pps."""
    if isinstance(given, Rate):
        return given
    number, unit_text = _quantity(given, "rate", _RATE_REMEDY)
    _check_bits(number, unit_text, given)
    suffix = unit_text.lower()
    if not suffix and isinstance(given, str):
        raise _without_unit(given, "rate")
    unit, factor = _rate_unit(suffix or "pps", given)
    value = _finite(number * factor, given, "rate", _RATE_REMEDY)
    if value <= 0:
        raise InputError(f"a rate of {given} sends nothing", remedy="give a rate above zero")
    return Rate(value, unit)


def parse_duration(given: object) -> float:
    """Seconds, above zero, from text such as "1m30s", or from a number of seconds."""
    if not isinstance(given, str):
        number, _ = _quantity(given, "duration", _DURATION_REMEDY)
    elif re.fullmatch(_NUMBER, given.strip(), re.IGNORECASE):
        raise _without_unit(given, "duration")
    else:
        number = _sum_of_parts(given, "duration", _SECONDS, _DURATION_REMEDY)
    seconds = _finite(number, given, "duration", _DURATION_REMEDY)
    if seconds <= 0:
        raise InputError(f"a duration of {given} is not positive", remedy="give a time above zero")
    return seconds


def parse_ratio(given: object) -> float:
    """A share between 0 and 1 from text such as "0.002%" or "2e-5", or from a number.

    Text with neither per cent nor an exponent is refused but for 0 and 1: bench-trafficgen's
    `--max-loss-pct 0.002` is per cent, and a hundred times that as a share.
    """
    number, suffix = _quantity(given, "ratio", _RATIO_REMEDY)
    if suffix not in ("", "%"):
        raise InputError(f"{given!r} is not a ratio", remedy=_RATIO_REMEDY)
    if isinstance(given, str) and not suffix and _ambiguous(number, given):
        raise _ambiguous_ratio(given, number)
    ratio = _finite(number / 100 if suffix else number, given, "ratio", _RATIO_REMEDY)
    if not 0 <= ratio <= 1:
        raise InputError(f"{given} is not between 0 and the whole", remedy=_RATIO_REMEDY)
    return ratio


def parse_latency_ns(given: object) -> int:
    """Whole nanoseconds, above zero, from text such as "500us"; a bare number is refused."""
    if not isinstance(given, str):
        raise InputError(f"a latency of {given} has no unit", remedy=_LATENCY_REMEDY)
    seconds = _sum_of_parts(given, "latency", _LATENCY_UNITS, _LATENCY_REMEDY)
    latency_ns = int(seconds * 10**9)
    if latency_ns <= 0:
        raise InputError(f"a latency of {given} is below 1ns", remedy=_LATENCY_REMEDY)
    return latency_ns


def format_pps(pps: float) -> str:
    """For people: "500 kpps", three or four digits."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        # 0.99995 of the next prefix already rounds up to it at four digits.
        if pps >= factor * 0.99995:
            return f"{pps / factor:.4g} {prefix}pps"
    return f"{pps:.4g} pps"


def format_ns(ns: float) -> str:
    """For people: "12.4 µs", three or four digits."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= factor * 0.99995:
            return f"{ns / factor:.4g} {unit}"
    return f"{ns:.4g} ns"


def format_duration(seconds: float) -> str:
    """For people: "1h02m", "1m30s", "2.5s" or "250ms"."""
    if seconds < 1:
        return f"{seconds * 1000:.4g}ms"
    if round(seconds, 1) < 60:
        return f"{round(seconds, 1):g}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    return f"{minutes // 60}h{minutes % 60:02d}m"


def format_ratio(ratio: float) -> str:
    """For people: "0.002 %"; below a frame in a hundred million "5.2 · 10⁻¹¹", no row of zeros."""
    if 0 < abs(ratio) < _MIN_PERCENT:
        digits, _, power = f"{ratio:.1e}".partition("e")
        return f"{digits} · 10{str(int(power)).translate(_RAISED)}"
    return f"{format_number(ratio * 100)} %"


def format_number(value: float, digits: int = 4) -> str:
    """For people: so many significant digits, and never an exponent."""
    return f"{Decimal(f'{value:.{digits}g}'):,f}"


def in_units_of(given: object, limit: float) -> str:
    """A limit in seconds or of the whole, written with units if what was `given` has some."""
    match = _QUANTITY.fullmatch(given) if isinstance(given, str) else None
    if match and match[2] == "%":
        return f"{limit * 100:g}%"
    if not isinstance(given, str) or (match and not match[2]):
        return f"{limit:.15g}" if isinstance(limit, float) else str(limit)
    seconds = Decimal(repr(limit))
    for unit in ("d", "h", "s", "ms", "us", "ns"):
        if seconds >= _SECONDS[unit] and seconds % _SECONDS[unit] == 0:
            return f"{int(seconds / _SECONDS[unit])}{unit}"
    return f"{limit:g}s"


def _quantity(given: object, what: str, remedy: str) -> tuple[Decimal, str]:
    """The number and the unit (perhaps empty) of text or of a plain number."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise InputError(f"{given!r} is not a {what}", remedy=remedy)
    match = _QUANTITY.fullmatch(str(given))
    if match is None:
        raise InputError(f"{given!r} is not a {what}", remedy=remedy)
    return Decimal(match[1]), match[2]


def _ambiguous(number: Decimal, written: str) -> bool:
    """Whether a ratio may as well be meant in per cent."""
    return 0 < number < 1 and "e" not in written.lower()


def _ambiguous_ratio(given: object, number: Decimal) -> InputError:
    share = f"{number:e}".replace("+", "")
    return InputError(
        f"a ratio of {given} may be a share or per cent",
        remedy=f"write {str(given).strip()}% or {share}",
    )


def _without_unit(given: object, what: Literal["rate", "duration"]) -> InputError:
    number = str(given).strip()
    example = (
        f"{number}pps if that is meant" if what == "rate" else f"{number}s if seconds are meant"
    )
    return InputError(f"a {what} of {given} has no unit", remedy=f"write {example}")


def _check_written(given: object, what: Literal["rate", "duration", "ratio"]) -> None:
    """Raise InputError for a number in a document whose unit its writer left out."""
    if isinstance(given, bool) or not isinstance(given, int | float) or given == 0:
        return
    if not math.isfinite(given):
        raise InputError(f"{given} is not a {what}", remedy="write a number, and its unit")
    # As YAML and JSON have it after parsing: 2.0e-5 is known by its size alone.
    if what == "ratio" and _ambiguous(Decimal(repr(given)), repr(given)):
        raise _ambiguous_ratio(given, Decimal(repr(given)))
    if what != "ratio":
        raise _without_unit(given, what)


def _check_bits(number: Decimal, unit: str, given: object) -> None:
    """Raise InputError for bytes a second (MBps), which are eight times as many bits."""
    match = re.fullmatch(r"([kmgt]?)B(?:ps|/s)(-l[12])?", unit, re.IGNORECASE)
    if match is None or "B" not in unit:
        return
    bits = f"{(number * 8).normalize():f}{match[1]}bps{match[2] or ''}"
    raise InputError(
        f"{given!r} is in bytes a second, as B means bytes",
        remedy=f"write {bits}, or b for bits",
    )


def _rate_unit(suffix: str, given: object) -> tuple[RateUnit, int]:
    for prefix, factor in _PREFIXES.items():
        name = suffix.removeprefix(prefix)
        scaled = prefix and name in ("%", "x")
        if suffix.startswith(prefix) and name in _RATE_UNITS and not scaled:
            return _RATE_UNITS[name], factor
    raise InputError(f"{given!r} has an unknown unit {suffix!r}", remedy=_RATE_REMEDY)


def _sum_of_parts(text: str, what: str, units: Collection[str], remedy: str) -> Decimal:
    """Seconds from a row of numbers with units, as these are written, all of the text used."""
    total, end = Decimal(0), 0
    while match := _DURATION_PART.match(text, end):
        unit = match[2].replace(_GREEK_MU, _MICRO_SIGN)
        if unit not in units:
            raise InputError(f"{text!r} has an unknown unit {match[2]!r}", remedy=remedy)
        total += Decimal(match[1]) * _SECONDS[unit]
        end = match.end()
    if not end or text[end:].strip():
        raise InputError(f"{text!r} is not a {what}", remedy=remedy)
    return total


def _finite(number: Decimal, given: object, what: str, remedy: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise InputError(f"{given} is too large for a {what}", remedy=remedy)
    return value


def _exact(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _parse_pps(given: object) -> float:
    """Frames a second. Raises InputError for rates in other units."""
    if isinstance(given, float | int) and not isinstance(given, bool):
        return float(given)
    rate = parse_rate(given)
    if rate.unit != "pps":
        raise InputError(
            f"{given!r} is not in frames a second", where="rate", remedy="write it as in 1Mpps"
        )
    return rate.value


def _as_validator(
    parse: Callable[[object], T], what: Literal["rate", "duration", "ratio"] | None = None
) -> Callable[[object, ValidationInfo], T]:
    """The parser with its InputError turned into one that pydantic gives a place.

    In documents that people write (WRITTEN), numbers need the unit of `what`; in those that
    Plimsoll wrote they are pps, seconds and shares.
    """

    def validate(given: object, info: ValidationInfo) -> T:
        try:
            if what is not None and _is_written(info.context):
                _check_written(given, what)
            return parse(given)
        except InputError as error:
            raise PydanticCustomError(
                "unit", "{problem}", {"problem": error.message, "remedy": error.remedy}
            ) from None

    return validate


def _is_written(context: object) -> bool:
    return isinstance(context, Mapping) and WRITTEN.items() <= context.items()


def _as_serializer(
    write: Callable[[Decimal], str],
) -> Callable[[float | None, SerializationInfo], float | str | None]:
    """The value itself, or as `write` has it where people will read and change it."""

    def serialize(value: float | None, info: SerializationInfo) -> float | str | None:
        if not value or not _is_written(info.context):
            return value
        return write(Decimal(_exact(value)))

    return serialize


_TEXT_OR_NUMBER = WithJsonSchema({"type": ["string", "number"]})

RateField = Annotated[
    Rate, BeforeValidator(_as_validator(parse_rate, "rate")), PlainSerializer(str), _TEXT_OR_NUMBER
]
# Numbers of pps, seconds and shares, also where they are dumped; with units in what is dumped
# as people write it (WRITTEN).
PpsField = Annotated[
    float,
    BeforeValidator(_as_validator(_parse_pps, "rate")),
    PlainSerializer(_as_serializer(lambda pps: f"{pps:f}pps")),
    _TEXT_OR_NUMBER,
]
DurationField = Annotated[
    float,
    BeforeValidator(_as_validator(parse_duration, "duration")),
    PlainSerializer(_as_serializer(lambda seconds: f"{seconds:f}s")),
    _TEXT_OR_NUMBER,
]
RatioField = Annotated[
    float,
    BeforeValidator(_as_validator(parse_ratio, "ratio")),
    PlainSerializer(_as_serializer(lambda share: f"{(100 * share).normalize():f}%")),
    _TEXT_OR_NUMBER,
]
LatencyField = Annotated[
    int,
    BeforeValidator(_as_validator(parse_latency_ns)),
    PlainSerializer(lambda latency_ns: f"{latency_ns}ns", return_type=str),
    WithJsonSchema({"type": "string"}),
]
