"""What counts as the tester's own fault when there is no DUT to blame."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.benchmark.calibration.tester_calibration import LoneTester, one_in_flight
from plimsoll.generator.interface import TrialReport
from plimsoll.traffic.plan import Pacing, StreamPlan
from tests.unit.benchmark.capped_generator import CappedGenerator
from tests.worded.says import Says

STREAM = StreamPlan(0, "load/0-0", "load", 0, 0, (bytes(60),), 1000.0)


class Altered(CappedGenerator):
    """Sends what it should, and reports something else."""

    def __init__(self, report: dict[str, Any], counts: dict[str, Any]) -> None:
        super().__init__(1e6)
        self._report, self._counts_changed = report, counts

    def trial(self, plan: Any, watch: Any) -> TrialReport:
        report = super().trial(plan, watch)
        streams = tuple(replace(each, **self._counts_changed) for each in report.streams)
        return replace(report, streams=streams, **self._report)


def test_a_clean_trial_has_no_fault() -> None:
    record, fault = LoneTester(CappedGenerator(1e6)).trial((STREAM,), 1000.0, 2.0)
    assert fault is None
    assert (record.phase, record.verdict, record.load_pps) == ("calibration", "none", 1000.0)
    assert (record.streams[0].sent, record.streams[0].lost) == (2000, 0)


@pytest.mark.parametrize(
    ("report", "counts", "facts"),
    [
        ({}, {"skipped": 3}, ("3", "load/0-0")),
        ({}, {"no_buffer": 3}, ("3", "load/0-0")),
        ({}, {"refused": 3}, ("3", "load/0-0")),
        ({}, {"received": 1999}, ("1", "load/0-0")),
        # The last burst may have been due and not sent when sending ended.
        ({}, {"sent": 1936, "received": 1936}, None),
        (
            {},
            {"sent": 1935, "received": 1935},
            ("65", "load/0-0"),
        ),
        ({"ended_by": "link_down"}, {}, ()),
    ],
)
def test_every_fault_is_reported(
    report: dict[str, Any], counts: dict[str, int], facts: tuple[str, ...] | None, says: Says
) -> None:
    _, fault = LoneTester(Altered(report, counts)).trial((STREAM,), 1000.0, 2.0)
    assert fault == (None if facts is None else says(*facts))


def test_each_trial_has_a_mark_and_a_number_of_its_own() -> None:
    generator = CappedGenerator(1e6)
    tester = LoneTester(generator)
    numbers = [tester.trial((STREAM,), 1000.0, 1.0)[0].number for _ in range(3)]
    assert numbers == [1, 2, 3]
    assert len({plan.mark for plan in generator.plans}) == 3


def test_one_in_flight_keeps_all_but_the_pace() -> None:
    (waiting,) = one_in_flight((STREAM,))
    assert waiting == replace(STREAM, rate_pps=None, pacing=Pacing("one-in-flight"))
