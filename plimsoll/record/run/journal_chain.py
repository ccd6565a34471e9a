"""The chain of a journal: each line carries the SHA-256 of the line before it.

By it lines that were taken out, put in, copied or swapped are seen, although each still fits
its own checksum; and the last line of a finished run stands for all before it and, by the
checksums of files among them, for all that the run holds. Whoever writes all lines anew from
the one that was changed on makes another chain that fits: that takes a signature to see.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

# The last two fields of a line: the link, and the line's own checksum.
PREVIOUS = "previous_sha256"
_LINK = re.compile(rb', "previous_sha256": "([0-9a-f]{64})", "crc32": "[0-9a-f]{8}"\}\n')
_LINK_BYTES = len(b', "previous_sha256": "", "crc32": "01234567"}\n') + 64


def line_digest(line: bytes) -> str:
    """The SHA-256 of a line, without its end: what the next one carries."""
    return hashlib.sha256(line.removesuffix(b"\n")).hexdigest()


# What the first line carries: the SHA-256 of nothing.
BEGIN = line_digest(b"")


@dataclass(slots=True)
class JournalChain:
    """Takes the lines of a journal in order.

    `last` is the digest of the last one. `unchained` counts the lines without a link, which
    earlier versions wrote: they come before all that have one.
    """

    last: str = BEGIN
    chained: int = 0
    unchained: int = 0

    def take(self, line: bytes) -> None:
        """Add the next whole line. Raises ValueError where it does not follow the one before."""
        found = _LINK.fullmatch(line, max(0, len(line) - _LINK_BYTES))
        if found is not None and found[1].decode() != self.last:
            raise ValueError(
                "it does not follow the line before it: lines were taken out, put in or moved"
            )
        if found is None and self.chained:
            raise ValueError("it has no link to the line before it, as those before it have")
        self.chained += found is not None
        self.unchained += found is None
        self.last = line_digest(line)

    def copy(self) -> JournalChain:
        """To go on from here and keep this one."""
        return JournalChain(self.last, self.chained, self.unchained)
