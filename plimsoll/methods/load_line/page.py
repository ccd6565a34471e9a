"""The page of a search for the load line, and of a single trial."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.methods.load_line.answer import goal_lines
from plimsoll.methods.load_line.checklist import checklist
from plimsoll.methods.load_line.evidence import evidence
from plimsoll.methods.load_line.first_screen import first_screen, measured_in
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.charts import figures_of, host_figures_of
from plimsoll.report.charts.trial_figures import trial_figures
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.data.times import GAP_COLUMNS, LATENCY_COLUMNS, LATENESS_COLUMNS
from plimsoll.report.figures.figure import Figure
from plimsoll.report.hosts.allocation_words import allocation_words
from plimsoll.report.hosts.section import host_sections
from plimsoll.report.parts.calibrations import CALIBRATION_COLUMNS
from plimsoll.report.parts.causes import causes_section
from plimsoll.report.parts.finding_lines import criterion_lines
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.streams import sharing_note, stream_lines
from plimsoll.report.parts.tables import trial_lines
from plimsoll.report.parts.trial_details import trial_details
from plimsoll.report.tuning.section import tuning_section

_KEY_FIGURES = ("search-path", "rx-rate", "latency-over-time")


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    data = load_run(run)
    shown = data.focus.number if data.focus else None
    return page_of(data, trial_figures(run, data.trials, shown))


def page_of(data: RunData, of_trials: Mapping[int, tuple[Figure, ...]] | None = None) -> Page:
    """The same, of what was read already; `of_trials` are the charts of each trial."""
    causes = causes_section(data.causes, data.kernel_events, data.trials, data.result)
    headline = first_screen(data, causes.sentence if causes else "")
    found = evidence(data)
    host_figures = host_figures_of(data)
    focus = data.focus.number if data.focus else None
    contents = [("latency", "Latency"), ("believe", "Why believe it")]
    contents += [("causes", "Causes")] if causes else []
    return Page(
        template="load-line.html.j2",
        headline=headline,
        contents=(*contents, ("hosts", "Hosts"), ("tuning", "Tuning")),
        figures=(*figures_of(data), *host_figures),
        key_figures=_KEY_FIGURES[1:] if data.single else _KEY_FIGURES,
        trials=trial_lines(data),
        details=trial_details(data.trials, of_trials or {}, focus),
        marked=focus if headline.value else None,
        content={
            "goals": goal_lines(data.result),
            "causes": causes,
            "evidence": found,
            "checklist": checklist(data, found),
            "criteria": criterion_lines(data),
            "criteria_of": measured_in(data.focus),
            "hosts": host_sections(data.observed),
            "host_figures": host_figures,
            "allocations": allocation_words(data.journal),
            "tuning": tuning_section(data.audits, data.observed),
            "streams": stream_lines(data),
            "sharing_note": sharing_note(data),
            "latency_columns": LATENCY_COLUMNS,
            "lateness_columns": LATENESS_COLUMNS,
            "gap_columns": GAP_COLUMNS,
            "calibration_columns": CALIBRATION_COLUMNS,
        },
    )
