"""The page's section on what limits a load line: causes, and each spike with its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.attribution.ranking.rank import remedies_of
from plimsoll.attribution.ranking.summary import (
    CausesSummary,
    LocatedIncident,
    limit_sentence,
    summarise,
)
from plimsoll.attribution.ranking.trace_gaps import trace_gaps
from plimsoll.record.causes.causes_record import RankedCause, TrialCauses
from plimsoll.record.causes.kernel_events import KeptEvent
from plimsoll.record.results.result import Result
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.times import nanoseconds
from plimsoll.report.figures.table import ReportTable, count, ns, number, sentence, tenths, text
from plimsoll.search.evidence.trial_evidence import of_host

_MAX_ROWS = 12
_MAX_EVENTS = 60
_US_PER_S = 1e6


@dataclass(frozen=True, slots=True)
class IncidentLine:
    """An incident as a line that opens to its window of events."""

    sentence: str
    trial: int
    remedy: str
    events: ReportTable


@dataclass(frozen=True, slots=True)
class CausesSection:
    """What limits this load line; None in place of a section where no causes were recorded."""

    sentence: str
    trials: str
    causes: ReportTable
    remedies: ReportTable
    incidents: tuple[IncidentLine, ...]
    remarks: tuple[str, ...]


def causes_section(
    causes: Sequence[TrialCauses],
    events: Mapping[int, Sequence[KeptEvent]],
    trials: Sequence[TrialRecord],
    result: Result | None,
) -> CausesSection | None:
    """Of the trials that the load line rests on; `events` are those kept, by trial."""
    telling = telling_causes(causes, trials, result)
    if not telling:
        return None
    from_ns = telling[0].spikes_from_ns
    summary = summarise(telling, from_ns)
    scales = {each.trial: _US_PER_S / each.tsc_hz for each in telling}
    ranked = summary.rows[:_MAX_ROWS]
    return CausesSection(
        sentence=limit_sentence(summary),
        trials=", ".join(str(each.trial) for each in telling),
        causes=_causes(ranked, from_ns),
        remedies=_remedies(ranked),
        incidents=tuple(
            _incident(place, located, events.get(located.trial, ()), scales[located.trial])
            for place, located in enumerate(_worst(summary), start=1)
        ),
        remarks=tuple(_remarks(telling, summary)),
    )


def telling_causes(
    causes: Sequence[TrialCauses], trials: Sequence[TrialRecord], result: Result | None
) -> tuple[TrialCauses, ...]:
    """Those of trials at the load line and below, and at the lowest load above it that failed.

    All where there is no load line.
    """
    line = result.load_line if result else None
    if line is None:
        return tuple(causes)
    above = [
        trial.load_pps
        for trial in trials
        if trial.load_pps > line.intended_pps and trial.verdict in ("fail", "invalid")
    ]
    highest = min(above, default=line.intended_pps)
    numbers = {trial.number for trial in trials if trial.load_pps <= highest}
    return tuple(each for each in causes if each.trial in numbers)


def _worst(summary: CausesSummary) -> tuple[LocatedIncident, ...]:
    """Losses and spikes; stalls of the tester where there are neither."""
    return (*summary.losses, *summary.spikes) or summary.stalls


def _causes(ranked: Sequence[RankedCause], from_ns: float) -> ReportTable:
    columns = (
        sentence("cause", "Cause"),
        text("kind", "Kind"),
        text("place", "Whose CPU", missing="-"),
        count("times", "Times"),
        number("loss_share", "Lost frames", _share),
        number("spike_share", f"Spikes from {nanoseconds(from_ns)}", _share),
        ns("total_ns", "In all"),
        ns("worst_ns", "Worst"),
        text("confidence", "Confidence"),
    )
    rows = tuple(
        (
            f"{row.name}, Plimsoll's own" if row.own else row.name,
            row.kind,
            None if row.cpu is None else f"{row.place}, {row.owner}",
            row.occurrences,
            row.loss_share,
            row.spike_share,
            row.total_ns,
            row.worst_ns,
            row.confidence,
        )
        for row in ranked
    )
    return ReportTable("causes", columns, rows, "Causes")


def _remedies(ranked: Sequence[RankedCause]) -> ReportTable:
    """What to do against these causes, and the numbers of the checks that cover it."""
    columns = (sentence("against", "Against"), sentence("remedy", "Do"), text("checks", "Checks"))
    rows = tuple(
        (", ".join(names), remedy.text, ", ".join(map(str, remedy.checks)))
        for remedy, names in remedies_of(ranked).items()
    )
    return ReportTable("remedies", columns, rows, "What helps")


def _incident(
    place: int, located: LocatedIncident, kept: Sequence[KeptEvent], scale: float
) -> IncidentLine:
    mine = [event for event in kept if event.incident == located.place][:_MAX_EVENTS]
    begin = located.incident.begin_tsc
    columns = (
        tenths("since_begin_us", "µs since it began"),
        text("cpu", "CPU"),
        text("event", "Event"),
        sentence("fields", "Fields"),
    )
    rows = tuple(
        (
            (event.tsc - begin) * scale,
            f"{event.cpu}{of_host(event.host)}",
            event.name,
            ", ".join(f"{name} {value}" for name, value in event.read_fields().items()),
        )
        for event in mine
    )
    return IncidentLine(
        sentence=located.incident.sentence,
        trial=located.trial,
        remedy="" if located.remedy is None else located.remedy.text,
        events=ReportTable(f"incident-{place}-events", columns, rows, "Kernel events"),
    )


def _remarks(telling: Sequence[TrialCauses], summary: CausesSummary) -> list[str]:
    remarks = list(trace_gaps(telling))
    if summary.left_out:
        remarks.append(f"{summary.left_out:,} smaller incidents are not in these figures.")
    return remarks


def _share(share: float) -> str:
    return f"{share:.1%}"
