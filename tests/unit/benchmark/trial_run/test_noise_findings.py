"""A trial whose noise was not what the experiment says is invalid."""

from plimsoll.trial.judging.tester_losses import noise_findings
from tests.unit.record.neighbour_records import neighbour
from tests.worded.says import Says


def test_a_neighbour_that_lasted_is_no_finding() -> None:
    assert list(noise_findings([neighbour(), neighbour(intensity=None, unknown="x")])) == []


def test_one_that_ended_early_spoils_the_trial(says: Says) -> None:
    (finding,) = noise_findings([neighbour(), neighbour(ended_early="exited with status 2")])
    assert (finding.rule, finding.subject) == ("noise", "stress-ng timer")
    assert (finding.outcome, finding.invalidates_trial) == ("invalid", True)
    assert finding.text == says("2")
