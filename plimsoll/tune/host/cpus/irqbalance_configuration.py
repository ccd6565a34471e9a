"""What irqbalance is configured to spare, in the files that its service reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

# RHEL's and its kin's file, and Debian's.
IRQBALANCE_FILES = ("/etc/sysconfig/irqbalance", "/etc/default/irqbalance")
# What plimsoll tune render writes; by systemd.exec(5) the files above come before it.
IRQBALANCE_DROP_INS = "/etc/systemd/system/irqbalance.service.d"

_SETTING = re.compile(
    r"^\s*(?:export\s+|Environment=[\"']?)?IRQBALANCE_BANNED_(CPUS|CPULIST)=[\"']?([^\"'#\n]*)",
    re.MULTILINE,
)
# Lists and masks of CPUs, written well or not.
_CPUS = re.compile(r"[0-9a-fA-FxX,\- \t]*")


def ban_settings(text: str) -> Iterator[tuple[str, str]]:
    """(CPUS or CPULIST, what is set) of each line that bans CPUs and is not empty."""
    for kind, value in _SETTING.findall(text):
        if value.strip():
            yield kind, value.strip()


def ban_lines(text: str, hidden: str) -> str:
    """Those lines and no others, with `hidden` for what is not a set of CPUs."""
    return "\n".join(
        f"IRQBALANCE_BANNED_{kind}={value if _CPUS.fullmatch(value) else hidden}"
        for kind, value in ban_settings(text)
    )
