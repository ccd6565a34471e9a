"""The page of any standard test: its answer, its sections, the hosts, and all its trials."""

from __future__ import annotations

from plimsoll.record.run.audit_record import read_audits
from plimsoll.record.run.journal import FINISHED, JournalContents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.data.host_figures import observed_trials
from plimsoll.report.hosts.section import host_sections
from plimsoll.report.pages.standard.answering_trials import AnsweringTrials
from plimsoll.report.pages.standard.sections import Answer
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.tables import lines_of
from plimsoll.report.tuning.section import tuning_section


def standard_page(
    run: RunDirectory, journal: JournalContents, answer: Answer, behind: AnsweringTrials
) -> Page:
    """The page of a run in any state; `behind` are the trials of which it tells the hosts.

    Raises RecordError when what was recorded of the hosts is damaged.
    """
    observed = observed_trials(run, behind.by_answer)
    return Page(
        template="standard.html.j2",
        heading=answer.heading,
        figures=answer.figures,
        content={
            "answer": answer,
            "finished": bool(journal.of_kind(FINISHED)),
            "behind": behind.told,
            "hosts": host_sections(observed),
            "tuning": tuning_section(read_audits(run), observed),
            "trials": lines_of(journal),
        },
    )
