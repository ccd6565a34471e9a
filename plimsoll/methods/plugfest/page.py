"""The page of a plugfest: heat maps, tables as a plugfest has them, and every cell's reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analysis.comparison.words import counted_conclusions, value_words
from plimsoll.methods.plugfest.conclusions import plugfest_so_far
from plimsoll.methods.plugfest.grids import (
    LATENCIES,
    STATE_WORDS,
    THROUGHPUT,
    GridSetting,
    difference_grid,
    difference_words,
    duts_of,
    figure_words,
    latency_grid,
    limited_by_tester,
    outcome_words,
    setting_of,
    setting_title,
    settings_of,
    throughput_grid,
)
from plimsoll.methods.plugfest.heat import difference_heat, figure_heat
from plimsoll.methods.plugfest.result import (
    Axis,
    CellDifference,
    MeasuredFigure,
    PlugfestCell,
    PlugfestResult,
)
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    filed,
    seconds,
    sentence,
    text,
)
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page
from plimsoll.text.counted import counted
from plimsoll.text.units import format_duration

_OTHER_AXES: tuple[tuple[Axis, str, str], ...] = (
    ("noise", "Noise", "noise"),
    ("chain", "Chains", "chains"),
    ("generator", "Generators", "generators"),
)
_DEGRADED = (THROUGHPUT, "p99 latency", "p99.9 latency")
_NOTES = (
    "A difference is the median of all pairwise ratios of the two cells' repetitions (Hodges and "
    "Lehmann, on the logarithms; in the figure's own unit where a value is zero), its 95 % "
    "interval exact, from the distribution of the Mann-Whitney statistic: neither assumes a "
    "distribution. Better and worse: the interval leaves out zero. The same within a share: all "
    "of the interval is inside it. All else cannot tell, as below four repetitions a side, "
    "where there is no interval. A ≥ counts as a lower bound. Of twenty differences that are "
    "none, one seems to be one.",
    "Latency is that at each repetition's own load line: where load lines differ, so do the loads "
    "at which it was measured.",
)


@dataclass(frozen=True, slots=True)
class SettingPart:
    """Heat map and tables of one chain, noise and generator."""

    title: str
    tables: tuple[ReportTable, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class AxisPart:
    """What another axis than the DUTs does: noise, chains or generators."""

    anchor: str
    title: str
    base: str
    cells: ReportTable
    figures: tuple[Figure, ...]


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    result = plugfest_so_far(run)
    finished = run.result.exists()
    measured = {setting_of(cell) for cell in result.measured}
    # Of the others all that there is to say stands with the cells without a load line.
    parts = tuple(
        _setting_part(result, setting) for setting in settings_of(result) if setting in measured
    )
    axes = tuple(_axis_parts(result))
    figures = (
        *(figure for part in parts for figure in part.figures),
        *(figure for part in axes for figure in part.figures),
    )
    lost = _lost_table(result)
    return Page(
        template="plugfest.html.j2",
        headline=_headline(result, finished),
        contents=(
            ("results", "Throughput and latency"),
            *((part.anchor, part.title) for part in axes),
            *((("missing", "Cells without a load line"),) if lost.rows else ()),
            ("cells", "All cells"),
            ("order", "Order"),
        ),
        figures=figures,
        key_figures=tuple(each.name for each in figures[:1] if each.chart is not None),
        content={
            "settings": parts,
            "axes": axes,
            "lost": lost,
            "cells": _cells_table(result),
            "frames": tuple(result.frames.items()),
            "order": _order_table(result),
            "seed": result.seed,
            "notes": _NOTES,
        },
    )


def _headline(result: PlugfestResult, finished: bool) -> Headline:
    duts = len(duts_of(result))
    measured = len(result.measured)
    missing = len(result.cells) - measured
    compared = [
        each.conclusion
        for each in result.differences
        if each.axis == "dut" and each.figure == THROUGHPUT and each.conclusion is not None
    ]
    limit = [] if finished else ["The run has not finished: these are its results so far."]
    if missing:
        limit.append(
            f"{counted(missing, 'cell')} of {len(result.cells)} without a load line: see why below."
        )
    if compared:
        limit.append(
            f"Of {counted(len(compared), 'cell')} held against {result.baseline}, in throughput "
            f"{counted_conclusions(compared)}."
        )
    ran = [sample for sample in result.samples if sample.skipped is None]
    invalid = sum(sample.verdict == "invalid" for sample in ran)
    return Headline(
        kicker="Plugfest",
        outcome="none",
        outcome_words="" if finished else "not ended",
        statement=f"{counted(duts, 'DUT')} in {counted(len(result.cells), 'cell')}",
        facts=(
            (str(measured), "cells with a load line"),
            (str(len(ran)), "repetitions run"),
            (format_duration(result.spent_s), "spent"),
            *(((format_duration(result.budget_s), "budget"),) if result.budget_s else ()),
            (str(result.seed), "seed of the order"),
        ),
        limit=tuple(limit),
        trust=(
            f"{invalid} of {len(ran)} repetitions were invalid: the tester was disturbed. They "
            "are ignored."
            if invalid
            else f"All {len(ran)} repetitions were valid.",
        ),
    )


def _setting_part(result: PlugfestResult, setting: GridSetting) -> SettingPart:
    several = len(duts_of(result)) > 1
    tables = [
        throughput_grid(result, setting),
        *(latency_grid(result, setting, name) for name in LATENCIES),
    ]
    figures = [figure_heat(result, setting, THROUGHPUT)]
    if several:
        tables.append(difference_grid(result, setting, THROUGHPUT))
        tables.append(difference_grid(result, setting, "p99 latency"))
        figures.append(difference_heat(result, "dut", setting, THROUGHPUT, result.baseline))
    figures.append(figure_heat(result, setting, "p99 latency", greater_is_darker=False))
    return SettingPart(setting_title(setting), tuple(tables), tuple(figures))


def _axis_parts(result: PlugfestResult) -> Iterator[AxisPart]:
    for part in _OTHER_AXES:
        axis, title, anchor = part
        of_axis = [each for each in result.differences if each.axis == axis]
        if not of_axis:
            continue
        base = str(getattr(result.cell(of_axis[0].baseline), axis))
        degraded = [each for each in of_axis if each.figure in _DEGRADED]
        figures = [
            difference_heat(result, axis, setting, THROUGHPUT, base)
            for setting in settings_of(result)
            if getattr(setting, axis) != base
        ]
        cells = _axis_table(result, part, base, degraded)
        yield AxisPart(anchor, title, base, cells, tuple(figures))


def _axis_table(
    result: PlugfestResult, part: tuple[Axis, str, str], base: str, cells: Sequence[CellDifference]
) -> ReportTable:
    """Each of `cells` against that which it differs from on one axis: both figures, how far."""
    axis, title, name = part
    columns = (
        sentence("cell", "Cell"),
        text("figure", "Figure"),
        filed("unit"),
        ReportColumn(("base_median", "base_least", "base_most"), base),
        ReportColumn(("median", "least", "most"), "This cell"),
        ReportColumn(
            ("difference", "difference_least", "difference_most"), "Difference (95 % interval)"
        ),
        text("outcome", "Outcome"),
        sentence("causes", "What had the polled CPUs"),
    )
    rows = tuple(_axis_row(result, axis, each) for each in cells)
    return ReportTable(name, columns, rows, title)


def _axis_row(result: PlugfestResult, axis: Axis, of: CellDifference) -> Cells:
    cell, base = result.cell(of.cell), result.cell(of.baseline)
    mark, words = outcome_words(of)
    # Said once for each cell, with its first figure.
    causes = cell.causes if axis == "noise" and of.figure == THROUGHPUT else None
    return (
        cell.label,
        of.figure,
        of.unit,
        _spread(base.figure(of.figure)),
        _spread(cell.figure(of.figure)),
        Cell((of.estimate, of.least, of.most), difference_words(of)),
        Cell((words,), mark=mark),
        causes or "",
    )


def _spread(figure: MeasuredFigure | None) -> Cell:
    if figure is None:
        return Cell((None, None, None))
    values = (figure.median, min(figure.values), max(figure.values))
    return Cell(values, figure_words(figure))


def _lost_table(result: PlugfestResult) -> ReportTable:
    columns = (sentence("cell", "Cell"), text("outcome", "Outcome"), sentence("reason", "Why"))
    rows = tuple((cell.label, _state(cell), cell.reason) for cell in result.cells if cell.reason)
    return ReportTable("cells-without-a-load-line", columns, rows, "Cells without a load line")


def _cells_table(result: PlugfestResult) -> ReportTable:
    """What came of each cell, and its repetitions."""
    columns = (
        ReportColumn(("number", "cell"), "Cell", "{}: {}".format, number=False, wraps=True),
        text("outcome", "Outcome"),
        ReportColumn(("load_line_pps", "bound"), "Load line"),
        ReportColumn(("interval_least_pps", "interval_most_pps"), "95 % interval"),
        ReportColumn(("p99_ns",), "p99"),
        sentence("repetitions", "Repetitions"),
    )
    return ReportTable(
        "cells", columns, tuple(_cell_row(each) for each in result.cells), "All cells"
    )


def _cell_row(cell: PlugfestCell) -> Cells:
    figure, latency = cell.figure(THROUGHPUT), cell.figure("p99 latency")
    bound = "at-least" if limited_by_tester(cell) else ""
    sign = "≥ " if bound else ""
    return (
        Cell((cell.number, cell.label)),
        _state(cell),
        Cell((None, None))
        if figure is None
        else Cell((figure.median, bound), f"{sign}{figure_words(figure)}"),
        _interval(figure),
        Cell((None,))
        if latency is None
        else Cell((latency.median,), value_words(latency.median, latency.unit)),
        _repetitions(cell),
    )


def _state(cell: PlugfestCell) -> Cell:
    words = STATE_WORDS[cell.state] + (", settled" if cell.settled else "")
    return Cell((cell.state,), words, _mark(cell))


def _repetitions(cell: PlugfestCell) -> Cell:
    """Each with its verdict, and a link to its report where it has one."""
    parts: list[tuple[str, str]] = []
    for each in cell.samples:
        if each.skipped is None:
            report = "" if each.error else f"{each.directory}/report.html"
            verdict = each.verdict if each.verdict != "none" else "failed"
            parts += [(", ", "")] * bool(parts)
            parts += [(str(each.number), report), (f" {verdict}", "")]
    left_out = [each.skipped for each in cell.samples if each.skipped is not None]
    if left_out:
        parts += [("\n", ""), (f"{len(left_out)} left out: {left_out[-1]}", "")]
    said = "".join(part for part, _ in parts).replace("\n", "; ")
    return Cell((said,), links=tuple(parts))


def _mark(cell: PlugfestCell) -> str:
    if cell.state == "measured":
        return "pass"
    return {"invalid": "invalid", "none": "fail", "failed": "fail"}.get(cell.state, "none")


def _interval(figure: MeasuredFigure | None) -> Cell:
    if figure is None or figure.least is None or figure.most is None:
        return Cell((None, None))
    bounds = (value_words(each, figure.unit) for each in (figure.least, figure.most))
    return Cell((figure.least, figure.most), " to ".join(bounds))


def _order_table(result: PlugfestResult) -> ReportTable:
    """Every repetition as it was run."""
    columns = (
        count("place", "#"),
        sentence("cell", "Cell"),
        count("repetition", "Repetition"),
        seconds("took_s", "Took"),
    )
    rows = tuple(
        (place, result.cell(each.cell).label, each.repetition, each.seconds)
        for place, each in enumerate(result.ran, start=1)
    )
    return ReportTable("order", columns, rows, "Order")
