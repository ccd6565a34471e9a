"""The page of a search for the load line, and of a single trial."""

from __future__ import annotations

from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.charts import figures_of
from plimsoll.report.charts.causes_timeline import NAME as CAUSES_CHART
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.data.times import GAP_COLUMNS, LATENCY_COLUMNS, LATENESS_COLUMNS
from plimsoll.report.pages.load_line.answer import answer
from plimsoll.report.pages.load_line.evidence import evidence
from plimsoll.report.parts.calibrations import CALIBRATION_COLUMNS
from plimsoll.report.parts.causes import causes_section
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.streams import sharing_note, stream_lines
from plimsoll.report.parts.tables import trial_lines
from plimsoll.report.tuning.section import tuning_section


def load_line_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    return page_of(load_run(run))


def page_of(data: RunData) -> Page:
    """The same, of what was read already."""
    found = answer(data)
    return Page(
        template="load-line.html.j2",
        heading=" ".join(part for part in (found.heading, found.value, found.unit) if part),
        figures=figures_of(data),
        content={
            "answer": found,
            "causes": causes_section(data.causes, data.kernel_events, data.trials, data.result),
            "causes_chart": CAUSES_CHART,
            "evidence": evidence(data),
            "tuning": tuning_section(data.audits, data.observed),
            "trials": trial_lines(data),
            "proof": data.focus.number if found.holds and data.focus else None,
            "streams": stream_lines(data),
            "sharing_note": sharing_note(data),
            "latency_columns": LATENCY_COLUMNS,
            "lateness_columns": LATENESS_COLUMNS,
            "gap_columns": GAP_COLUMNS,
            "calibration_columns": CALIBRATION_COLUMNS,
        },
    )
