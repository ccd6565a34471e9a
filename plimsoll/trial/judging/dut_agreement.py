"""Whether the DUT counted the same frames as the tester."""

from __future__ import annotations

from plimsoll.dut.lab import DutPortCounters
from plimsoll.generator.interface import StreamCounts
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

DUT_COUNTERS_RULE = "dut-counters"


def dut_agreement(outcome: Outcome) -> list[Finding]:
    """A finding for each port and way, invalid where the two sides differ by a frame.

    The tester's port N leads to the DUT's port N. Empty where the DUT has no
    counters. Where frames came back damaged or on a wrong port, the tester
    cannot say by which port each one came, so the sums over all ports are
    compared.
    """
    if outcome.dut_before is None or outcome.dut_after is None:
        return []
    into, out_of = _dut_frames(outcome.dut_before, outcome.dut_after)
    pairs = [(_sent(outcome), into, "sent to"), (_received(outcome), out_of, "received from")]
    return [
        _compare(port, ours[port], theirs[port], way)
        for ours, theirs, way in (
            _summed(pair) if _ports_blurred(outcome) else pair for pair in pairs
        )
        for port in sorted(ours.keys() & theirs.keys())
    ]


_Pair = tuple[dict[int, int], dict[int, int], str]
_ALL_PORTS = -1


def _dut_frames(
    before: tuple[DutPortCounters, ...], after: tuple[DutPortCounters, ...]
) -> tuple[dict[int, int], dict[int, int]]:
    """By port: frames that reached the DUT, taken or not, and frames that left it."""
    start = {each.port: each for each in before}
    into = {each.port: _reached(each) - _reached(start[each.port]) for each in after}
    out_of = {each.port: each.tx_frames - start[each.port].tx_frames for each in after}
    return into, out_of


def _reached(port: DutPortCounters) -> int:
    return port.rx_frames + port.rx_missed + port.rx_errors


def _sent(outcome: Outcome) -> dict[int, int]:
    frames = {port.port: port.from_host for port in outcome.report.ports}
    for plan, counts in _everything(outcome):
        frames[plan.tx_port] += counts.sent
    return frames


def _received(outcome: Outcome) -> dict[int, int]:
    frames = {
        port.port: port.foreign + port.to_host + port.stale + port.rx_missed + port.rx_errors
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
    ours, theirs, way = pair
    return {_ALL_PORTS: sum(ours.values())}, {_ALL_PORTS: sum(theirs.values())}, way


def _compare(port: int, ours: int, theirs: int, way: str) -> Finding:
    subject = "all ports" if port == _ALL_PORTS else f"port {port}"
    agree = ours == theirs
    text = f"{subject}: the tester counts {ours:,} frames {way} the DUT, the DUT {theirs:,}"
    return Finding(
        rule=DUT_COUNTERS_RULE,
        subject=subject,
        value=ours,
        limit=theirs,
        unit="frames",
        outcome="ok" if agree else "invalid",
        text=text,
    )
