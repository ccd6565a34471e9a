"""Text for a CSV file that people open in a spreadsheet."""

from __future__ import annotations

import re

# A spreadsheet takes a cell that begins like this for a formula and computes it, commands of
# the operating system among them (OWASP, "CSV Injection"), also in full
# width. Names come from observed hosts.
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def spreadsheet_text(text: str) -> str:
    """The text, after an apostrophe where a spreadsheet would take it for a formula."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
