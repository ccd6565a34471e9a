"""`plimsoll trial`: one trial, which is all that its run leaves."""

from __future__ import annotations

from plimsoll.record.methods.method import Method, RunOutcome, trial_outcome
from plimsoll.record.trials.trial_record import TrialRecord


def _outcome(trial: TrialRecord) -> RunOutcome:
    return trial_outcome(trial.load_pps, trial.verdict, trial.number)


METHOD = Method(
    "trial",
    command="trial",
    result=TrialRecord,
    schema="trial-record",
    outcome=_outcome,
    by_criteria=True,
    one_trial=True,
)
