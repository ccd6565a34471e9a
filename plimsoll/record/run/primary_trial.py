"""Which trial of a run is the one to look at, its measurement, and which are of a phase."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from plimsoll.record.run.journal import TRIAL, TRIAL_STARTED
from plimsoll.record.run.run_directory import RunDirectory

# These measure the tester, or nothing.
_PREPARATION = ("calibration", "warmup", "ceiling")
# The kinds of event as a journal's lines begin with them, to leave the others unparsed.
_TRIAL_EVENTS = tuple(json.dumps({"kind": kind})[:-1].encode() for kind in (TRIAL, TRIAL_STARTED))


class _Trial(Protocol):
    @property
    def number(self) -> int: ...

    @property
    def phase(self) -> str: ...

    @property
    def verdict(self) -> str: ...


T = TypeVar("T", bound=_Trial)


@dataclass(frozen=True, slots=True)
class _JournalTrial:
    number: int
    phase: str
    verdict: str


def primary_trial(trials: Sequence[T], proof: int | None) -> T | None:
    """The trial that proved the result, where there is one, by its number.

    Else the most telling one so far: the last validation, the last that passed, the last
    that was not preparation; None without any.
    """
    if proof is not None:
        return next((trial for trial in trials if trial.number == proof), None)
    measured = [trial for trial in trials if trial.phase not in _PREPARATION]
    passed = [trial for trial in measured if trial.verdict == "pass"]
    validations = [trial for trial in measured if trial.phase == "validation"]
    for candidates in (validations, passed, measured):
        if candidates:
            return candidates[-1]
    return None


def primary_trial_number(run: RunDirectory) -> int | None:
    """The number of a run's primary trial, found without parsing more than it takes.

    A run that has no finished trial yet has the one that is running. What is damaged in the
    result or the journal is passed over here: reading those reports it.
    """
    proof = _proof(run.result)
    if proof is not None:
        return proof
    events = list(_trial_events(run.journal))
    finished = [
        trial for event in events if (trial := _journal_trial(event.get("trial"))) is not None
    ]
    primary = primary_trial(finished, None)
    if primary is not None:
        return primary.number
    started = [event.get("number") for event in events if event["kind"] == TRIAL_STARTED]
    return next((number for number in reversed(started) if isinstance(number, int)), None)


def trials_by_phase(run: RunDirectory) -> dict[str, list[int]]:
    """The numbers of all trials that were begun, in that order, by their phase.

    What is damaged is passed over as above.
    """
    found: dict[str, list[int]] = {}
    for event in _trial_events(run.journal):
        number = event.get("number")
        if event["kind"] == TRIAL_STARTED and isinstance(number, int):
            found.setdefault(str(event.get("phase")), []).append(number)
    return found


def _proof(path: Path) -> int | None:
    try:
        result = json.loads(path.read_bytes())
        number = result["validation"]["trial"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        # There is none yet, or it is of a method that has no validation.
        return None
    return number if isinstance(number, int) else None


def _trial_events(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            for line in file:
                if line.startswith(_TRIAL_EVENTS):
                    yield from _parsed(line)
    except OSError:
        return


def _parsed(line: bytes) -> Iterator[dict[str, Any]]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return
    if event["kind"] in (TRIAL, TRIAL_STARTED):
        yield event


def _journal_trial(trial: Any) -> _JournalTrial | None:
    if not isinstance(trial, dict) or not isinstance(trial.get("number"), int):
        return None
    return _JournalTrial(trial["number"], str(trial.get("phase")), str(trial.get("verdict")))
