"""The page of a matrix: the load line of every combination, and how far its samples differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.analysis.comparison.conclude import FigureSample, conclude, same_within
from plimsoll.analysis.comparison.words import counted_conclusions
from plimsoll.methods.matrix.result import (
    IterationResult,
    LoadLineSpread,
    MatrixResult,
    SampleResult,
)
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    number,
    sentence,
    text,
)
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page
from plimsoll.report.tuning.section import HostTuning, tuning_of_run
from plimsoll.search.strategy.goal_end import BEYOND_THE_DUT
from plimsoll.text.counted import counted
from plimsoll.text.units import format_pps, format_ratio


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """A row: the values of what varies, the load lines' spread, and the samples."""

    number: int
    values: tuple[str, ...]
    load_line: LoadLineSpread | None
    samples: tuple[SampleResult, ...]

    @property
    def found(self) -> int:
        """How many samples have a load line."""
        return sum(each.load_line_pps is not None for each in self.samples)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the others have none, each once."""
        lacking = (each for each in self.samples if each.load_line_pps is None)
        return tuple(dict.fromkeys(each.error or each.reason or "" for each in lacking))


@dataclass(frozen=True, slots=True)
class MatrixLines:
    """The rows, the paths of their values, and what has one value in all iterations."""

    varied: tuple[str, ...]
    rows: tuple[MatrixLine, ...]
    common: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SampleTuning:
    """The tuning of the hosts of a sample's run, as on its own page; `row` is the sample's.

    `unread` says why nothing is known of it; "" where something is.
    """

    row: MatrixLine
    sample: SampleResult
    hosts: tuple[HostTuning, ...]
    unread: str = ""


def run_page(run: RunDirectory) -> Page:
    """The page of a matrix in any state. Raises RecordError when the record is damaged."""
    result = read_run_result(run, MatrixResult)
    lines = None if result is None else matrix_lines(result)
    tuning = tuple(_tuning(run, lines)) if lines else ()
    return Page(
        template="matrix.html.j2",
        headline=_headline(run, lines),
        contents=(("results", "Load lines"), *((("tuning", "Tuning"),) if tuning else ())),
        figures=(),
        content={
            "load_lines": load_lines_table(lines) if lines else None,
            "tuning": _tuning_table(lines, tuning) if lines and tuning else None,
        },
    )


def _headline(run: RunDirectory, lines: MatrixLines | None) -> Headline:
    if lines is None:
        said = ("The matrix has not finished; finished samples have reports.",)
        return Headline("Matrix", "none", "not ended", statement="Not finished", limit=said)
    samples = sum(len(row.samples) for row in lines.rows)
    found = sum(row.found for row in lines.rows)
    limit = list(_against_first(run, lines))
    if found < samples:
        limit.append(f"{samples - found} of {samples} samples found no load line; see the table.")
    return Headline(
        kicker="Matrix",
        outcome="none",
        outcome_words="",
        statement=f"{len(lines.rows)} combinations",
        facts=tuple((value, path) for path, value in lines.common),
        limit=tuple(limit),
        trust=(f"{found} of {samples} samples found a load line, each in a run of its own.",),
    )


def _against_first(run: RunDirectory, lines: MatrixLines) -> Iterator[str]:
    """How the load lines of the other combinations are against the first that has one."""
    found = [row for row in lines.rows if row.found]
    if len(found) < 2:
        return
    first, *others = found
    within = same_within(_experiment(run, row) for row in found)
    conclusions = [conclude(_sample(first), _sample(row), "higher", within) for row in others]
    yield (
        f"Of {counted(len(others), 'combination')} held against combination {first.number}, by "
        f"load line {counted_conclusions(conclusions)}."
    )


def _sample(row: MatrixLine) -> FigureSample:
    """With what limited each; none where the DUT failed at every load of some runs.

    What it carries there is not among the values.
    """
    if any(each.carried_nothing for each in row.samples):
        return FigureSample(())
    found = [(each.load_line_pps, each.limited_by) for each in row.samples]
    known = [(pps, limit in BEYOND_THE_DUT) for pps, limit in found if pps is not None]
    return FigureSample(tuple(pps for pps, _ in known), tuple(bound for _, bound in known))


def _experiment(run: RunDirectory, row: MatrixLine) -> Path:
    """That of a row's first sample with a load line."""
    sample = next(each for each in row.samples if each.load_line_pps is not None)
    return run.path / sample.directory / run.experiment.name


