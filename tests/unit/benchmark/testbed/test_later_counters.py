"""The DUT's counters are read again only where it counts more frames than came back."""

import pytest

from plimsoll.benchmark.testbed.host_captures import with_later_counters
from plimsoll.dut.lab import DutPortCounters, LabPorts
from plimsoll.dut.wired import PassiveLab
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.trial_builder import (
    DURATION_S,
    PROBE_PPS,
    RATE_PPS,
    dut_counters,
    outcome,
)

BACK = RATE_PPS * DURATION_S
OUT = BACK + PROBE_PPS * DURATION_S
START = dut_counters(rx_0=0, tx_1=0, rx_1=0, tx_0=0)
END = dut_counters(rx_0=OUT, tx_1=OUT, rx_1=BACK, tx_0=BACK)
LATER = dut_counters(rx_0=OUT, tx_1=OUT + 9, rx_1=BACK, tx_0=BACK)


class CountingLab(PassiveLab):
    def __init__(self) -> None:
        super().__init__("counting", LabPorts(("a", "b"), 64, 64, ((0, 1), (1, 0)), "wire", None))
        self.read = 0

    def counters(self) -> tuple[DutPortCounters, ...] | None:
        self.read += 1
        return LATER


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.benchmark.testbed.host_captures._LATER_S", 0.0)


def test_counters_that_agree_are_read_once() -> None:
    lab, judged = CountingLab(), outcome(dut=(START, END))
    assert with_later_counters(judged, lab) is judged
    assert lab.read == 0


def test_where_the_dut_sent_more_than_came_back_they_are_read_again() -> None:
    lab, judged = CountingLab(), outcome(lost=5, dut=(START, END))
    assert later_of(with_later_counters(judged, lab)) == LATER
    assert lab.read == 1


def test_a_dut_without_counters_is_not_asked() -> None:
    lab, judged = CountingLab(), outcome(lost=5)
    assert later_of(with_later_counters(judged, lab)) is None
    assert lab.read == 0


def later_of(judged: Outcome) -> tuple[DutPortCounters, ...] | None:
    return judged.dut_later
