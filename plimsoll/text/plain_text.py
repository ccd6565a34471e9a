"""Text from the author of a run, as it may be shown: a name must not drive a terminal."""

from __future__ import annotations

import re
from unicodedata import category

_CUT = "…"
# What takes the place of signs where a terminal's encoding has none of them.
_SIGNS = {
    **{"µ": "u", "μ": "u", "…": "...", "−": "-", "–": "-", "·": "-", "×": "x", "±": "+/-"},  # noqa: RUF001
    **{"≥": ">=", "≤": "<=", "→": "->", "►": ">", "°": " degrees ", "σ": "sigma"},  # noqa: RUF001
}
_OTHERS = re.compile(rb"[^A-Za-z0-9._-]")
# A spreadsheet takes a cell that begins like this for a formula and computes it, commands of
# the operating system among them (OWASP, "CSV Injection"), also in full
# width. Names come from observed hosts.
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_MAX_CHARACTERS = 60
_OTHER = re.compile(r"[^a-z0-9]+")


def plain_text(text: str, most: int | None = None) -> str:
    r"""`text` on one line with whatever is not printable written out, as in `\x1b`.

    That takes in control and escape characters, those that turn the direction of writing,
    and the bytes of file names that are not UTF-8. At most `most` characters, the last then
    being an ellipsis.
    """
    shown = text
    if not text.isprintable():
        shown = "".join(c if c.isprintable() else _written_out(c) for c in text)
    return shown if most is None or len(shown) <= most else shown[: most - 1] + _CUT


def without_controls(text: str) -> str:
    r"""`text` with its lines, and what would drive a terminal written out, as in `\x1b`.

    That takes in control characters and those that turn the direction of writing; blanks of
    any width stay.
    """
    if text.isprintable():
        return text
    return "".join(_written_out(c) if _drives(c) else c for c in text)


def plain_signs(text: str, encoding: str) -> str:
    """`text` with the signs that `encoding` lacks in letters; other characters stay."""
    return "".join(_SIGNS[c] if c in _SIGNS and not _has(encoding, c) else c for c in text)


def _has(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _drives(character: str) -> bool:
    return category(character) in ("Cc", "Cf", "Cs") and character not in "\n\t"


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


# Names that other people chose, as parts of the names of files.
def plain_name(text: str) -> str:
    """`text` as part of a file's name: whatever differs before differs after.

    Letters of ASCII, digits, `.`, `_` and `-` stay, and every other byte of its UTF-8 becomes
    `@` and two hexadecimal digits. Of the signs that would do, object storage bears `@` in keys,
    where `%` and `~` are best avoided (Amazon S3 User Guide, "Naming Amazon S3 objects").
    """
    encoded = text.encode("utf-8", "surrogatepass")
    return _OTHERS.sub(lambda found: b"@%02X" % found[0][0], encoded).decode("ascii")


# Text for a CSV file that people open in a spreadsheet.
def spreadsheet_text(text: str) -> str:
    """The text, after an apostrophe where a spreadsheet would take it for a formula."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


# Names for files, made of titles.
def slug(text: str) -> str:
    """Lower-case ASCII letters, digits and hyphens; empty where the text has none of them."""
    return _OTHER.sub("-", text.lower())[:_MAX_CHARACTERS].strip("-")
