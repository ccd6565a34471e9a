"""What is wrong with what a user gave, where, and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic_core import PydanticCustomError


class PlimsollError(Exception):
    """Something the user can fix: what is wrong, where, and what to do next.

    `where` is a place the user knows (a file and field, a path, a process);
    `remedy` is one imperative sentence. A command line prints all three and
    exits with `exit_code`.
    """

    # Each kind has its own; this is that of a fault in the program itself. Never 1, which is left
    # to a DUT that failed.
    exit_code = 7

    def __init__(self, message: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f" ({self.remedy})" if self.remedy else ""
        return f"{place}{self.message}{remedy}"


class InputError(PlimsollError):
    """Bad input: a file, a field, an option."""

    exit_code = 2


def mistake(problem: str, remedy: str, *field: str | int) -> PydanticCustomError:
    """What a model's own check raises: of the value checked, or of a `field` below it."""
    context = {"problem": problem, "remedy": remedy, "field": field}
    return PydanticCustomError("mistake", "{problem}", context)


def did_you_mean(found: str, known: Iterable[str], general: str = "") -> str:
    """A remedy for a misspelt name: the likeliest meant, or `general`, or all there are."""
    names = sorted(known)
    likely = [name for name in names if name.casefold() == found.casefold()]
    likely += difflib.get_close_matches(found, names, n=1)
    return f"did you mean {likely[0]}?" if likely else general or f"use one of {', '.join(names)}"
