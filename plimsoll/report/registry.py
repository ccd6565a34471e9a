"""The report of a run, whatever was run. A new kind of page is a line in PAGES."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.pages.load_line.page import load_line_page
from plimsoll.report.pages.matrix_page import matrix_page
from plimsoll.report.pages.soak.page import soak_page
from plimsoll.report.pages.standard.latency_at_load_answer import latency_at_load_page
from plimsoll.report.pages.standard.probe_answer import probe_page
from plimsoll.report.pages.standard.rfc2544_answer import rfc2544_page
from plimsoll.report.pages.standard.rfc9004_answer import rfc9004_page
from plimsoll.report.parts.page import Page, render_page
from plimsoll.report.parts.run_head import RunHead, load_head

# By method, as a run's journal names it.
PAGES: Mapping[str, Callable[[RunDirectory], Page]] = {
    "load-line": load_line_page,
    "trial": load_line_page,
    "rfc2544": rfc2544_page,
    "rfc9004": rfc9004_page,
    "probe": probe_page,
    "latency-at-load": latency_at_load_page,
    "soak": soak_page,
    "matrix": matrix_page,
}


def write_report(run: RunDirectory) -> Path:
    """Write the run's report.html anew and return its path. Raises RecordError."""
    damage = tuple(str(each.error) for each in check_run(run))
    head = replace(load_head(run), damage=damage)
    write_whole(run.report, render_page(head, make_page(run, head)))
    return run.report


def make_page(run: RunDirectory, head: RunHead) -> Page:
    """The page of the run's method. Raises RecordError where this version knows none."""
    make = PAGES.get(head.method)
    if make is None:
        raise RecordError(
            f"no report is known for a run of the method {head.method}",
            where=str(run.journal),
            remedy="use the version of plimsoll that its environment.json names",
        )
    return make(run)
