"""The page of a trend: how the newest releases are, every change, and a chart of each figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import altair as alt

from plimsoll.analysis.comparison.side import Side, invalid_runs
from plimsoll.analysis.comparison.trend.change_points import FEWEST_RUNS, LEVEL
from plimsoll.analysis.comparison.trend.trend import (
    FigureTrend,
    LevelChange,
    Trend,
)
from plimsoll.analysis.comparison.trend.trend_words import change_words, newest_sentence, p_words
from plimsoll.analysis.comparison.words import (
    MARKS,
    counted_kinds,
    interval_words,
    kind_words,
    value_words,
)
from plimsoll.record.results.conclusion import ConclusionKind
from plimsoll.report.figures.figure import (
    BLUE,
    GREEN,
    NEUTRAL,
    VERMILLION,
    Figure,
    records,
    unchecked,
    y_pixel,
)
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    filed,
    number,
    sentence,
    text,
)
from plimsoll.report.figures.value_axis import TICKS, ValueAxis
from plimsoll.report.pages.standard.page import anchor_of
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page, render_page
from plimsoll.report.parts.run_head import runs_head
from plimsoll.report.parts.tables import facts_table
from plimsoll.text.counted import counted
from plimsoll.text.units import format_ratio

_MAX_KEY_FIGURES = 2
# That nothing changed is what a trend is made to show.
_MARKS: dict[ConclusionKind, str] = {**MARKS, "same": "pass"}
_NOTES = (
    "A change of level counts where a permutation test of the stretch around it tells it from "
    "chance, and where the 95 % interval of its size leaves out zero: of series in which nothing "
    f"changes, {format_ratio(LEVEL)} at most are said to have a change. The size is the median of "
    "all differences between the runs of two neighbouring levels (Hodges and Lehmann); neither "
    "assumes a distribution.",
    "p is the test's. The place of a change was chosen because the runs differ most there, so "
    "the interval of a small change is a little too narrow. Each figure has a test of its own: "
    "of six figures without a change, one is said to have one in "
    f"{format_ratio(6 * LEVEL)} of trends at most.",
)
_LEVELS = ("first level", "better than before", "worse than before")
_COLOURS = (BLUE, GREEN, VERMILLION)
_SHAPES = ("circle", "triangle-up", "triangle-down")
# Wider than this in all, names of releases are slanted.
_MAX_LEVEL_CHARACTERS = 90
_LABEL_LIMIT = 110


@dataclass(frozen=True, slots=True)
class FactsAt:
    """What else changed with the first figure from a release on."""

    release: str
    changes: ReportTable


def trend_page(found: Trend, *, by: str | None, command: str) -> str:
    """The whole page as HTML. `by` is the tag of the releases, `command` what makes it again."""
    head = runs_head(found.releases, group=by or "Release", command=command, method_notes=_NOTES)
    with unchecked():
        return render_page(head, _page(found, by))


def figure_charts(found: Trend) -> tuple[Figure, ...]:
    """A chart of each figure, in their order."""
    return tuple(
        figure_chart(f"trend-{anchor_of(each.name)}", each, found.releases)
        for each in found.figures
    )


def changes_table(found: Trend, addresses: Mapping[str, str] = MappingProxyType({})) -> ReportTable:
    """Each change of each figure, from the oldest release on; `addresses` are of runs by id."""
    columns = (
        text("figure", "Figure"),
        filed("unit"),
        sentence("release", "From"),
        ReportColumn(("before",), "Before"),
        ReportColumn(("since",), "Since"),
        ReportColumn(
            ("difference", "difference_least", "difference_most"), "Difference (95 % interval)"
        ),
        text("outcome", "Outcome"),
        number("p", "p", p_words),
        sentence("first_run", "First run"),
    )
    rows = tuple(
        (*_change(found, figure, change), _first_run(change, addresses))
        for figure in found.figures
        for change in figure.changes
    )
    return ReportTable("changes", columns, rows, "Changes", style="cards trend")


def _change(found: Trend, figure: FigureTrend, change: LevelChange) -> Cells:
    of = change.shift if change.shift.relative is None else change.shift.relative
    return (
        figure.name,
        figure.unit,
        found.releases[change.release].label,
        Cell((change.before,), value_words(change.before, figure.unit)),
        Cell((change.after,), value_words(change.after, figure.unit)),
        Cell((of.estimate, of.least, of.most), change_words(figure, change)),
        Cell((change.judgement,), mark=_MARKS[change.judgement]),
        change.p,
    )


def _first_run(change: LevelChange, addresses: Mapping[str, str]) -> Cell:
    run_id = change.first_run.run_id
    address = addresses.get(run_id, "")
    return Cell((run_id,), links=((run_id, address),) if address else ())


def facts_lines(found: Trend) -> tuple[FactsAt, ...]:
    """What else changed with the first figure, release by release."""
    releases = [(found.releases[at.release].label, at.changes) for at in found.facts]
    return tuple(
        FactsAt(label, facts_table(("Before", "Since"), changes, f"What changed with {label}"))
        for label, changes in releases
    )


def _page(found: Trend, by: str | None) -> Page:
    figures = figure_charts(found)
    drawn = (figure.name for figure in figures if figure.chart is not None)
    key = tuple(drawn)[:_MAX_KEY_FIGURES]
    return Page(
        template="trend.html.j2",
        headline=_headline(found, by),
        contents=(
            ("changes", "Changes"),
            ("facts", "What else changed"),
            *((("figures", "Figures"),) if len(figures) > len(key) else ()),
        ),
        figures=figures,
        key_figures=key,
        content={
            "changes": changes_table(found),
            "facts": facts_lines(found),
            "first_figure": found.figures[0].name,
        },
    )


def _headline(found: Trend, by: str | None) -> Headline:
    figure = found.figures[0]
    last = figure.changes[-1] if figure.changes else None
    size = change_words(figure, last).partition(" (")[0] if last else ""
    since = f"{figure.name} since {found.releases[last.release].label}" if last else ""
    others = (each for each in found.figures[1:] if each.changes)
    return Headline(
        kicker=f"Trend over {counted(len(found.releases), 'release')}"
        + (f" by {by}" if by else ", each a run"),
        outcome=_MARKS[figure.kind],
        outcome_words=kind_words(figure.kind, figure.within),
        value=size,
        unit=since,
        statement=_statement(figure),
        facts=tuple(_facts(figure, last)),
        limit=(*_sentences(found, figure), *_counts(found)),
        warnings=invalid_runs(found.releases),
        trust=tuple(newest_sentence(found, each) for each in others),
    )


def _statement(figure: FigureTrend) -> str:
    """Where no change answers."""
    if figure.kind == "same":
        said = kind_words(figure.kind, figure.within)
        return f"{figure.name[:1].upper()}{figure.name[1:]}: the {said}"
    few = "Too few runs" if figure.newest == "cannot tell" else "Too wide a spread"
    return f"{few} to tell whether the {figure.name} changed"


def _counts(found: Trend) -> Iterator[str]:
    """Of all figures, how many are better, worse, the same and unknown."""
    if len(found.figures) > 1:
        kinds = [each.kind for each in found.figures]
        said = counted_kinds(kinds, found.figures[0].within)
        yield f"Of {counted(len(kinds), 'figure')} at the newest level {said}."


def _sentences(found: Trend, figure: FigureTrend) -> Iterator[str]:
    said = newest_sentence(found, figure)
    yield f"{said[:1].upper()}{said[1:]}"
    if figure.newest == "no change seen":
        yield (
            "A step shows once some four runs are beyond it, where it is four times the spread of "
            "repetitions; a smaller one takes more."
        )


def _facts(figure: FigureTrend, last: LevelChange | None) -> Iterator[tuple[str, str]]:
    if last:
        yield value_words(last.after, figure.unit), "median since"
        yield value_words(last.before, figure.unit), "median before"
        if interval := interval_words(last.shift, figure.unit):
            yield interval, "95 % interval"
        yield p_words(last.p), "p of the change"
    else:
        level = figure.level(0, len(figure.values))
        if level is not None:
            yield value_words(level, figure.unit), "median of all runs"
    runs = f"{figure.runs}"
    yield runs, "runs" if figure.runs >= FEWEST_RUNS else f"runs, of {FEWEST_RUNS} that it takes"


# One figure over releases: every run, the level of each stretch, and where it changes.
def figure_chart(name: str, figure: FigureTrend, releases: Sequence[Side]) -> Figure:
    """A point for each run, by release; a line at each level's median; a rule at each change."""
    title = figure.name[:1].upper() + figure.name[1:]
    if not figure.runs:
        return Figure(name, title, "No run has it.", None)
    axis = ValueAxis.over((value for values in figure.values for value in values), figure.unit)
    labels = [side.label for side in releases]
    x = _release_axis(labels)
    layers = [_changes(figure, labels, x), *_stretches(figure, labels, axis, x)]
    chart = alt.LayerChart(layer=[layer for layer in layers if layer is not None])
    way = "Higher is better." if figure.better == "higher" else "Lower is better."
    caption = f"A point is a run, a line the median of a level, a dashed rule a change. {way}"
    return Figure(name, title, caption, chart)


