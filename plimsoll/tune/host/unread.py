"""Why something of a host could not be read: what tells "unknown" from "wrong"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import MachineError

# "absent": the host has no such thing. "forbidden": it takes more privileges. "unreadable":
# it is there and gave no text. "not-captured": the capture never asked for it.
Cause = Literal["absent", "forbidden", "unreadable", "not-captured"]

_WORDS: dict[Cause, str] = {
    "absent": "does not exist",
    "forbidden": "may not be read without more privileges",
    "unreadable": "cannot be read",
    "not-captured": "is not in the capture",
}
_REMEDIES: dict[Cause, str] = {
    "absent": "check that the kernel or package that brings it is there",
    "forbidden": "run the audit as root, or make a capture as root",
    "unreadable": "read it by hand on the host",
    "not-captured": "make a new capture with plimsoll tune capture",
}


@dataclass(frozen=True, slots=True)
class Unread:
    """`where` is a path, or a command as it is typed; `reason` the system's own words, if any."""

    where: str
    cause: Cause
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.where} {_WORDS[self.cause]}{f' ({self.reason})' if self.reason else ''}"


class CannotRead(MachineError):
    """Something that a judgement needs could not be read; `unread` says what and why."""

    def __init__(self, unread: Unread) -> None:
        words = f"{_WORDS[unread.cause]}{f' ({unread.reason})' if unread.reason else ''}"
        super().__init__(words, where=unread.where, remedy=_REMEDIES[unread.cause])
        self.unread = unread
