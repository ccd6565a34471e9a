"""What the engine is asked to send: streams compiled down to bytes, rates and schedules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from plimsoll.text.wire import FCS_BYTES

Role = Literal["load", "latency"]
PacingKind = Literal["constant", "burst", "poisson", "back-to-back", "one-in-flight"]

# Mark, stream, sequence, time and checksum complement, the frame's last bytes before the FCS.
SIGNATURE_BYTES = 18


@dataclass(frozen=True, slots=True)
class FieldWriter:
    """One header field that changes per frame, of `width` bytes at `offset`, big-endian.

    Frame n takes the i-th of `count` values, where i is n mod count, or for `random` a
    number below `count` that `seed` and n decide. The value is what the template has
    there plus i * `step`; with `values` it is the i-th of these. `mask` says which bits
    of the field change, a run of ones without gaps; the value is written into them and
    counted modulo their number. `fixes` are the offsets of the 16-bit Internet
    checksums that cover the field.
    """

    offset: int
    width: int
    count: int
    step: int = 1
    kind: Literal["increment", "list", "random"] = "increment"
    values: tuple[int, ...] = ()
    seed: int = 0
    first: int = 0
    mask: int | None = None
    fixes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pacing:
    """When a stream's frames are due.

    `constant`: equal gaps. `burst`: `burst_frames` at once, bursts at equal gaps.
    `poisson`: exponentially distributed gaps, decided by `seed`. `back-to-back`: as fast
    as the port takes them. `one-in-flight`: the next when the last came back, or
    `timeout_us` after it was sent. All but the last two keep to the stream's rate;
    `one-in-flight` never exceeds it where it has one.
    """

    kind: PacingKind = "constant"
    burst_frames: int = 1
    seed: int = 0
    timeout_us: float = 100_000.0


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """One stream as the engine sends it.

    `frames` are its templates without FCS, their signatures zero. Frame n is made from
    template `order[n mod len(order)]`; without an order the templates take turns.
    `rate_pps` is None where the pacing needs none. `frame_count` ends the stream early.
    `taken_from` is the load stream, by name, whose rate a probe's was taken out of.
    """

    stream: int
    name: str
    role: Role
    tx_port: int
    rx_port: int
    frames: tuple[bytes, ...]
    rate_pps: float | None
    order: tuple[int, ...] = ()
    pacing: Pacing = field(default_factory=Pacing)
    fields: tuple[FieldWriter, ...] = ()
    frame_count: int | None = None
    tx_queue: int = 0
    taken_from: str | None = None

    @property
    def mean_frame_size(self) -> float:
        """Bytes with FCS, in the mean over the order of sending."""
        order = self.order or range(len(self.frames))
        return sum(len(self.frames[index]) for index in order) / len(order) + FCS_BYTES

    @property
    def largest_frame_size(self) -> int:
        """Bytes with FCS."""
        return max(len(frame) for frame in self.frames) + FCS_BYTES
