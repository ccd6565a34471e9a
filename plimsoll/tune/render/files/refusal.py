"""Why nothing is rendered: all that is wrong with an intent, at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.errors import InputError


@dataclass(frozen=True, slots=True)
class Mistake:
    """`field` is the place in the intent, `remedy` what to change."""

    field: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text} ({self.remedy})"


def refuse(mistakes: Sequence[Mistake], where: str) -> None:
    """Raise one InputError for all of them; nothing where there are none."""
    if not mistakes:
        return
    if len(mistakes) == 1:
        (only,) = mistakes
        raise InputError(f"{only.field}: {only.text}", where=where, remedy=only.remedy)
    listing = "".join(f"\n  {each}" for each in mistakes)
    raise InputError(f"{len(mistakes)} mistakes:{listing}", where=where)
