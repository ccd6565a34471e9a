"""Flow churn: the flows of a stream make room for new ones, so many a second."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.field_writers import writers_of
from plimsoll.traffic.frames.layers import Stack
from plimsoll.traffic.frames.value_room import room_of
from plimsoll.traffic.frames.vary import MOST_FLOWS, tells_flows_apart
from plimsoll.traffic.plan import FieldWriter

if TYPE_CHECKING:
    from plimsoll.traffic.streams.stream import Stream


def churned_fields(
    stream: Stream, fields: tuple[FieldWriter, ...], rate_pps: float | None, *, reverse: bool
) -> tuple[FieldWriter, ...]:
    """The writers of one direction, those that tell flows apart with the stream's churn.

    The engine counts it by frames, of which at most each is a new flow's.
    """
    if stream.churn is None or rate_pps is None:
        return fields
    a_frame = 1.0 if rate_pps <= stream.churn else stream.churn / rate_pps
    cycle = flows_in_all(stream, reverse=reverse)
    telling = (
        tells_flows_apart(each)
        for each in stream.vary
        for _ in writers_of(stream.stacks(reverse=reverse)[0], each, stream.flows)
    )
    return tuple(
        replace(field, churn=a_frame, cycle=cycle) if tells else field
        for field, tells in zip(fields, telling, strict=True)
    )


@functools.lru_cache(maxsize=256)
def flows_in_all(stream: Stream, *, reverse: bool) -> int:
    """How many different flows there are in a direction until they come again."""
    rooms = (room for stack in stream.stacks(reverse=reverse) for room in _rooms(stream, stack))
    return min(MOST_FLOWS, *rooms)


def flows_within(stream: Stream, period_s: float, *, reverse: bool) -> int:
    """How many different flows of a direction have frames in a period, in s, at the most."""
    if stream.churn is None:
        return stream.flows
    new = math.ceil(stream.churn * period_s)
    return min(stream.flows + new, flows_in_all(stream, reverse=reverse))


def check_churn(stream: Stream) -> None:
    """Raise a mistake where a stream cannot have the churn that it is given."""
    if stream.pcap is not None:
        raise mistake("captured frames have no flows", "remove it, or pcap", "churn")
    if stream.flows < 2:
        problem = "one flow is all that the stream has"
        raise mistake(problem, "give how many there are at a time in flows", "churn")
    if stream.rate is None:
        problem = "without a rate there is nothing to count new flows by"
        raise mistake(problem, "remove it, or give the stream a rate", "churn")
    if any(each.startswith("teaching") for each in stream.stream_types):
        problem = "new flows cannot have been taught before they come"
        raise mistake(problem, "remove it, or the teaching types", "churn")
    if not any(map(tells_flows_apart, stream.vary)):
        problem = "no field counts up with the flows"
        raise mistake(problem, "vary one that has no count of its own, such as dst_ip", "churn")
    for reverse in stream.goes:
        if (room := flows_in_all(stream, reverse=reverse)) <= stream.flows:
            way = "on the way back, " if reverse else ""
            problem = f"{way}what varies has {room} values, which leaves none for new flows"
            raise mistake(problem, "use fewer flows, or a wider network (smaller prefix)", "churn")


def notes_on_churn(stream: Stream) -> Iterator[str]:
    """For whom it matters that flows come again."""
    if stream.churn is None:
        return
    most = min(flows_in_all(stream, reverse=reverse) for reverse in stream.goes)
    yield (
        f"stream {stream.name} has {stream.flows:,} flows at a time and direction, of which "
        f"{stream.churn:,g} a second make room for new ones, of {most:,} in all: each comes again "
        f"after {most / stream.churn:,.3g} s"
    )


def _rooms(stream: Stream, stack: Stack) -> Iterator[int]:
    """Of each of the fields; what is named at length counts on past its largest value."""
    for each in stream.vary:
        if isinstance(each, str) and "." not in each:
            yield room_of(stack, each, stream.prefix)
        else:
            yield MOST_FLOWS
