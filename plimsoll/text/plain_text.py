"""Text from the author of a run, as it may be shown: a name must not drive a terminal."""

from __future__ import annotations

from unicodedata import category

_CUT = "…"
# What takes the place of signs where a terminal's encoding has none of them.
_SIGNS = {
    **{"µ": "u", "μ": "u", "…": "...", "−": "-", "–": "-", "·": "-", "×": "x", "±": "+/-"},  # noqa: RUF001
    **{"≥": ">=", "≤": "<=", "→": "->", "►": ">", "°": " degrees ", "σ": "sigma"},  # noqa: RUF001
}


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
