"""Which periods of a run a word means, wherever a command takes `--period`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import get_args

from plimsoll.errors import InputError
from plimsoll.record.query.metric_query import ALL_PERIODS, MEASUREMENT
from plimsoll.record.run.primary_trial import primary_trial_number, trials_by_phase
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_parts import TrialPhase

# Python makes no int of thousands of digits.
_TRIAL_NUMBER = re.compile(r"[0-9]{1,9}")
_PHASES: Collection[str] = get_args(TrialPhase)
_MOST_LISTED = 8


def matching_periods(word: str, run: RunDirectory, recorded: Collection[str]) -> tuple[str, ...]:
    """Of the periods that a run has metrics of, those that `word` means; none where it has none.

    A word is a period's name, the number of a trial, MEASUREMENT, ALL_PERIODS, or the phase of
    trials: validation.
    """
    if word == ALL_PERIODS:
        return tuple(recorded)
    named = [word]
    if word == MEASUREMENT:
        number = primary_trial_number(run)
        # Of a run whose journal tells of no trial, the last that has metrics.
        named = [max(recorded, default="") if number is None else trial_period(number)]
    elif _TRIAL_NUMBER.fullmatch(word):
        named = [trial_period(int(word))]
    elif word in _PHASES and word not in recorded:
        named = [trial_period(number) for number in trials_by_phase(run).get(word, ())]
    return tuple(period for period in named if period in recorded)


def unknown_period(word: str, recorded: Sequence[str]) -> InputError:
    """The error for a word that means none of the periods recorded."""
    listed = ", ".join(recorded[:_MOST_LISTED])
    more = f" and {len(recorded) - _MOST_LISTED} more" if len(recorded) > _MOST_LISTED else ""
    return InputError(
        f"{word!r} has no metrics",
        where="--period",
        remedy=f"use {MEASUREMENT}, {ALL_PERIODS}, the phase of trials such as validation, or "
        f"one of those recorded: {listed}{more}"
        if recorded
        else "nothing has been recorded yet: ask again when a trial has begun",
    )
