"""What searches are told of trials, from the trials' records: live and from the journal alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from plimsoll.record.trial_record import GoalVerdict, TrialRecord
from plimsoll.search.ask import Phase, RecordedTrial, Told
from plimsoll.trial.verdict import Verdict

_PHASES: tuple[Phase, ...] = get_args(Phase)


def told_of(trial: TrialRecord) -> Told:
    """What a search is told of a trial that it asked for. Raises ValueError of any other."""
    if trial.evidence is None or not trial.goals:
        raise ValueError(f"trial {trial.number} was not judged for a search")
    return Told(
        verdicts={goal: _verdict(judged) for goal, judged in trial.goals.items()},
        evidence=trial.evidence,
        rules={goal: judged.rules for goal, judged in trial.goals.items()},
    )


def recorded(trials: Sequence[TrialRecord]) -> Iterator[RecordedTrial]:
    """Those of an earlier session's trials that its search had asked for, in order."""
    for trial in trials:
        for phase in _PHASES:
            if trial.phase == phase:
                yield RecordedTrial(phase, trial.load_pps, told_of(trial))


def _verdict(judged: GoalVerdict) -> Verdict:
    if judged.verdict == "none":
        raise ValueError("a goal's verdict is missing")
    return judged.verdict
