"""Numbers of things, for people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """ "1 VF", "2 VFs", "0 hugepages of 1G": the s goes before an " of ", else to the end."""
    head, of, rest = noun.partition(" of ")
    return f"{number} {head}{'' if number == 1 else 's'}{of}{rest}"
