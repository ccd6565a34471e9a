"""`plimsoll trial`: one trial, which is all that its run leaves."""

from __future__ import annotations

from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import PER_DIRECTION, RunAnswer, RunOutcome, rate_text
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.trial_record import TrialRecord, Verdict


def trial_outcome(load_pps: float, verdict: Verdict, number: int) -> RunOutcome:
    """What the trial of this number came to."""
    answer = RunAnswer(f"{rate_text(load_pps)}: {verdict}", "load", load_pps, PER_DIRECTION)
    return RunOutcome(answer, verdict, trial_period(number))


def _outcome(trial: TrialRecord) -> RunOutcome:
    return trial_outcome(trial.load_pps, trial.verdict, trial.number)


TRIAL = Method(
    "trial",
    command="trial",
    result=TrialRecord,
    schema="trial-record",
    outcome=_outcome,
    by_criteria=True,
    one_trial=True,
)
