"""From the time stamps of captured frames to the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from plimsoll.errors import InputError
from plimsoll.text.units import format_ns
from plimsoll.traffic.captured_gaps import CapturedGaps
from plimsoll.traffic.plan import LONGEST_TRIAL_S

_OTHERWISE = "use another pacing"


def gaps_between(times_ns: Sequence[int | None], first: int = 1) -> CapturedGaps:
    """The gaps between frames of which the first is number `first` of its file.

    The gap that follows the last is their mean, rounded up to ns. Raises InputError, naming
    the frame, where there is none to be had.
    """
    known = [_known_ns(each, number) for number, each in enumerate(times_ns, first)]
    if len(known) < 2:
        raise InputError(
            f"frame {first} alone was chosen, and between frames there is no gap",
            remedy=f"choose two frames or more, or {_OTHERWISE}",
        )
    gaps_ns = [later - earlier for earlier, later in pairwise(known)]
    for number, gap_ns in enumerate(gaps_ns, first + 1):
        _check_gap(gap_ns, number)
    span_ns = sum(gaps_ns)
    if span_ns == 0:
        raise InputError(
            f"frames {first} to {first + len(known) - 1} all have the same time stamp",
            remedy=f"capture them again, with time stamps, or {_OTHERWISE}, such as back-to-back",
        )
    return CapturedGaps((*gaps_ns, -(-span_ns // len(gaps_ns))))


def _known_ns(time_ns: int | None, number: int) -> int:
    if time_ns is None:
        raise InputError(
            f"frame {number} has no time stamp, as it is in a Simple Packet Block",
            remedy=f"capture it again, as dumpcap and tcpdump do, or {_OTHERWISE}",
        )
    return time_ns


def _check_gap(gap_ns: int, number: int) -> None:
    if gap_ns < 0:
        raise InputError(
            f"frame {number} was captured {format_ns(-gap_ns)} before frame {number - 1}",
            remedy="sort them by time, with Wireshark's reordercap",
        )
    if gap_ns > LONGEST_TRIAL_S * 10**9:
        raise InputError(
            f"frame {number} was captured more than a week after frame {number - 1}",
            remedy=f"choose frames on one side of that: {{file: …, first: 1, count: {number - 1}}}",
        )
