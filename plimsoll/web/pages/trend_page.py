"""Figures over releases: which runs and releases were chosen, and what `plimsoll trend` finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from starlette.datastructures import QueryParams

from plimsoll.analysis.comparison.changes import parse_fact
from plimsoll.analysis.comparison.side import invalid_runs
from plimsoll.analysis.comparison.trend.trend import ReleaseOrder, releases_of, trend
from plimsoll.analysis.comparison.trend.trend_words import notable_sentences
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.table import ReportTable
from plimsoll.report.pages.trend.page import (
    FactsAt,
    changes_table,
    facts_lines,
    figure_charts,
)
from plimsoll.text.counted import counted
from plimsoll.web.pages.run_rows import FilterForm

ORDERS: Sequence[ReleaseOrder] = get_args(ReleaseOrder)


@dataclass(frozen=True, slots=True)
class TrendForm:
    """What the user has chosen. `by` is a tag or a fact; empty, each run stands by itself."""

    runs: tuple[str, ...]
    selection: FilterForm
    by: str
    order: ReleaseOrder

    @classmethod
    def of(cls, query: QueryParams) -> TrendForm:
        """From an address; an unknown order is the usual one."""
        return cls(
            runs=tuple(dict.fromkeys(query.getlist("run"))),
            selection=FilterForm.of(query),
            by=query.get("by", "").strip(),
            order=next((each for each in ORDERS if each == query.get("order")), ORDERS[0]),
        )

    def taken(self, entries: Iterable[RunEntry]) -> list[RunEntry]:
        """The finished runs that the form chooses; without a method, those of the commonest one.

        Figures of different methods make no trend. Raises InputError for a tag that is none.
        """
        takes = self.selection.selection().takes
        finished = [each for each in entries if each.state == "finished" and takes(each)]
        common = Counter(_method(each) for each in finished).most_common(1)
        return [each for each in finished if _method(each) == common[0][0]]


@dataclass(frozen=True, slots=True)
class TrendPage:
    """`figures` are drawn in this order; `first_figure` is what the runs were made for."""

    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    figures: tuple[Figure, ...]
    changes: ReportTable
    facts: tuple[FactsAt, ...]
    first_figure: str


def trend_page(
    entries: Sequence[RunEntry], form: TrendForm, addresses: Mapping[str, str]
) -> TrendPage:
    """The page of these runs, `addresses` by id. Raises PlimsollError as `trend` does."""
    releases = releases_of(entries, _fact(form.by) if form.by else None, form.order)
    found = trend(releases.sides)
    notes = list(invalid_runs(releases.sides))
    if releases.left_out:
        notes.append(f"{counted(releases.left_out, 'run')} without a value of {form.by} left out.")
    if len(releases.experiments) > 1:
        notes.append(f"Runs of {', '.join(releases.experiments)}: the name chooses among them.")
    return TrendPage(
        sentences=tuple(notable_sentences(found)),
        notes=tuple(notes),
        figures=figure_charts(found),
        changes=changes_table(found, addresses),
        facts=facts_lines(found),
        first_figure=found.figures[0].name,
    )


def release_tags(entries: Iterable[RunEntry]) -> list[str]:
    """The keys of tags with two values or more among the runs: these can name releases."""
    values = {pair for entry in entries for pair in entry.notes.tags.items()}
    counts = Counter(key for key, _ in values)
    return sorted(key for key, count in counts.items() if count > 1)


def _method(entry: RunEntry) -> str | None:
    return entry.summary.method if entry.summary else None


def _fact(text: str) -> str:
    try:
        return parse_fact(text)
    except InputError as error:
        raise InputError(error.message, where="by", remedy=error.remedy) from None
