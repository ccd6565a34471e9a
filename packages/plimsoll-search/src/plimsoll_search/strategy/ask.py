"""Ask and tell: how a search and whoever runs its trials talk to each other.

A search is pure: it says which trial to run next and is told what came of it. The
same answers always lead to the same questions, so a search resumes by replay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from ..evidence.trial_evidence import TrialEvidence
from ..text.errors import InputError
from .goal_end import GoalEnd, LimitedBy

__all__ = [
    "ONLY_GOAL",
    "Ask",
    "Finished",
    "GoalEnd",
    "JudgedVerdict",
    "LimitedBy",
    "Phase",
    "RecordedTrial",
    "Search",
    "Told",
    "replay",
]

# What a trial is for: "search" finds, "sniff" looks first whether a long one is worth it,
# "watch" looks for stalls at one load, "burst" measures buffers, "validation" proves.
Phase = Literal["search", "sniff", "watch", "burst", "validation"]

JudgedVerdict = Literal["pass", "fail", "invalid"]

# The goal of an experiment that names none: its own criteria.
ONLY_GOAL = "load-line"


@dataclass(frozen=True, slots=True)
class Ask:
    """Run this trial next, at `load_pps` per direction.

    Its verdict by the criteria of `goal` is what counts, and what ends it early where
    `early_abort` allows. `attempt` is 1, and more after invalid trials of the same
    question; `repetition` is 1, and more where the same trial is asked for again to see
    whether it repeats. `comes_again` says that the load is tested again before it counts,
    by another repetition or a validation: then one trial need not show by itself that
    trials repeat. A burst trial sends `burst_frames` from each load stream, back to
    back, and then nothing; `load_pps` only says which load it was asked for.
    """

    phase: Phase
    load_pps: float
    duration_s: float
    attempt: int = 1
    goal: str = ONLY_GOAL
    repetition: int = 1
    burst_frames: int | None = None
    early_abort: bool = True
    comes_again: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a trial: by goal its verdict, and the rules that made it fail or invalid.

    `offered_at_most_pps` is the load that the tester reached in a trial that is invalid
    because it cannot offer more; None for every other trial.
    """

    verdicts: Mapping[str, JudgedVerdict]
    evidence: TrialEvidence
    rules: Mapping[str, tuple[str, ...]]
    offered_at_most_pps: float | None = None

    def verdict(self, goal: str = ONLY_GOAL) -> JudgedVerdict:
        """The verdict by one goal's criteria."""
        return self.verdicts[goal]


@dataclass(frozen=True, slots=True)
class Finished:
    """No more trials: how each goal ended, in the order asked; never empty."""

    ends: tuple[GoalEnd, ...]

    @property
    def first(self) -> GoalEnd:
        """The end of the first goal, whose load line is the run's."""
        return self.ends[0]

    @classmethod
    def only(
        cls, load_line_pps: float | None, reason: str, limited_by: LimitedBy | None = None
    ) -> Finished:
        """The end of a search with one goal."""
        return cls((GoalEnd(ONLY_GOAL, load_line_pps, reason, limited_by),))


class Search(Protocol):
    """Any strategy."""

    def ask(self) -> Ask | Finished:
        """What to do next; the same answer until `tell` is called."""

    def tell(self, told: Told) -> None:
        """What came of the trial asked for. Raises RuntimeError when none was."""


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """A trial of an earlier session, as its journal has it."""

    phase: Phase
    load_pps: float
    told: Told


S = TypeVar("S", bound=Search)


def replay(search: S, records: Iterable[RecordedTrial]) -> S:
    """Tell a fresh search what was found before, and return it.

    Raises InputError when a recorded trial is not the one that the search asks
    for: the journal is then another experiment's.
    """
    for number, record in enumerate(records, start=1):
        asked = search.ask()
        if isinstance(asked, Finished) or not _answers(record, asked):
            raise InputError(
                f"trial {number} ({record.phase} at {record.load_pps:g} pps) is not what this "
                f"search asks for there ({_in_words(asked)})",
                where="journal",
                remedy="resume with the run's own experiment and version, or start a new run",
            )
        search.tell(record.told)
    return search


def _answers(record: RecordedTrial, asked: Ask) -> bool:
    same_load = math.isclose(record.load_pps, asked.load_pps, rel_tol=1e-9)
    return record.phase == asked.phase and same_load


def _in_words(asked: Ask | Finished) -> str:
    if isinstance(asked, Finished):
        return "it has finished"
    return f"{asked.phase} at {asked.load_pps:g} pps"
