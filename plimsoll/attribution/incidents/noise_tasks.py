"""Tasks of the experiment's own noise, by the names that causes have."""

from __future__ import annotations

_MARK = " (the experiment's noise: "


def noise_name(comm: str, neighbour: str) -> str:
    """How a task of a neighbour is called: "stress-ng (the experiment's noise: …)"."""
    return f"{comm}{_MARK}{neighbour})"


def is_noise(name: str) -> bool:
    """Whether a task of this name is one."""
    return _MARK in name
