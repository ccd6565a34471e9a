"""The DUT's counters against the tester's."""

from dataclasses import replace

import pytest

from plimsoll.dut.lab import DutPortCounters
from plimsoll.trial.judging.dut_agreement import counter_sums, dut_agreement
from tests.unit.trial.trial_builder import (
    DURATION_S,
    LOAD_BACK,
    LOAD_OUT,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    dut_counters,
    outcome,
    port_counts,
    stream_counts,
)
from tests.worded.says import Says

SENT = RATE_PPS * DURATION_S
PROBES = PROBE_PPS * DURATION_S
OUT = SENT + PROBES
START = dut_counters(rx_0=7, tx_1=7, rx_1=9, tx_0=9)


def _end(
    rx_0: int = OUT, tx_1: int = OUT, rx_1: int = SENT, tx_0: int = SENT
) -> tuple[DutPortCounters, ...]:
    return dut_counters(rx_0=7 + rx_0, tx_1=7 + tx_1, rx_1=9 + rx_1, tx_0=9 + tx_0)


def test_counters_that_agree_are_found_to() -> None:
    found = dut_agreement(outcome(dut=(START, _end())))
    assert [(each.subject, each.value, each.limit, each.outcome) for each in found] == [
        ("port 0", OUT, OUT, "ok"),
        ("port 1", SENT, SENT, "ok"),
        ("port 0", SENT, SENT, "ok"),
        ("port 1", OUT, OUT, "ok"),
    ]


def test_frames_that_the_dut_dropped_are_no_disagreement() -> None:
    """It received all and sent back 30 fewer; so says the tester."""
    found = dut_agreement(outcome(lost=30, dut=(START, _end(tx_1=OUT - 30))))
    assert {each.outcome for each in found} == {"ok"}


def test_frames_that_the_dut_missed_did_reach_it() -> None:
    end = list(_end(rx_0=OUT - 30, tx_1=OUT - 30))
    end[0] = DutPortCounters(0, end[0].rx_frames, end[0].tx_frames, 20, 10, 0, 0)
    found = dut_agreement(outcome(lost=30, dut=(START, tuple(end))))
    assert {each.outcome for each in found} == {"ok"}


def test_a_frame_of_difference_is_invalid_and_reported(says: Says) -> None:
    found = dut_agreement(outcome(dut=(START, _end(rx_0=OUT - 1))))
    (broken,) = [each for each in found if each.outcome == "invalid"]
    assert broken.text == says("0", "1,010,000", "1,009,999")


def later(by: int) -> tuple[DutPortCounters, ...]:
    """The counters when they are read again, so many frames having left port 1 meanwhile."""
    return dut_counters(rx_0=7 + OUT, tx_1=7 + OUT + by, rx_1=9 + SENT, tx_0=9 + SENT)


def test_where_the_dut_still_sends_after_the_drain_its_count_is_not_the_trial_s(says: Says) -> None:
    """85 more than came back in time have left it, and in as long a time again 830."""
    judged = replace(outcome(lost=85, dut=(START, _end())), dut_later=later(830))
    assert [(each.port, each.direction) for each in counter_sums(judged)] == [
        (0, "into"),
        (1, "into"),
        (0, "out-of"),
    ]
    late = dut_agreement(judged)[-1]
    assert (late.rule, late.value, late.outcome) == ("late-frames", 830, "ok")
    assert late.text == says("1", "830", "1,010,000", "1,009,915")


@pytest.mark.parametrize("by", [0, 84])
def test_more_than_can_have_left_the_dut_meanwhile_is_a_difference(by: int) -> None:
    judged = replace(outcome(lost=85, dut=(START, _end())), dut_later=later(by))
    assert [each.outcome for each in dut_agreement(judged)] == ["ok", "ok", "ok", "invalid"]


def test_frames_that_the_dut_did_not_send_are_a_difference_even_if_it_still_sends() -> None:
    judged = replace(outcome(dut=(START, _end(tx_1=OUT - 1))), dut_later=later(830))
    assert dut_agreement(judged)[-1].outcome == "invalid"


def test_whatever_came_out_of_the_dut_counts() -> None:
    ports = (port_counts(0), port_counts(1, foreign=3, stale=2, rx_missed=4))
    found = dut_agreement(outcome(ports=ports, dut=(START, _end(tx_1=OUT + 9))))
    assert {each.outcome for each in found} == {"ok"}


def test_what_a_host_said_and_heard_counts() -> None:
    """Of what the DUT sent, seven frames were for the host on port 1, which answered five."""
    said = {"arp": 1, "nd": 1, "echo": 4, "heard": 1, "answered": 5, "moved": 1}
    ports = (port_counts(0), port_counts(1, host=said))
    found = dut_agreement(outcome(ports=ports, dut=(START, _end(tx_1=OUT + 7, rx_1=SENT + 5))))
    assert {each.outcome for each in found} == {"ok"}


def test_frames_on_a_wrong_port_are_compared_in_sum() -> None:
    """Five of the load out came back on port 0, where they were sent."""
    streams = [
        stream_counts(LOAD_OUT, SENT, lost=5, misdirected=5),
        stream_counts(LOAD_BACK, SENT),
        stream_counts(PROBE, PROBES),
    ]
    found = dut_agreement(outcome(streams=streams, dut=(START, _end(tx_1=OUT - 5, tx_0=SENT + 5))))
    assert [(each.subject, each.value, each.limit) for each in found] == [
        ("all ports", OUT + SENT, OUT + SENT),
        ("all ports", OUT + SENT, OUT + SENT),
    ]


def test_a_dut_without_counters_is_not_queried() -> None:
    assert dut_agreement(outcome()) == []


def test_the_sums_that_are_recorded_are_those_that_are_judged() -> None:
    """With frames that the DUT's port missed and that the hosts of the tester's port sent."""
    said = {"arp": 1, "nd": 1, "echo": 4, "heard": 1, "answered": 5, "moved": 1}
    ports = (port_counts(0), port_counts(1, host=said, foreign=3))
    end = list(_end(rx_0=OUT - 30, tx_1=OUT - 30 + 10, rx_1=SENT + 5))
    end[0] = DutPortCounters(0, end[0].rx_frames, end[0].tx_frames, 20, 10, 0, 0)
    trial = outcome(lost=30, ports=ports, dut=(START, tuple(end)))
    assert [(s.direction, s.port, s.tester, s.dut) for s in counter_sums(trial)] == [
        ("into", 0, OUT, OUT),
        ("into", 1, SENT + 5, SENT + 5),
        ("out-of", 0, SENT, SENT),
        ("out-of", 1, OUT - 20, OUT - 20),
    ]
    judged = [(each.value, each.limit) for each in dut_agreement(trial)]
    assert judged == [(each.tester, each.dut) for each in counter_sums(trial)]