def matrix_lines(result: MatrixResult) -> MatrixLines:
    """A result as the rows of a table."""
    paths = list(dict.fromkeys(path for each in result.iterations for path in each.params))
    values = {path: [_value(each, path) for each in result.iterations] for path in paths}
    varied = [path for path in paths if len(set(values[path])) > 1]
    rows = (
        MatrixLine(
            number=iteration.number,
            values=tuple(values[path][row] for path in varied),
            load_line=iteration.load_line,
            samples=iteration.samples,
        )
        for row, iteration in enumerate(result.iterations)
    )
    common = tuple((path, values[path][0]) for path in paths if path not in varied)
    return MatrixLines(tuple(varied), tuple(rows), common)


def _tuning(run: RunDirectory, lines: MatrixLines) -> Iterable[SampleTuning]:
    """Of the samples that have a page of their own, and an audit."""
    for row in lines.rows:
        for sample in row.samples:
            if sample.error is None:
                tuning = _sample_tuning(run, row, sample)
                if tuning.hosts or tuning.unread:
                    yield tuning


def _sample_tuning(run: RunDirectory, row: MatrixLine, sample: SampleResult) -> SampleTuning:
    """One whose record is damaged costs the others nothing."""
    try:
        hosts = tuning_of_run(RunDirectory(run.path / sample.directory)).hosts
    except RecordError as error:
        return SampleTuning(row, sample, (), str(error))
    return SampleTuning(row, sample, hosts)


def _heads(paths: Sequence[str]) -> list[str]:
    """The last field of each path, or all of the path where that is ambiguous."""
    short = {path: path.rsplit(".", 1)[-1] for path in paths}
    times = Counter(short.values())
    return [name if times[name] == 1 else path for path, name in short.items()]


def _value(iteration: IterationResult, path: str) -> str:
    """For people; empty where the iteration does not set it."""
    value = iteration.params.get(path, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def load_lines_table(lines: MatrixLines) -> ReportTable:
    """Mean, least and most of each combination's samples, which have reports of their own."""
    columns = (
        number("iteration", "#", str),
        *_value_columns(lines),
        ReportColumn(("mean_pps",), "Mean", format_pps, missing=""),
        ReportColumn(("least_pps",), "Least", format_pps, missing=""),
        ReportColumn(("most_pps",), "Most", format_pps, missing=""),
        ReportColumn(("spread_ratio",), "Spread", format_ratio, missing=""),
        ReportColumn(("found", "samples", "reason"), "Samples", number=False),
    )
    rows = tuple(
        (row.number, *row.values, *_figures(row.load_line), _samples(row)) for row in lines.rows
    )
    return ReportTable("load-lines", columns, rows, "Load lines")


def _figures(line: LoadLineSpread | None) -> Cells:
    if line is None:
        return (Cell((None,), "none"), None, None, None)
    return (line.mean_pps, line.min_pps, line.max_pps, line.relative)


def _samples(row: MatrixLine) -> Cell:
    said = f"{row.found} of {len(row.samples)}"
    reports = tuple(
        part
        for each in row.samples
        for part in ((" ", ""), (str(each.number), _report_of(each) if each.error is None else ""))
    )
    reasons = tuple(part for each in row.reasons for part in (("\n", ""), (each, "")))
    return Cell(
        (row.found, len(row.samples), "; ".join(row.reasons)),
        "; ".join((said, *row.reasons)),
        links=((f"{said}:", ""), *reports, *reasons),
    )


def _tuning_table(lines: MatrixLines, tuning: Sequence[SampleTuning]) -> ReportTable:
    columns = (
        number("iteration", "#", str),
        *_value_columns(lines),
        number("sample", "Sample", str),
        text("host", "Host"),
        sentence("checks", "Checks"),
    )
    return ReportTable("tuning", columns, tuple(_tuning_rows(tuning)), "Tuning")


def _tuning_rows(tuning: Sequence[SampleTuning]) -> Iterator[Cells]:
    for each in tuning:
        place: Cells = (each.row.number, *each.row.values, each.sample.number)
        address = f"{_report_of(each.sample)}#tuning"
        for host in each.hosts:
            checks = " · ".join(
                f"{times} {verdict.replace('-', ' ')}" for verdict, times in host.counts
            )
            link = Cell((host.host,), links=((host.host, address),))
            yield (*place, link, checks or host.against)
        if not each.hosts:
            yield (*place, "unknown", each.unread)


def _report_of(sample: SampleResult) -> str:
    return f"{sample.directory}/report.html"


def _value_columns(lines: MatrixLines) -> Iterator[ReportColumn]:
    return (text(path, head) for path, head in zip(lines.varied, _heads(lines.varied), strict=True))
