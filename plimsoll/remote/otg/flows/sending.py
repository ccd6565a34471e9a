"""How fast and how long a flow sends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from plimsoll.remote.otg.model.given import Given
from plimsoll.search.text.wire import l1_bits, max_pps
from plimsoll.text.units import format_number, format_pps
from plimsoll.traffic.plan import LONGEST_TRIAL_S, Pacing

_UNITS_BPS = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9}
_SHORTEST_GAP_BYTES = 12
_MAX_BURST = 65_536
# Of a stream of the engine, where the port has no speed that bounds it.
_MAX_PPS = 1e9
# Of floating point: 100 % is within the line rate.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Sending:
    """A rate, and what ends it: a frame count, a time in s, or neither.

    `delay_s` passes between the start of the traffic and the first frame.
    """

    rate_pps: float
    frame_count: int | None = None
    duration_s: float | None = None
    delay_s: float = 0.0
    pacing: Pacing = field(default_factory=Pacing)
    note: str = ""


def read_rate(given: Given, mean_frame_size: float, speed_bps: float | None) -> float:
    """In frames per second. Bits are counted on layer 1, with preamble and gap, as OTG's are.

    `speed_bps` is the port's. Raises Refusal for more than that, and for a percentage where it
    is not known.
    """
    choice = given.choice
    if choice == "percentage":
        return _of_line(given, mean_frame_size, speed_bps)
    written = given.real(choice)
    rate_pps = written
    if choice != "pps":
        rate_pps = written * _UNITS_BPS[choice] / l1_bits(mean_frame_size)
    most_pps = max_pps(mean_frame_size, speed_bps) if speed_bps else _MAX_PPS
    if 0 <= rate_pps <= most_pps * (1 + ROUNDING):
        return rate_pps
    carried = (
        f"the port's {format_number(speed_bps / 1e9)} Gbps carry" if speed_bps else "a flow has"
    )
    raise given.refused(
        choice,
        f"found {given.value(choice)}, and {carried} at most {format_pps(most_pps)} of "
        "these frames",
        "give a lower rate, or up to percentage: 100" if speed_bps else "give a lower rate",
    )


def _of_line(given: Given, mean_frame_size: float, speed_bps: float | None) -> float:
    share = given.real("percentage")
    if not 0 < share <= 100:
        raise given.refused("percentage", f"found {share}", "give more than 0, up to 100")
    if speed_bps is None:
        raise given.refused(
            "percentage",
            "the port has no speed",
            "give the rate in pps or bps, or the speed in layer1",
        )
    return share / 100 * max_pps(mean_frame_size, speed_bps)


def read_sending(given: Given, rate_pps: float, speed_bps: float | None) -> Sending:
    """The duration of a flow that sends at that rate. Raises Refusal."""
    choice = given.choice
    part = given.part(choice)
    if choice == "burst":
        return _burst(part, rate_pps, speed_bps)
    if part.whole("gap") != _SHORTEST_GAP_BYTES:
        raise part.refused("gap", "gaps follow from the rate", f"leave it at {_SHORTEST_GAP_BYTES}")
    delay_s = _time_s(part.part("delay"), speed_bps)
    if choice == "fixed_packets":
        return Sending(rate_pps, frame_count=part.whole("packets"), delay_s=delay_s)
    if choice == "fixed_seconds":
        seconds = part.real("seconds")
        if not 0 < seconds <= LONGEST_TRIAL_S:
            raise part.refused("seconds", f"found {seconds}", "give more than 0, up to a week")
        return Sending(rate_pps, duration_s=seconds, delay_s=delay_s)
    return Sending(rate_pps, delay_s=delay_s)


def _burst(given: Given, rate_pps: float, speed_bps: float | None) -> Sending:
    """Bursts at the port's speed, as often as at the flow's rate with the gap between them."""
    packets, bursts = given.whole("packets"), given.whole("bursts")
    if packets > _MAX_BURST:
        raise given.refused("packets", f"{packets} frames a burst", f"give at most {_MAX_BURST}")
    if given.whole("gap") != _SHORTEST_GAP_BYTES:
        raise given.refused("gap", "bursts are sent as fast as the port takes them")
    gap_s = _time_s(given.part("inter_burst_gap"), speed_bps)
    return Sending(
        packets / (packets / rate_pps + gap_s),
        frame_count=bursts * packets or None,
        pacing=Pacing("burst", burst_frames=packets),
        note=f"bursts of {packets} frames leave at the port's speed, not at {rate_pps:.6g} pps, "
        "and begin as often as they would at that rate",
    )


def _time_s(given: Given, speed_bps: float | None) -> float:
    choice = given.choice
    amount = given.real(choice)
    if not 0 <= amount < math.inf:
        raise given.refused(choice, f"found {amount}")
    if choice == "bytes":
        # At a port without a speed some bytes are no time at all.
        seconds = amount * 8 / speed_bps if speed_bps else 0.0
    else:
        seconds = amount / (1e9 if choice == "nanoseconds" else 1e6)
    if seconds > LONGEST_TRIAL_S:
        raise given.refused(choice, f"{seconds:.6g} s", "give at most a week")
    return seconds
