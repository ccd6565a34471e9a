"""Commands on other hosts, over ssh: argument vectors that can be nothing but that."""

from __future__ import annotations

import re

# A host that is off, or behind a firewall that drops packets, is waited for minutes otherwise:
# as long as the kernel repeats its SYN (tcp_syn_retries, 127 s).
CONNECT_TIMEOUT_S = 15
# As ssh takes it; never anything that it would take for an option.
_DESTINATION = r"^[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,254}$"

_OPTIONS = (
    "-T",
    # It must not prompt for a password: there is no one to answer.
    *("-o", "BatchMode=yes"),
    *("-o", f"ConnectTimeout={CONNECT_TIMEOUT_S}"),
    # Root on a host under test could use our keys elsewhere, or our display, as long
    # as the connection lasts; ssh's own configuration may forward both.
    *("-o", "ForwardAgent=no"),
    *("-o", "ForwardX11=no"),
    *("-o", "ClearAllForwardings=yes"),
)


def is_destination(text: str) -> bool:
    """Whether it is a host as ssh takes it, with or without a user."""
    return re.fullmatch(_DESTINATION, text) is not None


def over_ssh(destination: str, *command: str) -> tuple[str, ...]:
    """`command` on that host; its words must need no quoting by the shell there."""
    if not is_destination(destination):
        raise ValueError(f"{destination!r} is not a valid ssh destination")
    return ("ssh", *_OPTIONS, "--", destination, *command)
