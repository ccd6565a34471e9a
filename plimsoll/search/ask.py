"""Ask and tell: how a search and whoever runs its trials talk to each other.

A search is pure: it says which load to try next and is told the verdict. The
same verdicts always lead to the same questions, so a search resumes by replay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from plimsoll.errors import InputError
from plimsoll.trial.verdict import Verdict

Phase = Literal["search", "validation"]


@dataclass(frozen=True, slots=True)
class Ask:
    """Run this trial next, at `load_pps` per direction.

    `attempt` is 1, and more after invalid trials of the same phase and load.
    """

    phase: Phase
    load_pps: float
    duration_s: float
    attempt: int


# What kept a load line from being higher: a load that failed, one that the tester could
# not test, or the end of the range that was searched.
LimitedBy = Literal["dut", "tester", "maximum"]


@dataclass(frozen=True, slots=True)
class Finished:
    """No more trials; `load_line_pps` is None where no load passed search and validation."""

    load_line_pps: float | None
    reason: str
    limited_by: LimitedBy | None = None


class Search(Protocol):
    """Any strategy."""

    def ask(self) -> Ask | Finished:
        """What to do next; the same answer until `tell` is called."""

    def tell(self, verdict: Verdict) -> None:
        """The verdict on the trial asked for."""


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """A trial of an earlier session, as its journal has it."""

    phase: Phase
    load_pps: float
    verdict: Verdict


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
        search.tell(record.verdict)
    return search


def _answers(record: RecordedTrial, asked: Ask) -> bool:
    same_load = math.isclose(record.load_pps, asked.load_pps, rel_tol=1e-9)
    return record.phase == asked.phase and same_load


def _in_words(asked: Ask | Finished) -> str:
    if isinstance(asked, Finished):
        return "it has finished"
    return f"{asked.phase} at {asked.load_pps:g} pps"
