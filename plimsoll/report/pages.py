"""The report of a run, whatever was run. A new kind of page is a line in PAGES."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from plimsoll.record.record_error import RecordError
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.whole_file import write_whole
from plimsoll.report.load_line_page import load_line_page
from plimsoll.report.matrix_page import matrix_page
from plimsoll.report.page import Page, render_page
from plimsoll.report.run_head import RunHead, load_head
from plimsoll.report.soak_page import soak_page
from plimsoll.report.standard.latency_at_load_answer import latency_at_load_page
from plimsoll.report.standard.probe_answer import probe_page
from plimsoll.report.standard.rfc2544_answer import rfc2544_page
from plimsoll.report.standard.rfc9004_answer import rfc9004_page

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
    head = load_head(run)
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
