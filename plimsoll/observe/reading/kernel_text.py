"""What the kernel tells as bytes: names of devices, and numbers behind words."""

from __future__ import annotations


def printable(name: bytes) -> str:
    """As text that any file and terminal takes: other bytes become escapes such as \\x1b.

    A name is chosen by a driver, or by whichever user may create network devices.
    """
    text = name.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def number_after(word: bytes, text: bytes) -> int:
    """The number behind `word` in a file of lines. Raises ValueError where it is not there.

    A word that begins a line is given with the end of the line before.
    """
    begin = text.index(word) + len(word)
    return int(text[begin : text.index(b"\n", begin)])
