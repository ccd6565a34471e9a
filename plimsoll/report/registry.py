"""The report of a run, whatever was run: by its method's page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.analysis.comparison.gate import GateResult
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.methods.folders import part_of
from plimsoll.record.methods.registry import METHODS
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.report.figures.figure import unchecked
from plimsoll.report.junit import render_junit
from plimsoll.report.markdown import render_markdown
from plimsoll.report.parts.page import Page, render_page
from plimsoll.report.parts.run_head import RunHead, load_head

MakePage = Callable[[RunDirectory], Page]


def write_report(run: RunDirectory, page: Page | None = None) -> Path:
    """Write the run's report.html anew and return its path; `page` is its, if it is made already.

    Raises RecordError.
    """
    write_whole(run.report, report_text(run, page))
    return run.report


def report_text(run: RunDirectory, page: Page | None = None) -> str:
    """The page of a run in any state, as its record is now. Raises RecordError."""
    damage = tuple(str(each.error) for each in check_run(run))
    head = replace(load_head(run), damage=damage)
    return render_page(head, page or make_page(run, head))


def as_markdown(
    run: RunDirectory, gates: Sequence[GateResult] = (), damage: tuple[str, ...] = ()
) -> str:
    """The run's report as GitHub-flavoured Markdown. Raises RecordError."""
    head = replace(load_head(run), damage=damage)
    return render_markdown(head, make_page(run, head), gates)


def as_junit(
    run: RunDirectory,
    verdict: Verdict,
    gates: Sequence[GateResult] = (),
    damage: tuple[str, ...] = (),
) -> str:
    """The same as JUnit XML; `verdict` is the run's. Raises RecordError."""
    head = replace(load_head(run), damage=damage)
    seconds = {trial.number: trial.sending_s for trial in read_journal(run.journal).trials()}
    return render_junit(head, make_page(run, head), verdict, seconds, gates)


def make_page(run: RunDirectory, head: RunHead) -> Page:
    """The page of the run's method. Raises RecordError where this version knows none."""
    method = METHODS.get(head.method)
    if method is None:
        raise RecordError(
            f"no report is known for a run of the method {head.method}",
            where=str(run.journal),
            remedy="use the version of plimsoll that its environment.json names",
        )
    with unchecked():
        page: MakePage = part_of(method.name, "page")
        return page(run)
