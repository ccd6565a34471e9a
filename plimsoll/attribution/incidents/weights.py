"""How an incident is shared among the causes at the ends of its chain."""

from __future__ import annotations

from plimsoll.attribution.incidents.cause import Cause, Explanation


def weights(explanation: Explanation) -> list[tuple[Cause, float]]:
    """The roots with their shares, which add up to 1; empty without causes.

    In proportion to how long each had the CPU. Those of unknown length, known from
    counters alone, share equally what the others leave of the incident.
    """
    roots = explanation.roots
    if not roots:
        return []
    known = sum(cause.length_ns for cause in roots if cause.length_ns is not None)
    unknown = sum(cause.length_ns is None for cause in roots)
    rest = max(0, explanation.incident.length_ns - known) / unknown if unknown else 0.0
    lengths = [rest if cause.length_ns is None else float(cause.length_ns) for cause in roots]
    total = sum(lengths)
    if total <= 0:
        return [(cause, 1 / len(roots)) for cause in roots]
    return [(cause, length / total) for cause, length in zip(roots, lengths, strict=True)]
