"""What oversees a soak's trial: its windows, and requests to stop."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.benchmark.trial_run.trial_overseer import StartingTrial, WindowWatch, judged_as_it_ran
from plimsoll.generator.interface import Interval
from plimsoll.host.processes.stop_request import StopRequest
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

SOAK_STOPPED = "soak-stopped"


@dataclass
class SoakWatch:
    """A TrialOverseer that stops a soak on request, or at its first failed window.

    A soak that was stopped is judged for the time that it ran.
    """

    windows: WindowWatch
    request: StopRequest
    _stopped: bool = False

    def begin(self, start: StartingTrial) -> None:
        """Begin the windows."""
        self.windows.begin(start)

    def interval(self, interval: Interval) -> bool:
        """Account for an interval; True when the soak is to end."""
        failed = self.windows.interval(interval)
        if not self._stopped and self.request.signal_name is not None:
            self._stop("signal", self.request.signal_name)
        elif not self._stopped and failed:
            self._stop("failure", "a window failed")
        return self._stopped

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """Close the windows; what was stopped had no longer to run than it did."""
        _, findings = self.windows.ended(outcome)
        return judged_as_it_ran(outcome) if self._stopped else outcome, findings

    def _stop(self, why: str, what: str) -> None:
        self._stopped = True
        self.windows.recorder.event(SOAK_STOPPED, why=why, what=what)
