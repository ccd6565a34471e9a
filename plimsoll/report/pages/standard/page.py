"""The page of any standard test: its answer, its sections, the hosts, and all its trials."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plimsoll.record.results.method_result import invalid_reasons
from plimsoll.record.run.audit_record import read_audits
from plimsoll.record.run.journal import FINISHED, JournalContents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.charts.trial_figures import trial_figures
from plimsoll.report.data.host_figures import observed_trials
from plimsoll.report.hosts.section import host_sections
from plimsoll.report.pages.standard.answering_trials import AnsweringTrials
from plimsoll.report.pages.standard.sections import PageAnswer
from plimsoll.report.parts.checklist import trial_checks
from plimsoll.report.parts.finding_lines import rule_words
from plimsoll.report.parts.headline import Headline, trials_trust
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.tables import lines_of
from plimsoll.report.parts.trial_details import trial_details
from plimsoll.report.tuning.section import tuning_section

_MOST_KEY_FIGURES = 3


def standard_page(
    run: RunDirectory, journal: JournalContents, answer: PageAnswer, behind: AnsweringTrials
) -> Page:
    """The page of a run in any state; `behind` are the trials of which it shows the hosts.

    Raises RecordError when what was recorded of the hosts is damaged.
    """
    observed = observed_trials(run, behind.by_answer)
    trials = journal.trials()
    shown = next(iter(behind.by_answer.values()), None)
    of_trials = dict(trial_figures(run, trials, None))
    own = answer.figures
    room = max(0, _MOST_KEY_FIGURES - sum(figure.chart is not None for figure in own))
    # Its charts stand in the first screen; what is drawn twice would have one name twice.
    lifted = of_trials.pop(shown.number, ())[:room] if shown else ()
    finished = bool(journal.of_kind(FINISHED))
    sections = tuple((anchor_of(section.title), section) for section in answer.sections)
    return Page(
        template="standard.html.j2",
        headline=_headline(answer, trials, finished),
        contents=(
            *((anchor, section.title) for anchor, section in sections),
            ("believe", "Why believe it"),
            ("hosts", "Hosts"),
            ("tuning", "Tuning"),
        ),
        figures=(*own, *lifted),
        key_figures=tuple(figure.name for figure in (*own, *lifted) if figure.chart is not None)[
            :_MOST_KEY_FIGURES
        ],
        trials=lines_of(journal),
        details=trial_details(trials, of_trials, shown.number if lifted and shown else None),
        content={
            "sections": sections,
            "behind": behind.said,
            "checklist": trial_checks(trials),
            "hosts": host_sections(observed),
            "tuning": tuning_section(read_audits(run), observed),
        },
    )


def anchor_of(title: str) -> str:
    """A section's name in links: "frame-loss-rate"."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _headline(answer: PageAnswer, trials: Sequence[TrialRecord], finished: bool) -> Headline:
    judged = [trial for trial in trials if trial.verdict != "none"]
    invalid = sum(trial.verdict == "invalid" for trial in judged)
    reasons = invalid_reasons(trials)
    kicker, _, rest = answer.heading.partition(": ")
    figure = answer.figure
    unfinished = "This run has not come to its end: what follows is what there is so far."
    return Headline(
        kicker=kicker,
        outcome="none",
        outcome_words="" if finished else "not ended",
        value=figure.value,
        unit=figure.unit,
        statement=rest or kicker,
        facts=figure.facts,
        limit=(*(() if finished else (unfinished,)), *answer.sentences),
        trust=(trials_trust(len(judged), invalid, rule_words(reasons[0].rule) if reasons else ""),),
        warnings=answer.warnings,
    )
