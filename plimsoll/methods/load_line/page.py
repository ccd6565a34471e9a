"""The page of a search for the load line, and of a single trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.methods.load_line.answer import EvidenceSection, evidence, goals_table
from plimsoll.methods.load_line.first_screen import first_screen, measured_in, received_said
from plimsoll.record.run.journal import LAB_UP, JournalContents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.charts import drawn_types, figures_of
from plimsoll.report.charts.trial_figures import trial_figures
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.figures.figure import Figure
from plimsoll.report.hosts.section import host_sections
from plimsoll.report.parts.causes import causes_section
from plimsoll.report.parts.finding_lines import criterion_lines, findings_table
from plimsoll.report.parts.headline import ChecklistLine, compared_loads
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.tables import trial_table
from plimsoll.report.parts.trial_details import sharing_note, tables_of_streams, trial_details
from plimsoll.report.tuning.section import tuning_section
from plimsoll.text.counted import was
from plimsoll.text.units import format_ns


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    data = load_run(run, drawn_types())
    shown = data.focus.number if data.focus else None
    return page_of(data, trial_figures(run, data.trials, shown))


def page_of(data: RunData, of_trials: Mapping[int, tuple[Figure, ...]] | None = None) -> Page:
    """The same, of what was read already; `of_trials` are the charts of each trial."""
    causes = causes_section(data.causes, data.kernel_events, data.trials, data.result)
    headline = first_screen(data, causes.sentence if causes else "")
    found = evidence(data)
    charts = figures_of(data)
    first = tuple(each.name for each in charts["first-screen"])
    if data.single:
        # One trial searches nothing.
        first = tuple(name for name in first if name != "search-path")
    focus = data.focus.number if data.focus else None
    contents = [("latency", "Latency"), ("believe", "Why believe it")]
    contents += [("causes", "Causes")] if causes else []
    return Page(
        template="load-line.html.j2",
        headline=headline,
        contents=(*contents, ("hosts", "Hosts"), ("tuning", "Tuning")),
        figures=tuple(each for figures in charts.values() for each in figures),
        key_figures=first,
        trials=trial_table(
            data.journal,
            (each.number for each in data.trials),
            focus if headline.value else None,
        ),
        details=trial_details(data.trials, of_trials or {}, focus),
        content={
            "goals": goals_table(data.result),
            "causes": causes,
            "evidence": found,
            "checklist": checklist(data, found),
            "criteria": findings_table(criterion_lines(data), "criteria", "Criterion"),
            "criteria_of": measured_in(data.focus),
            "hosts": host_sections(data.observed),
            "charts": charts,
            "allocations": allocation_words(data.journal),
            "tuning": tuning_section(data.audits, data.observed),
            "streams": tables_of_streams(data),
            "sharing_note": sharing_note(data),
        },
    )


# Why to believe the answer, as a short list: each line a check, its figures folded below it.
def checklist(data: RunData, found: EvidenceSection) -> tuple[ChecklistLine, ...]:
    """All lines, in the order of a sceptical reader's questions."""
    lines = [*_trials(found), *_counters(data, found)]
    if data.focus is not None:
        lines += [*_of_trial(data, data.focus, found)]
    return (*lines, _clock(found), _calibration(found))


def _trials(found: EvidenceSection) -> Iterator[ChecklistLine]:
    if not found.measured:
        yield ChecklistLine("none", "No trial has been judged yet.", "trials")
    elif not found.invalid:
        yield ChecklistLine("ok", f"All {found.measured} judged trials were valid.", "trials")
    else:
        text = (
            f"{found.invalid} of {found.measured} judged trials "
            f"{was(found.invalid)} invalid: the tester, not "
            "the DUT, was at fault. Such trials are repeated and move no bound."
        )
        yield ChecklistLine("warn", text, "trials")


