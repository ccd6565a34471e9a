"""Secrets held against each other."""

from __future__ import annotations

import hmac


def same(given: str, expected: str) -> bool:
    """Compared in a time that says nothing of where they differ."""
    return hmac.compare_digest(_bytes(given), _bytes(expected))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
