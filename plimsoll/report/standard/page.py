"""The page of any standard test: its answer, its sections, and all its trials."""

from __future__ import annotations

from plimsoll.record.journal import FINISHED, JournalContents
from plimsoll.report.page import Page
from plimsoll.report.standard.sections import Answer
from plimsoll.report.tables import lines_of


def standard_page(answer: Answer, journal: JournalContents) -> Page:
    """The page of a run in any state."""
    return Page(
        template="standard.html.j2",
        heading=answer.heading,
        figures=answer.figures,
        content={
            "answer": answer,
            "finished": bool(journal.of_kind(FINISHED)),
            "trials": lines_of(journal),
        },
    )
