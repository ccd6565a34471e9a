"""Bytes as profiles write them: text, or hexadecimal that starts with 0x."""

from __future__ import annotations

import re

from plimsoll.errors import InputError

_HEXADECIMAL = re.compile(r"0x([0-9a-f]{2})*", re.IGNORECASE)


def written_bytes(text: str) -> bytes:
    """The bytes that `text` means. Raises InputError for hexadecimal of no whole bytes."""
    if text[:2].lower() != "0x":
        return text.encode()
    if not _HEXADECIMAL.fullmatch(text):
        raise InputError(
            f"{text[:40]!r} is not whole bytes of hexadecimal",
            remedy="write two digits a byte, such as 0x00ff",
        )
    return bytes.fromhex(text[2:])
