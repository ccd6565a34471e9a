"""The page of a churn run: tables of network and level, and what happened over time."""

from __future__ import annotations

from plimsoll.record.results.churn_result import ChurnResult
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.pages.churn.answer import churn_answer
from plimsoll.report.pages.standard.page import anchor_of
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page

_MOST_KEY_FIGURES = 3
_OUTCOME_WORDS = {"pass": "pass", "fail": "fail", "invalid": "invalid", "none": ""}


def churn_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    answer = churn_answer(run)
    result = read_run_result(run, ChurnResult)
    sections = tuple((anchor_of(section.title), section) for section in answer.sections)
    kicker, _, rest = answer.heading.partition(": ")
    unfinished = ("This run has not come to its end: what follows is what there is so far.",)
    figures = answer.figures
    drawn = [figure.name for figure in figures if figure.chart is not None]
    return Page(
        template="churn.html.j2",
        headline=Headline(
            kicker=kicker,
            outcome="none" if result is None else result.verdict,
            outcome_words="not ended" if result is None else _OUTCOME_WORDS[result.verdict],
            value=answer.figure.value,
            unit=answer.figure.unit,
            statement=rest,
            facts=answer.figure.facts,
            limit=(*(() if result else unfinished), *answer.sentences),
            warnings=answer.warnings,
            exact=() if result is None else (_versions(result), f"Seed {result.seed}."),
        ),
        contents=tuple((anchor, section.title) for anchor, section in sections),
        figures=figures,
        key_figures=tuple(drawn[:_MOST_KEY_FIGURES]),
        content={"sections": sections},
    )


def _versions(result: ChurnResult) -> str:
    known = (f"{name} {version}" for name, version in result.versions.items() if version)
    return f"Measured with {', '.join(known)}."
