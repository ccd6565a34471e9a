"""The page of quiet and noisy runs by turns: what noise did, by which causes, and its intensity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.methods.matrix.plan import read_plan
from plimsoll.methods.matrix.run import finished_sample, iteration_results
from plimsoll.methods.matrix.settings import Sample
from plimsoll.methods.noisy.result import METHOD, NoisyResult
from plimsoll.methods.noisy.run import LABELS, noise_effect, noisy_result
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.data.sides import side_latency
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportTable,
    pps,
    sentence,
    text,
    verdict_cell,
)
from plimsoll.report.pages.comparison.difference_chart import difference_chart, value_chart
from plimsoll.report.pages.comparison.page import comparison_headline, differences_table
from plimsoll.report.pages.comparison.side_charts import side_ccdf, side_percentiles
from plimsoll.report.pages.standard.page import anchor_of
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.trial_details import NOISE_COLUMNS, noise_cells


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    result, finished = _so_far(run)
    comparison = noise_effect(run, result.iterations).comparison if result.differences else None
    charts = _Charts.of(comparison)
    causes = tuple(result.causes.items())
    return Page(
        template="noisy.html.j2",
        headline=_headline(comparison, result, causes, finished=finished),
        contents=(
            ("figures", "Figures"),
            *((("latency", "Latency"),) if charts.latencies else ()),
            ("causes", "Causes"),
            ("noise", "Noise"),
            ("runs", "Runs"),
        ),
        figures=charts.all,
        key_figures=tuple(each.name for each in charts.key if each.chart is not None),
        content={
            "labels": LABELS,
            "differences": None if comparison is None else differences_table(comparison),
            "values": charts.values,
            "latencies": charts.latencies,
            "unknown": result.unknown or "No run has finished.",
            "causes": causes,
            "noise": _noise_table(run, result),
            "runs": _runs_table(run, result),
        },
    )


@dataclass(frozen=True, slots=True)
class _Charts:
    """Those of the first screen, of each figure's values, and of latency."""

    key: tuple[Figure, ...] = ()
    values: tuple[Figure, ...] = ()
    latencies: tuple[Figure, ...] = ()

    @classmethod
    def of(cls, found: Comparison | None) -> _Charts:
        """None where there is no comparison."""
        if found is None:
            return cls()
        first, *others = [
            value_chart(f"values-{anchor_of(each.name)}", each, found.sides)
            for each in found.figures
        ]
        latency = [each for side in found.sides if (each := side_latency(side))]
        latencies = (side_ccdf(latency), side_percentiles(latency)) if latency else ()
        return cls((first, difference_chart(found)), tuple(others), latencies)

    @property
    def all(self) -> tuple[Figure, ...]:
        """In the order of the page."""
        return (*self.key, *self.values, *self.latencies)


def _so_far(run: RunDirectory) -> tuple[NoisyResult, bool]:
    """The result, or of a run without one what there is by now; and whether it is the result."""
    result = read_run_result(run, NoisyResult)
    if result is not None:
        return result, True
    plan = read_plan(run, METHOD)
    found = {
        sample: each
        for sample in plan.in_order()
        if (each := finished_sample(run, sample)) is not None
    }
    return noisy_result(run, plan, iteration_results(plan, found)), False


def _headline(
    found: Comparison | None,
    result: NoisyResult,
    causes: Sequence[tuple[str, str]],
    *,
    finished: bool,
) -> Headline:
    limit = [] if finished else ["The run has not finished: these are its results so far."]
    if found is None:
        limit.append(result.unknown or "No run has finished.")
        return Headline("Noise", "none", "", statement="No comparison", limit=tuple(limit))
    compared = comparison_headline(found)
    of_noise = dict(causes).get(LABELS[1])
    # What also differs is the noise itself, which is what the runs are about.
    return Headline(
        kicker="Noisy against quiet",
        outcome=compared.outcome,
        outcome_words=compared.outcome_words,
        value=compared.value,
        unit=compared.unit,
        statement=compared.statement,
        facts=compared.facts,
        limit=(*limit, *compared.limit),
        warnings=compared.warnings,
        trust=(f"Next to noise: {of_noise}",) if of_noise else (),
    )


def _noise_table(run: RunDirectory, result: NoisyResult) -> ReportTable:
    """What each neighbour did in each noisy run's longest trial."""
    columns = (text("run", "Run"), *NOISE_COLUMNS)
    rows: list[Cells] = []
    for sample in result.iterations[-1].samples:
        journal = read_journal(RunDirectory(run.path / sample.directory).journal)
        noisy = [trial for trial in journal.trials() if trial.noise]
        if noisy:
            longest = max(noisy, key=lambda trial: trial.sending_s)
            link = _link(sample.directory)
            rows += [(link, *cells) for cells in noise_cells(longest.noise)]
    return ReportTable("noise", columns, tuple(rows), "Noise")


def _runs_table(run: RunDirectory, result: NoisyResult) -> ReportTable:
    """All runs in the order in which they were run."""
    columns = (
        text("run", "Run"),
        text("side", "Side"),
        pps("load_line_pps", "Load line"),
        text("limited_by", "Limited by"),
        text("verdict", "Verdict"),
        sentence("reason", "Why none"),
    )
    return ReportTable("runs", columns, tuple(_run_rows(run, result)), "Runs")


def _run_rows(run: RunDirectory, result: NoisyResult) -> Iterator[Cells]:
    sides = dict(zip((each.number for each in result.iterations), LABELS, strict=True))
    samples = {
        Sample(iteration.number, sample.number): sample
        for iteration in result.iterations
        for sample in iteration.samples
    }
    for place in read_plan(run, METHOD).in_order():
        sample = samples.get(place)
        if sample is not None:
            line = sample.load_line_pps
            yield (
                _link(sample.directory),
                sides[place.iteration],
                Cell((None,), "none") if line is None else line,
                sample.limited_by or "",
                verdict_cell(sample.verdict or "none"),
                "" if line is not None else (sample.error or sample.reason or ""),
            )


def _link(directory: str) -> Cell:
    return Cell((directory,), links=((directory, f"{directory}/report.html"),))
