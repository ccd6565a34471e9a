"""What observes a trial while it runs, other than what records it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from plimsoll.dut.lab import LabPorts
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.record.recorder import Recorder
from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.record.run.journal import WINDOW
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.record.trials.window_record import WindowRecord
from plimsoll.trial.judging.windows import WindowRules, Windows
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.outcome import Baseline, Outcome

_RULE = "windows"


@dataclass(frozen=True, slots=True)
class StartingTrial:
    """What is known of trial `number` before its first frame.

    Without a `baseline` none was measured.
    """

    number: int
    plan: TrialPlan
    ports: LabPorts
    baseline: Baseline | None


class TrialOverseer(Protocol):
    """Of one trial: called at its start, at each interval, and with its outcome."""

    def begin(self, start: StartingTrial) -> None:
        """The trial is about to start."""

    def interval(self, interval: Interval) -> bool:
        """An interval of it ended; True to stop the trial."""

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """The outcome to judge it by, and findings of the overseer's own."""


class NoOverseer:
    """The TrialOverseer of a trial without one."""

    def begin(self, start: StartingTrial) -> None:
        """Nothing begins."""

    def interval(self, interval: Interval) -> bool:
        """It is not stopped."""
        return False

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """The outcome as it is."""
        return outcome, []


# A long trial's windows: judged and journalled one by one as they close.
def _silent(_: WindowRecord) -> None:
    """Report to no one."""


@dataclass
class WindowWatch:
    """The TrialOverseer that keeps a trial's windows. `on_window` is given each one.

    A failed window fails the trial; an invalid one, which the tester spoiled, does not. With
    `stop_on_failure` the first failed window ends it. `hosts` are observed for as long.
    """

    rules: WindowRules
    recorder: Recorder
    stop_on_failure: bool = False
    on_window: Callable[[WindowRecord], None] = _silent
    hosts: tuple[ObservedHostRecord, ...] = ()
    failed: int = 0
    _count: int = 0
    _first_failed: WindowRecord | None = None
    _windows: Windows | None = field(default=None)

    def begin(self, start: StartingTrial) -> None:
        """Begin the first window."""
        self._windows = Windows(
            self.rules,
            start.plan,
            start.ports,
            trial=start.number,
            baseline=start.baseline,
            closed=self._closed,
            host=HostMetrics(self.recorder.run, trial_period(start.number), self.hosts),
        )

    def interval(self, interval: Interval) -> bool:
        """Account for an interval; True when a failed window is to end the trial."""
        if self._windows is not None:
            self._windows.add(interval)
        return self.stop_on_failure and self.failed > 0

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """Close the last window; a finding tells how many failed."""
        if self._windows is not None:
            self._windows.finish(outcome)
        stopped = self.failed and outcome.report.ended_by in ("stop", "losses")
        return judged_as_it_ran(outcome) if stopped else outcome, [self._finding()]

    def _closed(self, window: WindowRecord) -> None:
        self.recorder.event(WINDOW, window=window.model_dump(mode="json"))
        self._count += 1
        if window.verdict == "fail":
            self.failed += 1
            self._first_failed = self._first_failed or window
        self.on_window(window)

    def _finding(self) -> Finding:
        text = f"{self.failed} of {self._count} windows failed; none may"
        if self._first_failed is not None:
            first = self._first_failed
            text += f"; the first, number {first.index}: {first.reasons[0].text}"
        outcome: FindingOutcome = "fail" if self.failed else "ok"
        return Finding(_RULE, "trial", self.failed, 0, "windows", outcome, text)


def judged_as_it_ran(outcome: Outcome) -> Outcome:
    """The outcome of a trial that was stopped for a reason: it was to run no longer."""
    return replace(outcome, plan=replace(outcome.plan, duration_s=outcome.report.sending_s))
