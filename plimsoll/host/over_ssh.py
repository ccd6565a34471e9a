"""Commands on other hosts, over ssh: argument vectors that can be nothing but that."""

from __future__ import annotations

import re

# As ssh takes it; never anything that it would take for an option.
_DESTINATION = r"^[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,254}$"


def is_destination(text: str) -> bool:
    """Whether it is a host as ssh takes it, with or without a user."""
    return re.fullmatch(_DESTINATION, text) is not None


def over_ssh(destination: str, *command: str) -> tuple[str, ...]:
    """`command` on that host; its words must need no quoting by the shell there."""
    if not is_destination(destination):
        raise ValueError(f"{destination!r} is no destination of ssh")
    # It must not ask for a password: nobody is there to answer.
    return ("ssh", "-T", "-o", "BatchMode=yes", "--", destination, *command)
