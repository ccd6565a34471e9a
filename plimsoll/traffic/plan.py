"""What the engine is asked to send: streams compiled down to bytes and rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["load", "latency"]

# Ethernet's frame check sequence; frame sizes are stated with it (RFC 2544), buffers without.
FCS_BYTES = 4
# Mark, stream, sequence, time and checksum complement, the frame's last bytes before the FCS.
SIGNATURE_BYTES = 18


@dataclass(frozen=True, slots=True)
class FieldWriter:
    """One header field that changes per frame.

    Frame n carries `template value + (n mod flows) * step`, big-endian, over
    `width` bytes at `offset`. `fixes` are the offsets of the 16-bit Internet
    checksums that cover the field.
    """

    offset: int
    width: int
    flows: int
    step: int = 1
    fixes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """One stream as the engine sends it; `frame` is without FCS, its signature zero."""

    stream: int
    name: str
    role: Role
    tx_port: int
    rx_port: int
    frame: bytes
    rate_pps: float
    fields: tuple[FieldWriter, ...] = ()

    @property
    def frame_size(self) -> int:
        """Bytes with FCS, as the field states frame sizes."""
        return len(self.frame) + FCS_BYTES