def _release_axis(labels: list[str]) -> alt.X:
    slanted = sum(map(len, labels)) > _MAX_LEVEL_CHARACTERS
    return alt.X(
        "release:N",
        title=None,
        scale=alt.Scale(type="band", domain=labels, padding=0),
        axis=alt.Axis(labelAngle=-40 if slanted else 0, labelLimit=_LABEL_LIMIT),
    )


def _stretches(
    figure: FigureTrend, labels: list[str], axis: ValueAxis, x: alt.X
) -> list[alt.Chart | None]:
    kinds = [_LEVELS[0], *(f"{change.judgement} than before" for change in figure.changes)]
    points: list[dict[str, object]] = []
    lines: list[dict[str, object]] = []
    for (begin, end), kind in zip(figure.stretches, kinds, strict=True):
        level = figure.level(begin, end)
        for place in range(begin, end):
            row = {"release": labels[place], "level": kind}
            points += [{**row, "value": v / axis.divisor} for v in figure.values[place]]
            if level is not None:
                lines.append({**row, "value": level / axis.divisor})
    values = [value for of_release in figure.values for value in of_release]
    present = [n for n, kind in enumerate(_LEVELS) if kind in kinds]
    names = [_LEVELS[n] for n in present]
    y = alt.Y(
        "value:Q",
        title=axis.unit,
        scale=alt.Scale(domain=axis.domain(values), nice=False),
        axis=alt.Axis(format=TICKS, tickCount=6),
    )
    colour = alt.Color(
        "level:N",
        scale=alt.Scale(domain=names, range=[_COLOURS[n] for n in present]),
        legend=alt.Legend() if len(names) > 1 else None,
    )
    shape = alt.Shape("level:N", scale=alt.Scale(domain=names, range=[_SHAPES[n] for n in present]))
    tooltip = [
        alt.Tooltip("release:N"),
        alt.Tooltip("value:Q", title=axis.unit, format=",.5~g"),
        alt.Tooltip("level:N"),
    ]
    medians = (
        alt.Chart(records(lines))
        .mark_rule(strokeWidth=2.5)
        .encode(x=_edge(x), x2=alt.X2("release:N", bandPosition=1), y=y, color=colour)
    )
    runs = (
        alt.Chart(records(points))
        .mark_point(filled=True, size=44, opacity=0.75)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)
    )
    return [medians, runs]


def _changes(figure: FigureTrend, labels: list[str], x: alt.X) -> alt.LayerChart | None:
    if not figure.changes:
        return None
    rows = [
        {"release": labels[change.release], "size": change_words(figure, change).split(" (")[0]}
        for change in figure.changes
    ]
    base = alt.Chart(records(rows)).encode(x=_edge(x))
    rule = base.mark_rule(color=NEUTRAL, strokeDash=[5, 4], strokeWidth=1.4)
    text = base.mark_text(align="left", baseline="top", dx=5, dy=2, fontWeight=600).encode(
        y=y_pixel(0), text=alt.Text("size:N")
    )
    return alt.LayerChart(layer=[rule, text])


def _edge(x: alt.X) -> alt.X:
    """Where a release's band begins, not its middle."""
    edge: alt.X = x.copy()
    edge["bandPosition"] = 0
    return edge
