"""The absences of a trial's evidence, on the trial's own clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.attribution.ranking.trial_causes import CausesFound, TrialFacts, causes_of_trial
from plimsoll.benchmark.testbed.disturbances import disturbances_of
from plimsoll.generator.interface import ClockReading
from plimsoll.record.causes.causes_record import TraceState
from plimsoll.trial.judging.evidence import evidence_of
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.attribution.traces import AT, DUT, HZ, LOOPS, MS, WHOLE, latency, visit
from tests.unit.trial.trial_builder import outcome

# One tick is one ns; on the wall clock it is this much later.
WALL_NS = 1_700_000_000_000_000_000
FIRST_FRAME = AT - 250 * MS


def _found() -> CausesFound:
    """A visit of 4 ms, 250 ms after the first frame."""
    trace = TraceState(clock="x86-tsc")
    incidents = [latency(0, 4 * MS)]
    events = visit(0, 4 * MS, DUT, 812, "java")
    facts = TrialFacts(
        number=1,
        tsc_hz=HZ,
        incidents=incidents,
        loops=LOOPS,
        trace=trace,
        events=events,
        coverage=WHOLE,
    )
    return causes_of_trial(facts)


def _with_clock() -> Outcome:
    clock = tuple(
        ClockReading(tsc, tsc, WALL_NS + tsc, 100)
        for tsc in (FIRST_FRAME - 50 * MS, AT + 9000 * MS)
    )
    plain = outcome()
    report = replace(plain.report, clock=clock, begin_unix_ns=WALL_NS + FIRST_FRAME)
    return replace(plain, report=report)


def test_an_absence_is_timed_from_the_first_frame() -> None:
    judged = _with_clock()
    evidence = evidence_of(judged, disturbances_of(judged, _found()))
    (java,) = evidence.disturbances
    (absence,) = java.absences
    assert absence.at_s == pytest.approx(0.25, abs=1e-6)
    assert absence.length_ns == 4 * MS


def test_where_nothing_was_looked_for_there_is_none() -> None:
    assert disturbances_of(_with_clock(), None) == ()


def test_without_readings_of_the_clocks_nothing_can_be_timed() -> None:
    assert disturbances_of(outcome(), _found()) == ()
