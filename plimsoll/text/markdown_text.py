"""Text of anybody's for a page of GitHub-flavoured Markdown: it is shown, and does nothing.

A backslash takes a character its meaning in Markdown. What GitHub finds in the finished text
(mentions, references to issues, links without markup, emoji) knows no backslash: an invisible
word joiner breaks it up.
"""

from __future__ import annotations

import re

from plimsoll.text.plain_text import plain_text

_MARKUP = re.compile(r"([\\`*_\[\]<|~&$])")
_FOUND_LATER = re.compile(r"[@#](?=\w)|:(?=[a-z+/])|(?<=www)\.", re.IGNORECASE)
_ORDERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
# A heading, a list, a rule and a quotation, where it stands first.
_BLOCKS = ("#", "+", "-", "=", ">")
_WORD_JOINER = "&#8288;"


def markdown_text(text: str, most: int | None = None) -> str:
    """`text` on one line, cut to `most` characters, without any meaning in Markdown."""
    shown = _MARKUP.sub(r"\\\1", plain_text(text.strip(), most))
    shown = _FOUND_LATER.sub(rf"\g<0>{_WORD_JOINER}", shown)
    if shown[:1] in _BLOCKS:
        return f"\\{shown}"
    return _ORDERED.sub(r"\1\\\2", shown, count=1) if _ORDERED.match(shown) else shown
