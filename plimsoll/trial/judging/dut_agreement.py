"""Whether the DUT counted the same frames as the tester."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.dut.lab import DutPortCounters
from plimsoll.generator.interface import StreamCounts
from plimsoll.record.trials.counter_record import (
    DUT_COUNTERS_RULE,
    RECEIVED_FROM,
    SENT_TO,
    DutDirection,
)
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.units import format_number
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


@dataclass(frozen=True, slots=True)
class CounterSum:
    """Frames into the DUT or out of it, over one port or, without a `port`, over all of them."""

    port: int | None
    direction: DutDirection
    tester: int
    dut: int


def dut_agreement(outcome: Outcome) -> list[Finding]:
    """A finding for each of `counter_sums`, invalid where the two sides differ by a frame.

    And one for each port out of which the DUT still sends after the drain.
    """
    return [
        _late(each, outcome) if _still_leave(each, outcome) else _finding(each)
        for each in _all_sums(outcome)
    ]


def counter_sums(outcome: Outcome) -> list[CounterSum]:
    """The frames of each port and direction, by the tester and by the DUT.

    The tester's port N leads to the DUT's port N. Empty where the DUT has no
    counters. Where frames came back damaged or on a wrong port, the tester
    cannot say by which port each one came, so the sums over all ports are
    compared. What the DUT sends after the drain is too late for the trial, and
    counted by the DUT until its counters are read: where it still sends, the
    frames out of it are not compared.
    """
    return [each for each in _all_sums(outcome) if not _still_leave(each, outcome)]


def _all_sums(outcome: Outcome) -> list[CounterSum]:
    if outcome.dut_before is None or outcome.dut_after is None:
        return []
    into, out_of = _dut_frames(outcome.dut_before, outcome.dut_after)
    pairs: list[_Pair] = [
        ("into", _sent(outcome), into),
        ("out-of", _received(outcome), out_of),
    ]
    return [
        CounterSum(port, direction, ours[port], theirs[port])
        for direction, ours, theirs in (
            _summed(pair) if _ports_blurred(outcome) else pair for pair in pairs
        )
        for port in sorted(ours.keys() & theirs.keys(), key=lambda each: each or 0)
    ]


def _still_leave(of: CounterSum, outcome: Outcome) -> bool:
    """Whether the DUT counts more out of it, and no more than it does in a moment like that."""
    return of.direction == "out-of" and 0 < of.dut - of.tester <= _since(of.port, outcome)


def _since(port: int | None, outcome: Outcome) -> int:
    """Frames that left the DUT by the port, or by all, after its counters were read."""
    then = {each.port: each.tx_frames for each in outcome.dut_after or ()}
    return sum(
        each.tx_frames - then[each.port]
        for each in outcome.dut_later or ()
        if port in (None, each.port)
    )


# By port; None for all ports together.
_Frames = Mapping[int | None, int]
_Pair = tuple[DutDirection, _Frames, _Frames]


def _dut_frames(
    before: tuple[DutPortCounters, ...], after: tuple[DutPortCounters, ...]
) -> tuple[_Frames, _Frames]:
    """By port: frames that reached the DUT, taken or not, and frames that left it."""
    start = {each.port: each for each in before}
    into: dict[int | None, int] = {
        each.port: _reached(each) - _reached(start[each.port]) for each in after
    }
    out_of: dict[int | None, int] = {
        each.port: each.tx_frames - start[each.port].tx_frames for each in after
    }
    return into, out_of


def _reached(port: DutPortCounters) -> int:
    return port.rx_frames + port.rx_missed + port.rx_errors


def _sent(outcome: Outcome) -> _Frames:
    frames: dict[int | None, int] = {port.port: port.from_host for port in outcome.report.ports}
    for plan, counts in _everything(outcome):
        frames[plan.tx_port] += counts.sent
    return frames


def _received(outcome: Outcome) -> _Frames:
    frames: dict[int | None, int] = {
        port.port: port.others + port.to_host + port.rx_missed + port.rx_errors
        for port in outcome.report.ports
    }
    for plan, counts in _everything(outcome):
        frames[plan.rx_port] += counts.received + counts.corrupt + counts.misdirected
    return frames


def _everything(outcome: Outcome) -> list[tuple[StreamPlan, StreamCounts]]:
    """All that passed the DUT, judged or not."""
    counts = {each.stream: each for each in (*outcome.report.streams, *outcome.background.counts)}
    return [
        (plan, counts[plan.stream]) for plan in (*outcome.plan.streams, *outcome.background.streams)
    ]


def _ports_blurred(outcome: Outcome) -> bool:
    return any(counts.corrupt or counts.misdirected for _, counts in _everything(outcome))


def _summed(pair: _Pair) -> _Pair:
    direction, ours, theirs = pair
    return direction, {None: sum(ours.values())}, {None: sum(theirs.values())}


def _late(of: CounterSum, outcome: Outcome) -> Finding:
    subject, frames = _subject(of), _since(of.port, outcome)
    text = (
        f"{subject}: the DUT still sends after the drain, {frames:,} frames since its counters "
        f"were read: the {of.dut:,} that it counts as sent are not compared with the "
        f"{of.tester:,} that came back in time"
    )
    return Finding("late-frames", subject, frames, None, "frames", "ok", text)


def _subject(of: CounterSum) -> str:
    return "all ports" if of.port is None else f"port {of.port}"


def _finding(of: CounterSum) -> Finding:
    subject = _subject(of)
    way = SENT_TO if of.direction == "into" else RECEIVED_FROM
    text = f"{subject}: the tester counts {of.tester:,} frames {way} the DUT, the DUT {of.dut:,}"
    return Finding(
        rule=DUT_COUNTERS_RULE,
        subject=subject,
        value=of.tester,
        limit=of.dut,
        unit="frames",
        outcome="ok" if of.tester == of.dut else "invalid",
        text=text,
    )


RETURNED_LENGTH_RULE = "returned-length"
SHORTEST_FRAME_BYTES = 64
# Of a mix of sizes the last frames may be any of them.
_MIN_OF_A_MIX = 0.5


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
    return grown if whole and abs(grown) >= _MIN_OF_A_MIX else 0.0
