"""How an incident is shared among the causes at the ends of its chain."""

from __future__ import annotations

from plimsoll.attribution.incidents.cause import Explanation
from plimsoll.record.causes.causes_record import Cause


def weights(explanation: Explanation) -> list[tuple[Cause, float]]:
    """The roots with their shares, which add up to 1; empty without causes.

    Those that account for a known number of frames have these; the others share the rest, in
    proportion to how long each had the CPU. Those of unknown length, known from counters alone,
    share equally what the others leave of the incident.
    """
    roots = explanation.roots
    frames = max(1, explanation.incident.frames)
    counted = [(cause, min(1.0, (cause.frames or 0.0) / frames)) for cause in roots if cause.frames]
    left = max(0.0, 1.0 - sum(share for _, share in counted))
    others = _by_length(explanation, [cause for cause in roots if not cause.frames])
    return [*((cause, share * left) for cause, share in others), *counted]


def _by_length(explanation: Explanation, roots: list[Cause]) -> list[tuple[Cause, float]]:
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
