"""Numbers of things and of bytes, for people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """ "1 VF", "2 VFs", "0 hugepages of 1G": the s goes before an " of ", else to the end."""
    head, of, rest = noun.partition(" of ")
    return f"{number} {head}{'' if number == 1 else 's'}{of}{rest}"


def size_text(size: int) -> str:
    """Bytes for people, in powers of 1000: "12.3 MB"."""
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= factor:
            return f"{size / factor:.3g} {prefix}B"
    return f"{size} B"
