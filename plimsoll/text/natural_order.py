"""The order people expect of names with numbers in them: 2 before 10."""

from __future__ import annotations

import re

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
