"""How long a plugfest may take, before it has run anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from plimsoll.benchmark.calibration.shared_calibrations import CalibratedTester
from plimsoll.benchmark.check.check import planned_duration
from plimsoll.benchmark.check.planned_phases import PlannedTime, TypicalPhase
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.methods.matrix.combinations import Sample
from plimsoll.methods.matrix.plan import MatrixPlan, read_iteration
from plimsoll.record.run.run_directory import RunDirectory

# Of each repetition: lab, generator and observers up and down, and its page. docs/plugfest.md has
# the run in which these were measured, on two shared vCPUs.
AROUND_CELL_S = 5.0
# Of each trial apart from sending and draining: counters, kernel events explained, records.
AROUND_TRIAL_S = 1.2
# The tester alone on rings, up and down, for a calibration.
CALIBRATION_BED_S = 2.5
# So many of a search's trials may be spoiled by the tester, and are run again.
INVALID_SHARE = 0.3
_CALIBRATION = "calibration"
_NOT_JUDGED = (_CALIBRATION, "warmup", "ceiling", "baseline")


@dataclass(frozen=True, slots=True)
class Span:
    """A time in s, at least and at most."""

    least_s: float = 0.0
    most_s: float = 0.0

    def __add__(self, other: Span) -> Span:
        """One after the other."""
        return Span(self.least_s + other.least_s, self.most_s + other.most_s)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left to do, of cells that can be run.

    `first` is the time of the first repetition of each cell that has none yet, which the budget
    does not shorten, `all_of_it` that of all repetitions that are left; None where nothing tells.
    By the mean over ideal DUTs: at least without an invalid trial, at most with INVALID_SHARE.
    """

    cells: int
    repetitions: int
    first: Span | None
    all_of_it: Span | None


def estimate(
    run: RunDirectory, plan: MatrixPlan, refused: Collection[int], done: Collection[Sample]
) -> Estimate:
    """By the search's plan on ideal DUTs, and by what was measured around trials.

    `done` are the repetitions that have their result. A calibration is counted once for all
    cells that share it.
    """
    runnable = [each.number for each in plan.iterations if each.number not in refused]
    cells: dict[int, Span] = {}
    testers: list[CalibratedTester] = []
    calibrations = Span()
    for number in runnable:
        experiment = read_iteration(run, number)
        planned = planned_duration(experiment)
        cell = _cell(planned)
        if cell is None:
            return Estimate(len(runnable), plan.samples, None, None)
        cells[number] = cell
        tester = _tester(experiment, planned)
        if tester not in testers and any(s.iteration == number for s in _left(plan, done)):
            testers.append(tester)
            calibrations += _calibration(planned)
    left = [each for each in _left(plan, done) if each.iteration in cells]
    begun = {each.iteration for each in done}
    first = [each for each in left if each.number == 1 and each.iteration not in begun]
    return Estimate(
        cells=len(runnable),
        repetitions=plan.samples,
        first=sum((cells[each.iteration] for each in first), calibrations if first else Span()),
        all_of_it=sum((cells[each.iteration] for each in left), calibrations),
    )


def _left(plan: MatrixPlan, done: Collection[Sample]) -> Iterable[Sample]:
    return (each for each in plan.in_order() if each not in done)


def _cell(planned: PlannedTime) -> Span | None:
    """One repetition without its calibration; None where its search is not known yet."""
    spans = [_phase(each) for each in planned.typical if each.name != _CALIBRATION]
    return sum(spans, Span(AROUND_CELL_S, AROUND_CELL_S)) if planned.typical else None


def _calibration(planned: PlannedTime) -> Span:
    spans = [_phase(each) for each in planned.typical if each.name == _CALIBRATION]
    return sum(spans, Span(CALIBRATION_BED_S, CALIBRATION_BED_S)) if spans else Span()


def _phase(phase: TypicalPhase) -> Span:
    whole_s = phase.seconds + AROUND_TRIAL_S * phase.trials
    again = 1.0 if phase.name in _NOT_JUDGED else 1.0 / (1.0 - INVALID_SHARE)
    return Span(whole_s, whole_s * again)


def _tester(experiment: Experiment, planned: PlannedTime) -> CalibratedTester:
    return CalibratedTester.of(experiment, experiment.lab.port_count, planned.maximum_pps or 0.0)