def _counters(data: RunData, found: EvidenceSection) -> Iterator[ChecklistLine]:
    agreement = data.result.dut_agreement if data.result else None
    if agreement is not None:
        agree = agreement.trials_agreeing == agreement.trials_compared
        text = (
            f"The DUT's port counters agree to the frame in {agreement.trials_agreeing} of "
            f"{agreement.trials_compared} trials."
        )
        yield ChecklistLine("ok" if agree else "warn", text, "counters")
    elif found.counters.rows:
        agree = not any(each["difference_frames"] for each in found.counters.records())
        text = (
            "The DUT's port counters agree to the frame."
            if agree
            else ("The DUT's port counters differ from the tester's.")
        )
        yield ChecklistLine("ok" if agree else "warn", text, "counters")
    else:
        yield ChecklistLine("none", found.uncompared, "counters")


def _of_trial(data: RunData, trial: TrialRecord, found: EvidenceSection) -> Iterator[ChecklistLine]:
    if trial.offered_pps is not None:
        least = trial.evidence.least_offered if trial.evidence else None
        text = f"{compared_loads(trial.load_pps, trial.offered_pps, least)}."
        yield ChecklistLine("ok" if trial.verdict != "invalid" else "warn", text, "offered")
    lost = sum(stream.lost for stream in trial.streams)
    yield ChecklistLine("none" if lost else "ok", received_said(trial), "lost")
    if found.checks.rows:
        outcomes = [each["outcome"] for each in found.checks.records()]
        passed = outcomes.count("ok")
        broken = len(outcomes) - passed
        text = f"{passed} of {len(outcomes)} checks of the tester passed in this trial."
        yield ChecklistLine("warn" if broken else "ok", text, "checks")
    if found.tester.loops.rows:
        stalls = sum(worker.stalls for worker in trial.workers)
        worst_ns = max(worker.worst_stall_ns for worker in trial.workers)
        text = (
            f"The tester's polling loops stalled {stalls:,} times, at most {format_ns(worst_ns)}."
        )
        text = text if stalls else "The tester's polling loops never stalled."
        said = f"{text} {found.tester.across_stalls}".strip()
        yield ChecklistLine("none" if stalls else "ok", said, "loops")
    foreign = found.tester.foreign_frames
    text = f"Foreign frames that came in: {foreign:,}. They are neither loss nor corruption."
    text = text if foreign else "No foreign frame came in."
    yield ChecklistLine("none" if foreign else "ok", text, "foreign")


def _clock(found: EvidenceSection) -> ChecklistLine:
    clocks = found.tester.clocks
    text = "Latencies are stamped by the clocks below; quantiles are known to 0.78 %."
    return ChecklistLine("none", text if clocks else "The run has not recorded its ports.", "clock")


def _calibration(found: EvidenceSection) -> ChecklistLine:
    if not found.calibrations:
        text = "No calibration of the tester is recorded: plimsoll calibrate measures it."
        return ChecklistLine("none", text, "calibration")
    text = "What the tester alone measures, without a DUT; nothing of it is subtracted."
    return ChecklistLine("ok", text, "calibration")


# What a report says of the cache and memory bandwidth that were allocated for a run.
def allocation_words(journal: JournalContents) -> tuple[str, ...]:
    """A sentence for each resctrl group, of the run's last session; none without any."""
    sessions = [event.fields.get("resctrl") for event in journal.of_kind(LAB_UP)]
    last = sessions[-1] if sessions else None
    return tuple(_sentences(last)) if isinstance(last, Mapping) else ()


def _sentences(resctrl: Mapping[str, Any]) -> Iterator[str]:
    for group in resctrl["groups"]:
        members = [*(["noise"] * ("noise" in group["of"]))]
        members += [f"CPUs {group['cpus']}"] if group["cpus"] else []
        yield f"{group['name']} ({', '.join(members)}) had {_shares(group['schemata'])}."
    yield f"All others had {_shares(resctrl['default']['schemata'])}."


def _shares(schemata: Mapping[str, Mapping[str, str]]) -> str:
    """With masks and bandwidth as the kernel writes them, by cache."""
    return "; ".join(
        f"{resource} {', '.join(f'{cache}={value}' for cache, value in by_cache.items())}"
        for resource, by_cache in schemata.items()
    )
