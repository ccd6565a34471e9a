"""The named trials of a standard test: each is run once, in however many sessions it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.errors import InputError
from plimsoll.record.trials.trial_record import TrialRecord

# How often an invalid trial is tried before its step counts as one that cannot be tested.
TRIES = 4
# So many steps in a row that cannot be tested are about the tester, not about the DUT.
_HOPELESS = 3


class Steps:
    """Runs trials by the names of their steps, and knows those that were run before.

    A standard test is a fixed way through its steps, which depends on nothing but what
    they showed. So a run that was killed goes the same way again, and only runs the
    trials that are not in its journal.
    """

    def __init__(self, session: Session, bed: Testbed) -> None:
        self.session = session
        self.bed = bed
        self._recorded: dict[str, list[TrialRecord]] = {}
        self._untestable_in_a_row = 0
        for trial in session.recorder.history().trials():
            self._remember(trial)

    def once(self, experiment: Experiment, request: TrialRequest) -> TrialRecord:
        """The step's trial, whatever its verdict, judged by `experiment`."""
        recorded = self._trials_of(request)
        return recorded[0] if recorded else self._run(experiment, request)

    def valid(
        self,
        experiment: Experiment,
        request: TrialRequest,
        *,
        tells: Callable[[TrialRecord], bool] = lambda _: True,
    ) -> TrialRecord:
        """The step's first valid trial that `tells` what the step needs, of at most four.

        The last one where there is none.
        """
        recorded = self._trials_of(request)
        while not recorded or (len(recorded) < TRIES and not _is_good(recorded[-1], tells)):
            attempt = len(recorded) + 1
            again = replace(request, attempt=attempt)
            recorded = [*recorded, self._run(experiment, again)]
        spoiled = recorded[-1].verdict == "invalid"
        self._untestable_in_a_row = self._untestable_in_a_row + 1 if spoiled else 0
        return recorded[-1]

    @property
    def hopeless(self) -> bool:
        """Whether the last steps had no valid trial: going on would only take time.

        A test that stops for it says so; the next one tries again.
        """
        return self._untestable_in_a_row >= _HOPELESS

    def _run(self, experiment: Experiment, request: TrialRequest) -> TrialRecord:
        session = replace(self.session, experiment=experiment)
        trial = TrialRunner(session, self.bed).run(request)
        self._remember(trial)
        return trial

    def _remember(self, trial: TrialRecord) -> None:
        if trial.step is not None:
            self._recorded.setdefault(trial.step, []).append(trial)

    def _trials_of(self, request: TrialRequest) -> list[TrialRecord]:
        """Those recorded of its step. Raises InputError where they answer another question."""
        if request.step is None:
            raise ValueError("a trial of a standard test has a step")
        recorded = self._recorded.get(request.step, [])
        for trial in recorded:
            same_load = math.isclose(trial.load_pps, request.load_pps, rel_tol=1e-9)
            if trial.phase != request.phase or not same_load:
                raise InputError(
                    f"trial {trial.number} ({request.step}) was run at {trial.load_pps:g} pps, "
                    f"and this test asks for {request.load_pps:g} pps there",
                    where="journal",
                    remedy="resume with the run's own experiment and version, or start a new run",
                )
        return recorded


def _is_good(trial: TrialRecord, tells: Callable[[TrialRecord], bool]) -> bool:
    return trial.verdict != "invalid" and tells(trial)
