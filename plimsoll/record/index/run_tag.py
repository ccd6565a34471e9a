"""Tags: short facts that the user hangs on a run, as in kernel=6.1."""

from __future__ import annotations

import re

from plimsoll.errors import InputError
from plimsoll.text.plain_text import plain_text

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}")
_MOST_VALUE = 256
_REMEDY = "write key=value, such as kernel=6.1"


def parse_tag(text: str) -> tuple[str, str]:
    """Key and value of "key=value". Raises InputError, without a place, for an invalid tag."""
    key, equals, value = text.partition("=")
    key, value = parse_tag_key(key), value.strip()
    if not equals or not value:
        raise InputError(f"the tag {key} has no value", remedy=_REMEDY)
    if len(value) > _MOST_VALUE:
        raise InputError(
            f"the value of {key} has {len(value):,} characters",
            remedy=f"keep it to {_MOST_VALUE}; what is longer is a note",
        )
    if not value.isprintable():
        raise InputError(
            f"the value of {key} holds what cannot be printed: {plain_text(value)}",
            remedy="leave out control characters and line ends",
        )
    return key, value


def parse_tag_key(text: str) -> str:
    """A tag's key. Raises InputError, without a place, for what is none."""
    key = text.strip()
    if _KEY.fullmatch(key) is None:
        raise InputError(
            f"{plain_text(key, _MOST_VALUE)!r} is not a valid tag key",
            remedy="take up to 63 of A-Z a-z 0-9 . _ / - and begin with a letter or a digit",
        )
    return key
