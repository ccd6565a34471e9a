"""At which rates the streams of one port go out: as planned, as far as the line has room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plimsoll.search.text.wire import l1_bits
from plimsoll.traffic.plan import StreamPlan


class PortRate(NamedTuple):
    """A stream's own rate, and the share of it that the line takes."""

    rate_pps: float
    taken: float


def port_schedule(
    streams: Sequence[StreamPlan], line_rate_bps: float, round_trip_s: float
) -> dict[int, PortRate]:
    """The rate of each of a port's streams, by its number.

    A stream of which one frame is in flight sends one each `round_trip_s`, no faster than
    its rate. Streams that go back to back share what the others leave of the line.
    """
    rates = {
        each.stream: _own_rate_pps(each, round_trip_s)
        for each in streams
        if each.pacing.kind != "back-to-back"
    }
    bits = {each.stream: l1_bits(each.mean_frame_size) for each in streams}
    offered_bps = sum(rate * bits[number] for number, rate in rates.items())
    taken = min(1.0, line_rate_bps / offered_bps) if offered_bps else 1.0
    schedule = {number: PortRate(rate, taken) for number, rate in rates.items()}
    greedy = [each.stream for each in streams if each.stream not in rates]
    for number in greedy:
        left_bps = max(0.0, line_rate_bps - offered_bps) / len(greedy)
        schedule[number] = PortRate(left_bps / bits[number], 1.0)
    return schedule


def _own_rate_pps(stream: StreamPlan, round_trip_s: float) -> float:
    if stream.pacing.kind == "one-in-flight":
        in_turn_pps = 1.0 / round_trip_s
        return in_turn_pps if stream.rate_pps is None else min(stream.rate_pps, in_turn_pps)
    return stream.rate_pps or 0.0
