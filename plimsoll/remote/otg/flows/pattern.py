"""How a header field goes from frame to frame, as OTG writes it, in numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address
from typing import TypeVar

from plimsoll.remote.otg.model.given import Given
from plimsoll.traffic.frames.vary import MAX_FLOWS, MAX_VALUES

_T = TypeVar("_T")
_COUNTERS = {"increment": 1, "decrement": -1}


@dataclass(frozen=True, slots=True)
class Pattern:
    """The first value, and what follows: `count` values each `step` further, or `values`.

    `drawn` of them are numbers from `first` on, as `seed` decides. With one value it stands.
    """

    first: int
    count: int = 1
    step: int = 0
    values: tuple[int, ...] = ()
    drawn: bool = False
    seed: int = 0

    @property
    def varies(self) -> bool:
        """Whether frames differ in it."""
        return self.count > 1

    def shifted(self, bits: int, low: int = 0) -> Pattern:
        """The same in a wider field, with `low` in the `bits` below it."""
        return replace(
            self,
            first=(self.first << bits) | low,
            step=self.step << bits,
            values=tuple((value << bits) | low for value in self.values),
        )


def listed(values: tuple[int, ...]) -> Pattern:
    """One value after the other."""
    return Pattern(values[0], count=len(values), values=values if len(values) > 1 else ())


def number_of(value: object) -> int:
    """A number, or the bits of a MAC, IPv4 or IPv6 address. Raises ValueError."""
    text = str(value).strip()
    if text.count(":") == 5 and "::" not in text and all(len(p) == 2 for p in text.split(":")):
        return int(text.replace(":", ""), 16)
    if ":" in text:
        return int(IPv6Address(text))
    return int(IPv4Address(text)) if "." in text else int(text)


def read_pattern(given: Given) -> Pattern | None:
    """The pattern of a field; None where it says `auto`.

    Raises Refusal for tags, and for more values than can be sent.
    """
    choice = given.choice
    if given.has("metric_tags"):
        raise given.refused("metric_tags", "fields are not tracked", "leave it out")
    match choice:
        case "value":
            return Pattern(_number(given, "value"))
        case "values":
            values = tuple(_numbers(given, "values"))
            if not 1 <= len(values) <= MAX_VALUES:
                raise given.refused(
                    "values", f"{len(values)} values", f"give 1 to {MAX_VALUES} of them"
                )
            return listed(values)
        case "increment" | "decrement":
            return _counter(given.part(choice), _COUNTERS[choice])
        case "random":
            return _random(given.part("random"))
        case "auto":
            given.leave("auto")
            return None
    raise given.refused("choice", f"{choice} is not supported")


def _counter(given: Given, sign: int) -> Pattern:
    count = _count(given, MAX_FLOWS)
    return Pattern(_number(given, "start"), count, sign * _number(given, "step"))


def _random(given: Given) -> Pattern:
    least, most = _number(given, "min"), _number(given, "max")
    if least > most:
        raise given.refused("min", f"{given.value('min')} is more than max")
    count, seed = _count(given, 2**32), given.whole("seed")
    if count <= MAX_VALUES:
        # As in all traffic, chance is repeatable, and no secret.
        chance = random.Random(seed)  # noqa: S311
        return listed(tuple(chance.randint(least, most) for _ in range(count)))
    if most - least >= MAX_FLOWS:
        raise given.refused(
            "count", f"{count} values out of {most - least + 1}", f"give at most {MAX_VALUES}"
        )
    return Pattern(least, most - least + 1, 1, drawn=True, seed=seed)


def _count(given: Given, most: int) -> int:
    count = given.whole("count")
    if not 1 <= count <= most:
        raise given.refused("count", f"found {count}", f"give 1 to {most}")
    return count


def _number(given: Given, field: str) -> int:
    return _checked(given, field, lambda: number_of(given.value(field)))


def _numbers(given: Given, field: str) -> list[int]:
    return _checked(given, field, lambda: [number_of(each) for each in given.value(field)])


def _checked(given: Given, field: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except ValueError:
        raise given.refused(field, f"found {given.value(field)!r}") from None
