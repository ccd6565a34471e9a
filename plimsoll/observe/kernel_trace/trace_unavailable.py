"""Why kernel events cannot be recorded here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TraceUnavailable:
    """What is missing, and in one imperative sentence what to do about it."""

    reason: str
    remedy: str
