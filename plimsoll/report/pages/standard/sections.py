"""What a standard test's report is made of: an answer, and sections of sentences and tables.

The page and the terminal show the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from plimsoll.record.results.method_result import SHORTFALLS, Shortfall, shortfall_sentence
from plimsoll.record.run.journal import JournalContents
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.table import ReportTable


@dataclass(frozen=True, slots=True)
class PageSection:
    """One test: what is to be said of it, its tables and its charts."""

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """The one figure that a page shows large, with what it is, and others of its kind."""

    value: str
    unit: str
    facts: tuple[tuple[str, str], ...] = ()


# Where nothing is known yet.
NO_FIGURE = KeyFigure("", "")


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The whole: `warnings` are what every reader must see before the numbers.

    `figure` is what the page shows large in place of the heading.
    """

    heading: str
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    sections: tuple[PageSection, ...]
    figure: KeyFigure = NO_FIGURE

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Of all sections, in order."""
        return tuple(figure for section in self.sections for figure in section.figures)


def nonempty(sentences: Sequence[str | None]) -> tuple[str, ...]:
    """Those that there are."""
    return tuple(sentence for sentence in sentences if sentence)


# The sentences that every page of a shorter run begins with.
def shortfall_warnings(journal: JournalContents, standard: str) -> tuple[str, ...]:
    """In which points the run falls short of its standard; none where in none."""
    said = [event.fields.get("shortfalls") for event in journal.of_kind(SHORTFALLS)]
    entries = said[-1] if said and isinstance(said[-1], list) else []
    try:
        shortfalls = [Shortfall.model_validate(entry) for entry in entries]
    except ValidationError:
        return ("What this run leaves out of its standard was written by another version.",)
    sentence = shortfall_sentence(shortfalls, standard)
    return () if sentence is None else (sentence,)
