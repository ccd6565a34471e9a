"""A load that something keeps the load line from exceeding, and the sentence that says what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# "capacity": what the DUT carries at all; "stalls": its buffer ÷ its longest stall;
# "losses": losses that come without a stall; "decline": a capacity that falls with time;
# "slow-phase": what phases leave of the capacity; "brief-phase": and what the buffer bridges;
# "failure": a load that failed, and nothing says why.
LimitKind = Literal[
    "capacity", "stalls", "slow-phase", "brief-phase", "losses", "decline", "failure"
]


@dataclass(frozen=True, slots=True)
class Limit:
    """`load_pps` is per direction. `cause` is a sentence that says what is behind it, if known."""

    load_pps: float
    kind: LimitKind
    text: str
    cause: str | None = None
