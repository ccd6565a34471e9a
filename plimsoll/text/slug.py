"""Names for files, made of titles."""

from __future__ import annotations

import re

_MOST_CHARACTERS = 60
_OTHER = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """Lower-case ASCII letters, digits and hyphens; empty where the text has none of them."""
    return _OTHER.sub("-", text.lower())[:_MOST_CHARACTERS].strip("-")
