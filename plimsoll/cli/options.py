"""Reading option values that have units."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from plimsoll.errors import InputError

T = TypeVar("T")


def parse_option(option: str, parse: Callable[[object], T], text: str) -> T:
    """The option's value; its InputError names the option."""
    try:
        return parse(text)
    except InputError as error:
        raise InputError(error.message, where=option, remedy=error.remedy) from None
