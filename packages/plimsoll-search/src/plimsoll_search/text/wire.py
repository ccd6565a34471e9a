"""What frames cost on a link: frames per second against bits per second.

Frame sizes are bytes with FCS, as RFC 2544 states them.
"""

from __future__ import annotations

# Ethernet's frame check sequence; frame sizes are stated with it (RFC 2544), buffers without.
FCS_BYTES = 4
# Preamble 7, start-of-frame delimiter 1 and the shortest gap 12 (IEEE 802.3).
PREAMBLE_AND_GAP_BYTES = 20


def l1_bits(frame_size: float) -> float:
    """Bits a frame occupies on the wire, preamble and gap included."""
    return (frame_size + PREAMBLE_AND_GAP_BYTES) * 8


def l2_bits(frame_size: float) -> float:
    """Bits of the frame itself, without its FCS."""
    return (frame_size - FCS_BYTES) * 8


def max_pps(frame_size: float, line_rate_bps: float) -> float:
    """The most frames a second that a link of `line_rate_bps` carries (RFC 2544 section 20)."""
    return line_rate_bps / l1_bits(frame_size)
