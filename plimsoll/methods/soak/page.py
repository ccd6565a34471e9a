"""The page of a soak: does the load hold, for how long, and what happened during it."""

from __future__ import annotations

from plimsoll.methods.soak.charts import soak_latency, soak_rate, soak_windows
from plimsoll.methods.soak.data import (
    SoakData,
    drift_table,
    load_soak,
    losses_table,
    segments_table,
    spikes_table,
    windows_table,
)
from plimsoll.methods.soak.result import SoakResult
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.hosts.section import host_sections
from plimsoll.report.parts.finding_lines import in_short, rule_words
from plimsoll.report.parts.headline import Headline, compared_loads, trials_trust
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.tables import trial_table
from plimsoll.report.parts.trial_details import trial_details
from plimsoll.report.tuning.section import tuning_section
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio

_CONTENTS = (
    ("drift", "Drift"),
    ("losses", "Losses"),
    ("latency", "Latency spikes"),
    ("believe", "Why believe it"),
    ("hosts", "Hosts"),
    ("tuning", "Tuning"),
    ("windows", "Windows"),
)
_HEADINGS = {
    "pass": "Holds",
    "fail": "Broken",
    "invalid": "Not proved",
    "none": "Not judged",
}


def run_page(run: RunDirectory) -> Page:
    """The page of a soak in any state. Raises RecordError when the record is damaged."""
    return page_of_soak(load_soak(run))


def page_of_soak(data: SoakData) -> Page:
    """The same, of what was read already."""
    result = data.result
    heading = _HEADINGS[result.verdict] if result.segments else "Not begun"
    trials = data.journal.trials()
    figures = (soak_windows(data), soak_rate(data), soak_latency(data))
    return Page(
        template="soak.html.j2",
        headline=_headline(data, heading),
        contents=_CONTENTS,
        figures=figures,
        key_figures=tuple(figure.name for figure in figures),
        trials=trial_table(data.journal, (each.number for each in trials)),
        details=trial_details(trials, {}, None),
        content={
            "windows": windows_table(data),
            "segments": segments_table(data),
            "drift": drift_table(data),
            "losses": losses_table(data),
            "spikes": spikes_table(data),
            "spike_note": _spike_note(result),
            "tester": _tester(result),
            "invalid_reasons": result.invalid_reasons,
            "agreement": result.dut_agreement,
            "hosts": host_sections(data.observed),
            "tuning": tuning_section(data.audits, data.observed),
        },
    )


def _headline(data: SoakData, heading: str) -> Headline:
    result = data.result
    windows = result.windows
    judged = windows.passed + windows.failed + windows.invalid + windows.undecided
    worst = result.invalid_reasons[0].rule if result.invalid_reasons else ""
    load = f"at {format_pps(result.load_pps)} per direction"
    said = trials_trust(judged, windows.invalid, rule_words(worst) if worst else "")
    return Headline(
        kicker="Soak",
        outcome=result.verdict if result.segments else "none",
        outcome_words=heading,
        value=format_duration(result.sent_s) if result.sent_s else "",
        unit=load,
        statement=f"{heading} {load}",
        facts=_facts(result),
        limit=(*_notes(result), *(f"Died: {each}." for each in data.failures)),
        trust=(said.replace("trial was", "window was").replace("judged trials", "judged windows"),),
        criteria=in_short(data.criteria),
        criteria_of="the longest trial, over its whole length",
    )


def _notes(result: SoakResult) -> tuple[str, ...]:
    """What was offered of the intended load, first."""
    if result.offered_pps is None:
        return result.notes
    return (f"{compared_loads(result.load_pps, result.offered_pps)}.", *result.notes)


def _facts(result: SoakResult) -> tuple[tuple[str, str], ...]:
    windows = result.windows
    judged = windows.passed + windows.failed + windows.invalid + windows.undecided
    bound = result.losses.events_per_hour_below
    return (
        (f"{windows.passed} of {judged}", "windows passed"),
        (f"{result.losses.frames:,}", "frames lost"),
        ("-" if bound is None else f"below {bound:.3g}", "loss events an hour (95 %)"),
    )


def _spike_note(result: SoakResult) -> str:
    spikes = result.spikes
    usual = ", ".join(f"{format_ns(each)} for {name}" for name, each in spikes.usual_ns.items())
    if not usual:
        return "No interval has recorded a latency yet."
    counts = ", ".join(f"{count:,} {cause}" for cause, count in spikes.counts.items())
    return (
        f"Intervals whose worst latency is more than {spikes.factor:g} times the usual one "
        f"({usual}): {counts or 'none'}. Beyond ten minutes, the record keeps the ten longest "
        "of each minute and cause."
    )


def _tester(result: SoakResult) -> str:
    tester = result.tester
    if not tester.stalls:
        return "Its polling loops never stalled."
    longest, share = format_ns(tester.worst_stall_ns), format_ratio(tester.worst_stalled_share)
    return (
        f"Its polling loops stalled {tester.stalls:,} times, for {longest} at worst and for "
        f"{share} of the worst window."
    )
