"""The page of any standard test: its answer, its sections, the hosts, and all its trials."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.record.results.method_result import invalid_reasons
from plimsoll.record.run.audit_record import read_audits
from plimsoll.record.run.journal import FINISHED, JournalContents
from plimsoll.record.run.primary_trial import primary_trial
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.charts.trial_figures import trial_figures
from plimsoll.report.data.one_host import observed_trials
from plimsoll.report.hosts.section import host_sections
from plimsoll.report.pages.standard.sections import PageAnswer
from plimsoll.report.parts.finding_lines import rule_words
from plimsoll.report.parts.headline import Headline, trial_checks, trials_trust
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.tables import trial_table
from plimsoll.report.parts.trial_details import trial_details
from plimsoll.report.tuning.section import tuning_section

_THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True)
class AnsweringTrials:
    """Trials by what they answer, such as "64 B", as the page lists them; `said` says which."""

    said: str
    by_answer: Mapping[str, TrialRecord]


def trials_of_frames(journal: JournalContents) -> AnsweringTrials:
    """Of each kind of frames the trial that proved the throughput, as the step's name has it.

    Where no throughput was looked for, or none was found yet, it is the most telling one.
    """
    by_frames: dict[str, list[TrialRecord]] = {}
    for trial in journal.trials():
        if frames := _frames_of(trial):
            by_frames.setdefault(frames, []).append(trial)
    chosen = {frames: _of_throughput(trials) for frames, trials in by_frames.items()}
    return AnsweringTrials(
        said="During the final trial of each frame size's throughput; where there is none, "
        "during the last that passed.",
        by_answer={frames_words(frames): trial for frames, trial in chosen.items() if trial},
    )


def frames_words(frames: str) -> str:
    """A kind of frames, as results name it, for people: "64 B", "imix simple"."""
    return frames if frames.startswith("imix") else f"{frames} B"


def _frames_of(trial: TrialRecord) -> str:
    """As in "throughput/64/3"; "" of trials that are of no step."""
    return (trial.step or "").partition("/")[2].partition("/")[0]


def _of_throughput(trials: Sequence[TrialRecord]) -> TrialRecord | None:
    """Bursts and overloads show less: they are short, or lose frames on purpose."""
    of_throughput = [trial for trial in trials if str(trial.step).startswith(f"{_THROUGHPUT}/")]
    return primary_trial(of_throughput or trials, None)


_MAX_KEY_FIGURES = 3


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
    room = max(0, _MAX_KEY_FIGURES - sum(figure.chart is not None for figure in own))
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
            :_MAX_KEY_FIGURES
        ],
        trials=trial_table(journal, (each.number for each in trials)),
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
    unfinished = "This run has not finished: what follows are its results so far."
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
