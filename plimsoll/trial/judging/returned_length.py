"""Whether frames came back as long as they were sent: DUTs add tags, labels and padding."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.generator.interface import StreamCounts
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.units import format_number
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

RETURNED_LENGTH_RULE = "returned-length"
SHORTEST_FRAME_BYTES = 64
# Of a mix of sizes the last frames may be any of them.
_LEAST_OF_A_MIX = 0.5


def returned_lengths(outcome: Outcome) -> Iterable[Finding]:
    """A finding for each stream whose frames came back longer or shorter than they were sent.

    It judges nothing: a DUT may well be there to tag. But frames of another length load the wire,
    and the next hop, by another rate than the one that is stated.
    """
    for plan in outcome.plan.streams:
        counts = outcome.counts(plan.stream)
        grown = _grown_bytes(plan, counts)
        if grown:
            longer = "longer" if grown > 0 else "shorter"
            why = "a tag, a label or padding added" if grown > 0 else "a tag or a label taken off"
            mean = counts.received_bytes / counts.received
            text = (
                f"{plan.name}: its frames came back {format_number(abs(grown))} bytes {longer} "
                f"than they were sent ({format_number(mean)} instead of "
                f"{format_number(mean - grown)} bytes): {why} by the DUT"
            )
            yield Finding(RETURNED_LENGTH_RULE, plan.name, mean, mean - grown, "bytes", "ok", text)


def _grown_bytes(plan: StreamPlan, counts: StreamCounts) -> float:
    """By how much a frame grew on average; 0 where that is not known, or nothing."""
    sizes = {len(frame) + FCS_BYTES for frame in plan.frames}
    # Ports lengthen what is shorter than any frame of Ethernet.
    if counts.received == 0 or counts.received_bytes == 0 or min(sizes) < SHORTEST_FRAME_BYTES:
        return 0.0
    grown = counts.received_bytes / counts.received - plan.mean_frame_size
    if len(sizes) == 1:
        return grown
    # Which sizes the missing frames had is not known.
    whole = counts.received == counts.sent and counts.duplicate == counts.corrupt == 0
    return grown if whole and abs(grown) >= _LEAST_OF_A_MIX else 0.0
