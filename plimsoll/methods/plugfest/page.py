"""The page of a plugfest: heat maps, tables as a plugfest has them, and every cell's reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.analysis.comparison.words import counted_conclusions, value_words
from plimsoll.methods.matrix.result import SampleResult
from plimsoll.methods.plugfest.conclusions import plugfest_so_far
from plimsoll.methods.plugfest.grids import (
    LATENCIES,
    STATE_WORDS,
    THROUGHPUT,
    Grid,
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
    PlugfestCell,
    PlugfestResult,
)
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.figure import Figure
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
    tables: tuple[Grid, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class AxisLine:
    """One cell against that which it differs from on one axis: both figures, and the difference."""

    cell: str
    figure: str
    base: str
    own: str
    difference: str
    mark: str
    outcome: str
    causes: str


@dataclass(frozen=True, slots=True)
class AxisPart:
    """What another axis than the DUTs does: noise, chains or generators."""

    anchor: str
    title: str
    base: str
    lines: tuple[AxisLine, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class CellLine:
    """A row of all cells: what came of it, why, and its repetitions."""

    number: int
    label: str
    state: str
    mark: str
    throughput: str
    interval: str
    latency: str
    reason: str
    samples: tuple[SampleResult, ...]


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
    lost = tuple(cell for cell in _cell_lines(result) if cell.reason)
    return Page(
        template="plugfest.html.j2",
        headline=_headline(result, finished),
        contents=(
            ("results", "Throughput and latency"),
            *((part.anchor, part.title) for part in axes),
            *((("missing", "Cells without a load line"),) if lost else ()),
            ("cells", "All cells"),
            ("order", "Order"),
        ),
        figures=figures,
        key_figures=tuple(each.name for each in figures[:1] if each.chart is not None),
        content={
            "settings": parts,
            "axes": axes,
            "lost": lost,
            "cells": tuple(_cell_lines(result)),
            "frames": tuple(result.frames.items()),
            "order": tuple(_order(result)),
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
    limit = [] if finished else ["The run has not come to its end: this is what there is by now."]
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
    for axis, title, anchor in _OTHER_AXES:
        of_axis = [each for each in result.differences if each.axis == axis]
        if not of_axis:
            continue
        base = str(getattr(result.cell(of_axis[0].baseline), axis))
        lines = [_axis_line(result, axis, each) for each in of_axis if each.figure in _DEGRADED]
        figures = [
            difference_heat(result, axis, setting, THROUGHPUT, base)
            for setting in settings_of(result)
            if getattr(setting, axis) != base
        ]
        yield AxisPart(anchor, title, base, tuple(lines), tuple(figures))


def _axis_line(result: PlugfestResult, axis: Axis, of: CellDifference) -> AxisLine:
    cell, base = result.cell(of.cell), result.cell(of.baseline)
    own, against = cell.figure(of.figure), base.figure(of.figure)
    mark, words = outcome_words(of)
    # Said once for each cell, with its first figure.
    causes = cell.causes if axis == "noise" and of.figure == THROUGHPUT else None
    return AxisLine(
        cell=cell.label,
        figure=of.figure,
        base="-" if against is None else figure_words(against),
        own="-" if own is None else figure_words(own),
        difference=difference_words(of),
        mark=mark,
        outcome=words,
        causes=causes or "",
    )


def _cell_lines(result: PlugfestResult) -> Iterator[CellLine]:
    for cell in result.cells:
        figure, latency = cell.figure(THROUGHPUT), cell.figure("p99 latency")
        least = "≥ " if limited_by_tester(cell) else ""
        yield CellLine(
            number=cell.number,
            label=cell.label,
            state=STATE_WORDS[cell.state] + (", settled" if cell.settled else ""),
            mark=_mark(cell),
            throughput="-" if figure is None else f"{least}{figure_words(figure)}",
            interval=_interval(cell),
            latency="-" if latency is None else value_words(latency.median, latency.unit),
            reason=cell.reason or "",
            samples=cell.samples,
        )


def _mark(cell: PlugfestCell) -> str:
    if cell.state == "measured":
        return "pass"
    return {"invalid": "invalid", "none": "fail", "failed": "fail"}.get(cell.state, "none")


def _interval(cell: PlugfestCell) -> str:
    figure = cell.figure(THROUGHPUT)
    if figure is None or figure.least is None or figure.most is None:
        return "-"
    bounds = (value_words(each, figure.unit) for each in (figure.least, figure.most))
    return " to ".join(bounds)


def _order(result: PlugfestResult) -> Iterator[tuple[str, ...]]:
    """Every repetition as it was run: place, cell, number, seconds."""
    for place, each in enumerate(result.ran, start=1):
        label = result.cell(each.cell).label
        yield str(place), label, str(each.repetition), format_duration(each.seconds)
