"""What the DUT saw of a trial, in findings: where frames were lost, and its remarks."""

from dataclasses import replace

from plimsoll.dut.sight import DutObservation, Hop, Remark
from plimsoll.trial.judging.verdict import dut_sight, losses_between
from tests.unit.trial.trial_builder import outcome
from tests.worded.says import Says

HOPS = (
    Hop(0, "port0 of the switch, in", 1000),
    Hop(0, "guest0a of the switch, out", 970),
    Hop(0, "guest0, in", 970),
    Hop(0, "port1 of the switch, out", 969),
    Hop(1, "port1 of the switch, in", 5),
    Hop(1, "port0 of the switch, out", 5),
)


def test_the_hop_that_lost_frames_is_named(says: Says) -> None:
    there, back = dut_sight(replace(outcome(), dut_sight=DutObservation(hops=HOPS)))
    assert (there.rule, there.subject, there.outcome) == ("hops", "direction 0", "ok")
    assert (there.value, there.limit) == (969, 1000)
    assert there.text == says("0", "1,000", "port0", "969", "port1", "30", "guest0a", "guest0")
    assert back.text == says("5", "port0")


def test_frames_that_came_from_elsewhere_are_negative_losses(says: Says) -> None:
    assert losses_between([Hop(0, "a", 4), Hop(0, "b", 6)]) == [(says(), -2)]


def test_remarks_are_findings_that_judge_nothing() -> None:
    remark = Remark("upcalls", "switch", 5000.0, 1000.0, "packets", "an upcall storm")
    (found,) = dut_sight(replace(outcome(), dut_sight=DutObservation(remarks=(remark,))))
    assert (found.rule, found.value, found.outcome, found.invalidates_trial) == (
        "upcalls",
        5000,
        "ok",
        False,
    )


def test_nothing_is_found_where_nothing_was_seen() -> None:
    assert dut_sight(outcome()) == []
