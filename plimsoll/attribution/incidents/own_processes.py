"""Plimsoll's own processes, by the names that the kernel's events give them."""

from __future__ import annotations

# plimsoll, plimsoll-engine (its main thread), plimsoll-observe: the kernel keeps 15 characters.
_OWN = "plimsoll"


def is_own(comm: str) -> bool:
    """Whether a task of this name is Plimsoll's own."""
    return comm.startswith(_OWN)


def own_name(comm: str) -> str:
    """How one of Plimsoll's own is called whose task has another name, as Python's have."""
    return f"{_OWN} ({comm})"
