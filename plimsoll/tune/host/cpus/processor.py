"""Who made a host's processors, on which some settings and their names depend."""

from __future__ import annotations

import re
from typing import Literal

from plimsoll.tune.host.boot.virtual_machine import CPUINFO
from plimsoll.tune.host.view.host_view import HostView

_VENDOR_ID = re.compile(r"^vendor_id\s*:\s*(\S+)", re.MULTILINE)
_IMPLEMENTER = re.compile(r"^CPU implementer\s*:", re.MULTILINE)


def processor_vendor(view: HostView) -> Literal["intel", "amd", "arm"]:
    """By /proc/cpuinfo; "intel" where it names none of the three. Raises CannotRead."""
    text = view.need(CPUINFO)
    if _IMPLEMENTER.search(text):
        return "arm"
    found = _VENDOR_ID.search(text)
    # Hygon's processors are AMD's design, and TuneD treats them alike.
    return "amd" if found and found[1] in ("AuthenticAMD", "HygonGenuine") else "intel"
