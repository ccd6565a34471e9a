"""The cells of a plugfest: what each of their repetitions found, and why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from plimsoll.analysis.comparison.side import Side
from plimsoll.methods.matrix.result import IterationResult, SampleResult
from plimsoll.methods.noisy.effect import runs_causes
from plimsoll.methods.plugfest.course import REFUSED, SETTLED
from plimsoll.methods.plugfest.median_interval import median_interval
from plimsoll.methods.plugfest.plan import PlannedCell
from plimsoll.methods.plugfest.result import (
    CellPlace,
    CellState,
    MeasuredFigure,
    PlugfestCell,
)
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.methods.run_figure import RunFigure
from plimsoll.record.run.run_directory import RunDirectory


def made_cell(
    run: RunDirectory, planned: PlannedCell, iteration: IterationResult | None
) -> PlugfestCell:
    """What came of a cell. Raises RecordError for a damaged record of one of its runs."""
    samples = () if iteration is None else iteration.samples
    found = [each for each in samples if each.load_line_pps is not None]
    runs = tuple(_entries(run, found))
    state, reason = _state(planned, samples)
    return PlugfestCell(
        **{name: getattr(planned, name) for name in CellPlace.model_fields},
        state=state,
        reason=reason,
        settled=any((each.skipped or "").startswith(SETTLED) for each in samples),
        figures=tuple(_figures(Side(planned.label, runs).figures)),
        samples=samples,
        causes=runs_causes(runs) if runs else None,
    )


def _entries(run: RunDirectory, samples: Sequence[SampleResult]) -> Iterator[RunEntry]:
    for sample in samples:
        entry = entry_of(sample.directory, run.path / sample.directory)
        if entry.state == "finished":
            yield entry


def _figures(runs: Sequence[Mapping[str, RunFigure]]) -> Iterator[MeasuredFigure]:
    names = dict.fromkeys(name for figures in runs for name in figures)
    for name in names:
        known = [figures[name] for figures in runs if name in figures]
        values = tuple(each.value for each in known)
        least, most = median_interval(values) or (None, None)
        yield MeasuredFigure(
            name=name,
            unit=known[0].unit,
            better=known[0].better,
            values=values,
            median=median(values),
            least=least,
            most=most,
        )


def _state(planned: PlannedCell, samples: Sequence[SampleResult]) -> tuple[CellState, str | None]:
    """How the cell came out, and why it has no load line."""
    if planned.refused is not None:
        return "refused", planned.refused
    if any(each.load_line_pps is not None for each in samples):
        return "measured", None
    ran = [each for each in samples if each.skipped is None]
    return _without_line(ran) if ran else _not_run(samples)


def _not_run(samples: Sequence[SampleResult]) -> tuple[CellState, str]:
    skipped = next((each.skipped for each in samples if each.skipped), None)
    if skipped is not None and skipped.startswith(REFUSED):
        return "refused", skipped.removeprefix(REFUSED)
    return "not-run", skipped or "the run has not come to it"


def _without_line(ran: Sequence[SampleResult]) -> tuple[CellState, str | None]:
    ended = [each for each in ran if each.error is None]
    if not ended:
        return "failed", ran[-1].error
    valid = next((each for each in ended if each.verdict != "invalid"), None)
    return ("invalid", ended[-1].reason) if valid is None else ("none", valid.reason)
