"""Lists of numbers as option values: frame sizes, percents."""

from __future__ import annotations

from plimsoll.errors import InputError

# Ethernet's shortest frame, and the longest that the engine takes; bytes with FCS.
_LEAST, _MOST = 64, 9216


def parse_sizes(option: str, text: str) -> tuple[int, ...]:
    """Frame sizes in bytes with FCS from "64,1518", each once. Raises InputError."""
    sizes: list[int] = []
    for word in _words(option, text, "64,512,1518"):
        if not word.isdecimal() or not _LEAST <= int(word) <= _MOST:
            raise InputError(
                f"{word!r} is not a frame size",
                where=option,
                remedy=f"give whole bytes with FCS from {_LEAST} to {_MOST}, such as 64,512,1518",
            )
        sizes.append(int(word))
    return tuple(dict.fromkeys(sizes))


def parse_percents(option: str, text: str) -> tuple[float, ...]:
    """Percents from "0,10,50,90", each once. Raises InputError."""
    percents: list[float] = []
    for word in _words(option, text, "0,10,50,90"):
        try:
            percents.append(float(word.removesuffix("%")))
        except ValueError:
            raise InputError(
                f"{word!r} is not a percentage", where=option, remedy="give some such as 0,10,50,90"
            ) from None
    return tuple(dict.fromkeys(percents))


def _words(option: str, text: str, example: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError("the list is empty", where=option, remedy=f"give some such as {example}")
    return words
