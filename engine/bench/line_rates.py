"""What a line carries, and how many cores it takes."""

from __future__ import annotations

import math

# Preamble, start of frame and gap, which a line has in addition to a frame with its FCS.
_LINE_BYTES = 20


def line_mpps(gbps: float, frame_bytes: float) -> float:
    """Million frames a second of a full line, in one direction."""
    return gbps * 1e3 / (8 * (frame_bytes + _LINE_BYTES))


def cores(gbps: float, frame_bytes: float, core_mpps: float) -> int:
    """How many fill one line, and measure what comes back on it."""
    return math.ceil(line_mpps(gbps, frame_bytes) / core_mpps)
