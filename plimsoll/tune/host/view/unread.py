"""Why something of a host could not be read: what tells "unknown" from "wrong"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import MachineError
from plimsoll.tune.host.view.commands import is_command

# "absent": the host has no such thing. "forbidden": it takes more privileges. "unreadable":
# it is there and gave no text. "not-captured": the capture never requested it.
UnreadCause = Literal["absent", "forbidden", "unreadable", "not-captured"]

_WORDS: dict[UnreadCause, str] = {
    "absent": "does not exist",
    "forbidden": "may not be read without more privileges",
    "unreadable": "cannot be read",
    "not-captured": "is not in the capture",
}
# Of a command: it is its program that is absent.
_ABSENT_COMMAND = "does not run"
_REMEDIES: dict[UnreadCause, str] = {
    "absent": "check that the kernel or package that brings it is there",
    "forbidden": "run the audit as root, or make a capture as root",
    "unreadable": "read it by hand on the host",
    "not-captured": "make a new capture with plimsoll tune capture",
}


@dataclass(frozen=True, slots=True)
class Unread:
    """`where` is a path, or a command as it is typed; `reason` the system's own words, if any."""

    where: str
    cause: UnreadCause
    reason: str = ""

    @property
    def words(self) -> str:
        """What is said of `where`, with the system's own words."""
        absent = self.cause == "absent"
        said = _ABSENT_COMMAND if absent and is_command(self.where) else _WORDS[self.cause]
        return f"{said} ({self.reason})" if self.reason else said

    def __str__(self) -> str:
        return f"{self.where} {self.words}"


class CannotRead(MachineError):
    """Something that a judgement needs could not be read; `unread` says what and why."""

    def __init__(self, unread: Unread) -> None:
        super().__init__(unread.words, where=unread.where, remedy=_REMEDIES[unread.cause])
        self.unread = unread


# 64 bits are 20 digits; Python refuses to read thousands of them.
_WHOLE = re.compile(r"-?\d{1,20}", re.ASCII)


def whole_number(text: str | None) -> int | None:
    """The one decimal number that the text is; None for anything else, and for None."""
    stripped = (text or "").strip()
    return int(stripped) if _WHOLE.fullmatch(stripped) else None
