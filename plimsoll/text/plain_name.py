"""Names that other people chose, as parts of the names of files."""

from __future__ import annotations

import re

_OTHERS = re.compile(rb"[^A-Za-z0-9._-]")


def plain_name(text: str) -> str:
    """`text` as part of a file's name: whatever differs before differs after.

    Letters of ASCII, digits, `.`, `_` and `-` stay, and every other byte of its UTF-8 becomes
    `@` and two hexadecimal digits. Of the signs that would do, object storage bears `@` in keys,
    where `%` and `~` are best avoided (Amazon S3 User Guide, "Naming Amazon S3 objects").
    """
    encoded = text.encode("utf-8", "surrogatepass")
    return _OTHERS.sub(lambda found: b"@%02X" % found[0][0], encoded).decode("ascii")
