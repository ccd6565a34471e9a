"""Numbers in files of procfs and sysfs, which a capture may hold anything in place of."""

from __future__ import annotations

import re

# 64 bits are 20 digits; Python refuses to read thousands of them.
_WHOLE = re.compile(r"-?\d{1,20}", re.ASCII)


def whole_number(text: str | None) -> int | None:
    """The one decimal number that the text is; None for anything else, and for None."""
    stripped = (text or "").strip()
    return int(stripped) if _WHOLE.fullmatch(stripped) else None
