"""`plimsoll why`: what caused a run's losses, latency spikes and stalls."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from plimsoll.attribution.events.chrome_trace import chrome_trace
from plimsoll.attribution.ranking.rank import remedies_of
from plimsoll.attribution.ranking.summary import (
    CausesSummary,
    LocatedIncident,
    limit_sentence,
    summarise,
)
from plimsoll.attribution.ranking.trace_gaps import trace_gaps
from plimsoll.errors import InputError
from plimsoll.record.causes.causes_record import RankedCause, Remedy, TrialCauses, read_causes
from plimsoll.record.causes.kernel_events import read_kernel_events
from plimsoll.record.index.find import LAST, find_run
from plimsoll.record.run.file_check import require_intact
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.search.evidence.trial_evidence import of_host
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.options.run_choice import RunsFolderOption, complete_run
from plimsoll.terminal.output import stdout, write_new_file
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.terminal.tables.runs_table import shown
from plimsoll.text.units import format_ns, parse_latency_ns

_EPILOG = (
    "Examples: **plimsoll why** · **plimsoll why last --above 1ms --trial 7** · "
    "**plimsoll why --perfetto trace.json**"
)
_MAX_ROWS = 15

_RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="[RUN]",
        help="A run: its path, its id, the start of its id, or last.",
        autocompletion=complete_run,
    ),
]
_TrialOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Only this trial of the run.")
]
_AboveOption = Annotated[
    str | None,
    typer.Option(
        metavar="LATENCY",
        help="Latencies from here on are spikes, 100us unless the run has another limit.",
    ),
]
_PerfettoOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also write the kernel events around the worst incidents as a trace that "
        "ui.perfetto.dev opens.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(why)


def why(  # noqa: PLR0917 - the options of the command
    run: _RunArgument = LAST,
    trial: _TrialOption = None,
    above: _AboveOption = None,
    perfetto: _PerfettoOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Say what caused a run's losses, latency spikes and stalls, and what helps.

    Ranked causes first, then the worst ten of each with the chain that led to it.
    """
    directory = find_run(run, runs)
    trials = _trials(directory, trial)
    from_ns = trials[0].spikes_from_ns
    if above is not None:
        from_ns = parse_option("--above", parse_latency_ns, above)
    summary = summarise(trials, from_ns)
    if json:
        typer.echo(json_text.dumps(_document(directory, trials, summary, from_ns), indent=2))
    else:
        _print(trials, summary, from_ns)
    if perfetto is not None:
        kept = {each.trial: read_kernel_events(directory, each.trial) for each in trials}
        write_new_file(perfetto, chrome_trace(trials, kept), "--perfetto")


def _trials(run: RunDirectory, number: int | None) -> tuple[TrialCauses, ...]:
    require_intact(run, "causes/")
    found = read_causes(run)
    if not found:
        raise InputError(
            "no causes are recorded of this run",
            where=run.run_id,
            remedy="choose a run of this version whose trials ran on real ports",
        )
    if number is None:
        return found
    chosen = tuple(each for each in found if each.trial == number)
    if not chosen:
        known = ", ".join(str(each.trial) for each in found)
        raise InputError(
            f"no causes are recorded of trial {number}",
            where="--trial",
            remedy=f"name one of these trials: {known}",
        )
    return chosen


