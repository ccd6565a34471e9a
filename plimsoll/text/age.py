"""How long ago something was, for people."""

from __future__ import annotations

from datetime import datetime

_NS_PER_S = 10**9
# Each as long as it has to be for the next longer unit to be one whole.
_AGES = ((86_400, "d"), (3600, "h"), (60, "min"))


def age(unix_ns: int | None, now: datetime) -> str:
    """How long ago: "5 min ago", "3 h ago", "12 d ago"; a dash where that is not known."""
    if unix_ns is None:
        return "-"
    seconds = now.timestamp() - unix_ns / _NS_PER_S
    for unit_s, unit in _AGES:
        if seconds >= unit_s:
            return f"{seconds // unit_s:.0f} {unit} ago"
    return "just now"
