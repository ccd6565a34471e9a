"""Numbers of bytes, for people."""

from __future__ import annotations


def size_text(size: int) -> str:
    """Bytes for people, in powers of 1000: "12.3 MB"."""
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= factor:
            return f"{size / factor:.3g} {prefix}B"
    return f"{size} B"
