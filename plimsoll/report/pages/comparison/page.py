"""The page of a comparison: the verdict, what else changed, the figures, latency and CPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plimsoll.analysis.comparison.comparison import Comparison, FigureComparison, SideFigure
from plimsoll.analysis.comparison.conclude import Shift
from plimsoll.analysis.comparison.side import invalid_runs
from plimsoll.analysis.comparison.words import (
    MARKS,
    conclusion_words,
    counted_conclusions,
    difference_sentence,
    gravest,
    interval_words,
    shift_words,
    side_words,
    value_words,
)
from plimsoll.record.results.conclusion import Conclusion
from plimsoll.report.data.sides import owned_cpus, side_latency
from plimsoll.report.figures.figure import HEIGHT, Figure, unchecked
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    filed,
    sentence,
    text,
)
from plimsoll.report.pages.comparison.difference_chart import difference_chart, value_chart
from plimsoll.report.pages.comparison.difference_grid import difference_grid, fact_grid
from plimsoll.report.pages.comparison.side_charts import (
    busy_chart,
    interrupt_chart,
    side_ccdf,
    side_percentiles,
)
from plimsoll.report.pages.standard.page import anchor_of
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page, render_page
from plimsoll.report.parts.run_head import runs_head
from plimsoll.report.parts.tables import facts_table
from plimsoll.text.counted import counted

# From so many on the differences are a heat map, not a row each.
_MANY_SIDES = 4
# Rows and columns.
_GRID = 2
_NOTES = (
    "A difference is the median of all pairwise ratios of the sides' runs (Hodges and Lehmann, on "
    "the logarithms; in the figure's own unit where a value is zero), its 95 % interval exact, "
    "from the distribution of the Mann-Whitney statistic: neither assumes a distribution. Better "
    "and worse: the interval leaves out zero. The same within a share: all of the interval is "
    "inside it. All else cannot tell; a load line that the tester or search.maximum limits "
    "counts as a lower bound.",
    "Latency and loss are those of the trial on which each run's answer rests, at the load of "
    "that answer: where load lines differ, so do the loads at which latency was measured. Only the "
    "first figure is a gate: of five independent figures that do not differ, one or more would "
    "seem to in 23 % of comparisons.",
)


def comparison_page(found: Comparison, *, command: str, facts: Sequence[str] = ()) -> str:
    """The whole page as HTML; `command` makes it again. Raises RecordError.

    `facts` are what the runs were grouped by, where they were.
    """
    group = " · ".join(facts) or "Side"
    head = runs_head(found.sides, group=group, command=command, method_notes=_NOTES)
    with unchecked():
        return render_page(head, _page(found, facts))


def comparison_headline(found: Comparison) -> Headline:
    """What the first figure says of every side."""
    return _headline(found)


def _page(found: Comparison, facts: Sequence[str]) -> Page:
    latency = [each for side in found.sides if (each := side_latency(side))]
    hosts = {side.label: owned_cpus(side) for side in found.sides}
    values = tuple(_value_charts(found, facts))
    differences = difference_grid if len(found.sides) > _MANY_SIDES else difference_chart
    latencies = (side_ccdf(latency), side_percentiles(latency))
    cpus = (busy_chart(hosts), interrupt_chart(hosts))
    # The runs' own values of the first figure, the differences, and the tails of latency.
    key = tuple(_tall(each) for each in (values[0], differences(found), latencies[0]))
    figures: tuple[Figure, ...] = (*key, *values[1:], latencies[1], *cpus)
    labels = tuple(side.label for side in found.sides)
    return Page(
        template="comparison.html.j2",
        headline=_headline(found),
        contents=(
            ("facts", "What else changed"),
            ("figures", "Figures"),
            ("latency", "Latency"),
            ("hosts", "Hosts"),
        ),
        figures=figures,
        key_figures=tuple(each.name for each in key if each.chart is not None),
        content={
            "labels": labels,
            "changes": facts_table(labels, found.changes, "What else changed"),
            "differences": differences_table(found),
            "values": values[1:],
            "latencies": latencies[1:] if latency else latencies[:1],
            "cpus": cpus,
        },
    )


def _tall(figure: Figure) -> Figure:
    """As high as the charts next to it."""
    return replace(figure, height=max(figure.height, HEIGHT))


def _value_charts(found: Comparison, facts: Sequence[str]) -> Iterator[Figure]:
    """Of each figure that is known: over two facts a heat map of medians, else every run."""
    for figure in found.figures:
        name = f"values-{anchor_of(figure.name)}"
        if len(facts) == _GRID:
            yield fact_grid(name, figure, found.sides, facts)
        else:
            yield value_chart(name, figure, found.sides)


def differences_table(found: Comparison) -> ReportTable:
    """Each figure of all sides, with its difference from the first."""
    columns = (
        text("figure", "Figure"),
        filed("unit"),
        sentence("side", "Side"),
        ReportColumn(("median", "least", "most"), "Median (least to most)"),
        ReportColumn(
            ("difference", "difference_least", "difference_most"),
            "Difference (95 % interval)",
            missing="",
        ),
        filed("difference_unit"),
        text("outcome", "Outcome"),
    )
    labels = [side.label for side in found.sides]
    rows = tuple(row for each in found.figures for row in _difference_rows(labels, each))
    return ReportTable("differences", columns, rows, "Figures")


def _difference_rows(labels: Sequence[str], figure: FigureComparison) -> Iterator[Cells]:
    base, *others = figure.sides
    of_none = Cell((None,) * 3)
    yield (figure.name, figure.unit, labels[0], _values(base, figure), of_none, None, "baseline")
    pairs = zip(labels[1:], others, figure.shifts, figure.conclusions, strict=True)
    for label, side, of, conclusion in pairs:
        outcome = Cell((conclusion.kind,), conclusion_words(conclusion), MARKS[conclusion.kind])
        size = of if of is None or of.relative is None else of.relative
        yield (
            figure.name,
            figure.unit,
            label,
            _values(side, figure),
            of_none
            if of is None or size is None
            else Cell((size.estimate, size.least, size.most), shift_words(of, figure.unit)),
            "" if of is None else figure.unit if of.relative is None else "ratio",
            outcome,
        )


def _values(side: SideFigure, figure: FigureComparison) -> Cell:
    least, most = min(side.values, default=None), max(side.values, default=None)
    return Cell((side.median, least, most), side_words(side, figure.unit))


def _headline(found: Comparison) -> Headline:
    figure, base = found.figures[0], found.sides[0]
    others = found.sides[1:]
    outcome = gravest(figure.conclusions)
    kicker = f"{others[0].label} against {base.label}"
    if len(others) > 1:
        kicker = f"{counted(len(others), 'side')} against {base.label}"
    many = len(found.sides) > _MANY_SIDES
    of = figure.shifts[0] if len(others) == 1 else None
    # A difference that may be none is not a headline.
    certain = outcome.kind in ("better", "worse")
    size = _estimate(figure, of) if certain and of is not None else ""
    return Headline(
        kicker=kicker,
        outcome=MARKS[outcome.kind],
        outcome_words=conclusion_words(outcome) if len(others) == 1 else "",
        value=size,
        unit=figure.name if size else "",
        statement=_counts(figure),
        # Of many sides the table says it.
        facts=() if many else tuple(_facts(found, figure, of)),
        limit=() if many else tuple(_sentences(found, figure)),
        warnings=invalid_runs(found.sides),
        trust=(_else(found),),
    )


def _estimate(figure: FigureComparison, of: Shift) -> str:
    """The difference without its interval."""
    return shift_words(of, figure.unit).partition(" (")[0]


def _counts(figure: FigureComparison) -> str:
    """Of several sides, how many are better, worse, the same and unknown."""
    several = len(figure.conclusions) > 1
    said = (counted_conclusions if several else _only)(figure.conclusions)
    return f"{figure.name[:1].upper()}{figure.name[1:]}: {said}"


def _only(of: Sequence[Conclusion]) -> str:
    return conclusion_words(of[0])


def _facts(
    found: Comparison, figure: FigureComparison, of: Shift | None
) -> Iterator[tuple[str, str]]:
    for side, values in zip(found.sides, figure.sides, strict=True):
        if values.median is not None:
            runs = counted(len(values.values), "run")
            yield value_words(values.median, figure.unit), f"{side.label}, median of {runs}"
    if of is None:
        return
    yield _estimate(figure, of), "difference"
    if interval := interval_words(of, figure.unit):
        yield interval, "95 % interval"


def _sentences(found: Comparison, figure: FigureComparison) -> Iterator[str]:
    pairs = zip(found.sides[1:], figure.shifts, figure.conclusions, strict=True)
    for side, of, conclusion in pairs:
        yield f"{side.label}: {difference_sentence(figure, of, conclusion)}"


def _else(found: Comparison) -> str:
    if not found.changes:
        return "Nothing else that the runs recorded differs: experiment, host, versions or tuning."
    facts = counted(len(found.changes), "other fact")
    verb = "differs" if len(found.changes) == 1 else "differ"
    return f"{facts} {verb} between the sides, and any may be the cause: see What else changed."