def _document(
    run: RunDirectory, trials: Sequence[TrialCauses], summary: CausesSummary, from_ns: int
) -> dict[str, object]:
    return {
        "run": run.run_id,
        "trials": [each.trial for each in trials],
        "spikes_from_ns": from_ns,
        "sentence": limit_sentence(summary),
        "lost_frames": summary.lost_frames,
        "loss_events": summary.loss_events,
        "lost_frames_ranked": summary.ranked_frames,
        "loss_events_ranked": summary.ranked_losses,
        "counts_are_at_least": summary.at_least,
        "corrupt_frames": summary.corrupt,
        "misdirected_frames": summary.misdirected,
        "truncated_frames": summary.truncated,
        "spikes": summary.spike_count,
        "stalls": summary.stall_count,
        "incidents_left_out": summary.left_out,
        "causes": [row.model_dump(mode="json") for row in summary.rows],
        "worst_losses": [_incident_json(each) for each in summary.losses],
        "worst_spikes": [_incident_json(each) for each in summary.spikes],
        "worst_stalls": [_incident_json(each) for each in summary.stalls],
        "traces": [{"trial": each.trial, **each.trace.model_dump(mode="json")} for each in trials],
    }


def _incident_json(located: LocatedIncident) -> dict[str, object]:
    remedy = None if located.remedy is None else located.remedy.model_dump(mode="json")
    return {"trial": located.trial, **located.incident.model_dump(mode="json"), "remedy": remedy}


def _print(trials: Sequence[TrialCauses], summary: CausesSummary, from_ns: int) -> None:
    stdout.print(shown(limit_sentence(summary), "bold"), soft_wrap=True)
    for line in trace_gaps(trials):
        stdout.print(shown(line, "yellow"), soft_wrap=True)
    if summary.rows:
        stdout.print()
        stdout.print(_table(summary.rows, from_ns))
    for title, incidents in (
        ("Worst losses", summary.losses),
        (f"Worst latency spikes from {format_ns(from_ns)} on", summary.spikes),
        ("Longest stalls of the tester", summary.stalls),
    ):
        _print_worst(title, incidents)
    _print_remedies(summary.rows)
    if summary.left_out:
        stdout.print()
        stdout.print(
            shown(f"{summary.left_out:,} smaller incidents were not looked at here.", "dim")
        )


def _table(rows: Sequence[RankedCause], from_ns: int) -> FigureTable:
    table = FigureTable(
        "Causes",
        [
            TableColumn("cause", "left", wraps=True),
            TableColumn("kind", "left"),
            TableColumn("CPU", "left"),
            TableColumn("times"),
            TableColumn("lost frames"),
            TableColumn(f"spikes from {format_ns(from_ns)}"),
            TableColumn("in all"),
            TableColumn("worst"),
            TableColumn("how sure", "left"),
        ],
    )
    for row in rows[:_MAX_ROWS]:
        cpu = "-" if row.cpu is None else f"{row.cpu}{of_host(row.host)} ({row.owner})"
        table.add_row(
            shown(f"{row.name}{' (Plimsoll)' if row.own else ''}"),
            row.kind,
            cpu,
            f"{row.occurrences:,}",
            _share(row.loss_share),
            _share(row.spike_share),
            _time(row.total_ns),
            _time(row.worst_ns),
            row.confidence,
        )
    return table


def _print_worst(title: str, incidents: Iterable[LocatedIncident]) -> None:
    for place, each in enumerate(incidents, 1):
        if place == 1:
            stdout.print()
            stdout.print(Text(title, "bold"))
        line = f"{place:3}  trial {each.trial}: {each.incident.sentence}"
        stdout.print(shown(line), soft_wrap=True)


def _print_remedies(rows: Sequence[RankedCause]) -> None:
    helps = remedies_of(rows[:_MAX_ROWS])
    if not helps:
        return
    stdout.print()
    stdout.print(Text("What helps", "bold"))
    for remedy, names in helps.items():
        line = f"  {', '.join(names)}: {remedy.text}{_checks(remedy)}"
        stdout.print(shown(line), soft_wrap=True)


def _checks(remedy: Remedy) -> str:
    if not remedy.checks:
        return ""
    numbers = ", ".join(map(str, remedy.checks))
    return f" (plimsoll tune audit, {'check' if len(remedy.checks) == 1 else 'checks'} {numbers})"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _time(length_ns: int | None) -> str:
    return "-" if length_ns is None else format_ns(length_ns)
