"""The report of a run, whatever was run. Each method has its page in PAGES."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.methods.latency_at_load import LATENCY_AT_LOAD
from plimsoll.record.methods.load_line import LOAD_LINE
from plimsoll.record.methods.matrix import MATRIX
from plimsoll.record.methods.method import Method
from plimsoll.record.methods.probe import PROBE
from plimsoll.record.methods.registry import METHODS
from plimsoll.record.methods.rfc2544 import RFC2544
from plimsoll.record.methods.rfc9004 import RFC9004
from plimsoll.record.methods.soak import SOAK
from plimsoll.record.methods.trial import TRIAL
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

PAGES: Mapping[Method[Any], Callable[[RunDirectory], Page]] = {
    LOAD_LINE: load_line_page,
    TRIAL: load_line_page,
    MATRIX: matrix_page,
    SOAK: soak_page,
    RFC2544: rfc2544_page,
    RFC9004: rfc9004_page,
    PROBE: probe_page,
    LATENCY_AT_LOAD: latency_at_load_page,
}


def write_report(run: RunDirectory) -> Path:
    """Write the run's report.html anew and return its path. Raises RecordError."""
    damage = tuple(str(each.error) for each in check_run(run))
    head = replace(load_head(run), damage=damage)
    write_whole(run.report, render_page(head, make_page(run, head)))
    return run.report


def make_page(run: RunDirectory, head: RunHead) -> Page:
    """The page of the run's method. Raises RecordError where this version knows none."""
    method = METHODS.get(head.method)
    if method is None:
        raise RecordError(
            f"no report is known for a run of the method {head.method}",
            where=str(run.journal),
            remedy="use the version of plimsoll that its environment.json names",
        )
    return PAGES[method](run)
