"""Numbers of things and of bytes, for people."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime

_NS_PER_S = 10**9
# Each as long as it has to be for the next longer unit to be one whole.
_AGES = ((86_400, "d"), (3600, "h"), (60, "min"))


def counted(number: int, noun: str) -> str:
    """ "1 VF", "2 VFs", "0 hugepages of 1G": the s goes before an " of ", else to the end."""
    head, of, rest = noun.partition(" of ")
    return f"{number} {head}{'' if number == 1 else 's'}{of}{rest}"


def was(number: int) -> str:
    """The verb of so many: "1 of 8 trials was", "2 of 8 trials were"."""
    return "was" if number == 1 else "were"


def size_text(size: int) -> str:
    """Bytes for people, in powers of 1000: "12.3 MB"."""
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= factor:
            return f"{size / factor:.3g} {prefix}B"
    return f"{size} B"


# How long ago something was, for people.
def age(unix_ns: int | None, now: datetime) -> str:
    """How long ago: "5 min ago", "3 h ago", "12 d ago"; a dash where that is not known."""
    if unix_ns is None:
        return "-"
    seconds = now.timestamp() - unix_ns / _NS_PER_S
    for unit_s, unit in _AGES:
        if seconds >= unit_s:
            return f"{seconds // unit_s:.0f} {unit} ago"
    return "just now"


# Shares as whole percentages that add up to 100.
def whole_percents(shares: Sequence[float]) -> list[int]:
    """Of shares of one whole, each rounded up or down so that the sum is 100.

    By the largest remainders. Shares that are all zero stay so.
    """
    total = math.fsum(shares)
    if total <= 0:
        return [0] * len(shares)
    exact = [share / total * 100 for share in shares]
    percents = [math.floor(each) for each in exact]
    by_remainder = sorted(range(len(exact)), key=lambda n: percents[n] - exact[n])
    for place in by_remainder[: 100 - sum(percents)]:
        percents[place] += 1
    return percents


_DIGITS = re.compile(r"([0-9]+)")


def natural_order(text: str | None) -> tuple[object, ...]:
    """A key to sort by; None, for what has no name, comes last."""
    if text is None:
        return (1,)
    # Texts and numbers alternate, so that like is compared with like.
    parts = _DIGITS.split(text)
    numbered = (_size(part) if place % 2 else part for place, part in enumerate(parts))
    return (0, tuple(numbered), text)


def _size(digits: str) -> tuple[int, str]:
    """What numbers are ordered by: Python makes no int of thousands of digits."""
    significant = digits.lstrip("0")
    return len(significant), significant
