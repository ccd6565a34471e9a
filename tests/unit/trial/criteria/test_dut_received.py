"""What a DUT received, by its own counters."""

from dataclasses import replace

import pytest

from plimsoll.dut.lab import DutPortCounters
from plimsoll.trial.criteria.dut_received import DutReceived
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.trial_builder import LOAD_BACK, LOAD_OUT, PROBE, outcome, stream_counts
from tests.worded.says import Says

# Port 0 is sent load and probe, port 1 load.
SENT = {LOAD_OUT: 1_000_000, LOAD_BACK: 1_000_000, PROBE: 10_000}


def counters(port: int, rx_frames: int) -> DutPortCounters:
    return DutPortCounters(port, rx_frames, 0, 0, 0, 0, 0)


def received(*by_port: int, refused: int = 0, drained_by: str = "dut") -> Outcome:
    """A trial in which the DUT's ports received so many, and the load out was refused some."""
    streams = [
        stream_counts(stream, sent, lost=sent, refused=refused if stream == LOAD_OUT else 0)
        for stream, sent in SENT.items()
    ]
    whole = outcome()
    return replace(
        whole,
        report=replace(whole.report, streams=tuple(streams)),
        drained_by=drained_by,
        dut_before=tuple(counters(port, 77) for port in range(len(by_port))),
        dut_after=tuple(counters(port, 77 + rx) for port, rx in enumerate(by_port)),
    )


def judged(trial: Outcome, at_most: float = 2e-5) -> list[tuple[str, float | None, str]]:
    found = DutReceived(at_most=at_most).evaluate(trial)
    return [(each.subject, each.value, each.outcome) for each in found]


def test_all_received_is_no_loss() -> None:
    assert judged(received(1_010_000, 1_000_000)) == [("port 0", 0, "ok"), ("port 1", 0, "ok")]


def test_each_port_is_judged_by_itself(says: Says) -> None:
    assert judged(received(1_010_000, 999_980)) == [("port 0", 0, "ok"), ("port 1", 2e-5, "ok")]
    first, second = DutReceived().evaluate(received(1_010_000, 999_979))
    assert (first.outcome, second.outcome) == ("ok", "fail")
    assert second.text == says("port", "1", "21", "1,000,000", "0.0021", "0.002")


def test_what_the_dut_left_no_room_for_was_offered() -> None:
    assert judged(received(1_010_000, 1_000_000, refused=90_000))[0] == (
        "port 0",
        90_000 / 1_100_000,
        "fail",
    )
    assert judged(received(1_010_000, 1_000_000, refused=90_000, drained_by="wire"))[0] == (
        "port 0",
        0,
        "ok",
    )


def test_more_than_was_sent_came_from_elsewhere() -> None:
    assert judged(received(1_010_001, 1_000_000))[0][2] == "invalid"


@pytest.mark.parametrize(("again", "verdict"), [(True, "ok"), (False, "invalid")])
def test_without_counters_nothing_is_proven(again: bool, verdict: str) -> None:
    silent = replace(outcome(), dut_before=None, dut_after=None, comes_again=again)
    found: list[Finding] = DutReceived().evaluate(silent)
    assert [each.outcome for each in found] == [verdict]


def test_a_port_without_counters_is_named() -> None:
    assert judged(received(1_010_000)) == [("port 0", 0, "ok"), ("port 1", None, "invalid")]
