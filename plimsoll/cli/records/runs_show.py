"""`plimsoll runs show`: all that the index knows of one run."""

from __future__ import annotations

import json as json_text
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.find import find_run_path
from plimsoll.record.index.run_entry import RunEntry, checked_entry, entry_of
from plimsoll.record.index.run_files import RunFile, content_of
from plimsoll.record.index.run_summary import RunSummary
from plimsoll.record.methods.registry import METHODS
from plimsoll.terminal.exit_codes import end_by
from plimsoll.terminal.options.run_choice import RunArgument, RunsFolderOption
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.runs_table import (
    answer_text,
    dut_text,
    entry_json,
    moment,
    print_damage,
    shown,
    state_text,
)
from plimsoll.text.counted import size_text
from plimsoll.text.units import format_duration

_EPILOG = (
    "Examples: **plimsoll runs show last** · **plimsoll runs show 20260101T120000-demo --json** · "
    "**plimsoll runs show last --exit-code**"
)
_NS_PER_S = 1e9


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(show)


def show(
    run: RunArgument,
    runs: RunsFolderOption = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit as the run did, by its verdict.")
    ] = False,
) -> None:
    """Show one run: what it is and found, its tags and notes, and its files.

    Exits with 0, or with 4 if the run is damaged, after saying so. With --exit-code also with 1 if
    the DUT failed, with 5 if the result is inconclusive because of the tester.
    """
    path = find_run_path(run, runs)
    listed = entry_of(Path(os.path.realpath(path)).name, path)
    entry = checked_entry(listed)
    files = content_of(entry.run)
    if json:
        document = {**entry_json(entry), "files": [asdict(each) for each in files]}
        typer.echo(json_text.dumps(document, indent=2))
    else:
        stdout.print(_facts(entry))
        if entry.notes.notes:
            stdout.print()
            stdout.print(_notes(entry))
        stdout.print()
        stdout.print(_files(files))
        print_damage([entry], stderr)
    # Damaged tags and notes are reported, and do not make the run damaged.
    if entry.state == "damaged" or entry.damage != listed.damage:
        raise typer.Exit(RecordError.exit_code)
    if exit_code and entry.summary is not None:
        end_by(entry.summary.verdict)


def _facts(entry: RunEntry) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("run", shown(entry.run_id, "bold"))
    table.add_row("path", shown(str(entry.run.path)))
    table.add_row("state", state_text(entry))
    if entry.summary is not None:
        for name, value in _known(entry, entry.summary):
            table.add_row(name, value)
    for key, tagged in entry.notes.tags.items():
        table.add_row("tag", shown(f"{key}={tagged}"))
    return table


def _known(entry: RunEntry, summary: RunSummary) -> Iterator[tuple[str, Text]]:
    yield "name", shown(summary.name)
    yield "method", shown(summary.method or "-")
    yield "DUT", dut_text(entry)
    yield "answer", answer_text(entry)
    yield "verdict", Text(summary.verdict)
    yield "trials", Text(f"{summary.trials:,}")
    if summary.period is not None:
        yield "rests on", shown(summary.period)
    yield "began", Text(moment(summary.began_unix_ns) or "-")
    if summary.ended_unix_ns is not None:
        yield "ended", Text(f"{moment(summary.ended_unix_ns)}{_took(summary)}")
    versions = [f"{name} {version}" for name, version in summary.versions.items() if version]
    yield "versions", shown(", ".join(versions) or "-")
    method = METHODS.get(summary.method or "")
    if entry.state == "stopped" and method is not None and not method.one_trial:
        yield "go on", shown(f"plimsoll {method.command} --resume {entry.run.path}")


def _took(summary: RunSummary) -> str:
    if summary.ended_unix_ns is None or summary.began_unix_ns is None:
        return ""
    seconds = (summary.ended_unix_ns - summary.began_unix_ns) / _NS_PER_S
    return f", {format_duration(seconds)} later" if seconds > 0 else ""


def _notes(entry: RunEntry) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for note in entry.notes.notes:
        lines = [shown(line) for line in note.text.split("\n")]
        table.add_row(moment(note.at_unix_ns), Text("\n").join(lines))
    return table


def _files(files: list[RunFile]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("file", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    for each in files:
        held = f" ({each.files:,} files)" if each.kind == "folder" else ""
        name = f"{each.name}/" if each.kind == "folder" else each.name
        kind = " (link)" if each.kind == "link" else ""
        table.add_row(shown(name) + Text(f"{held}{kind}"), size_text(each.bytes))
    table.add_row(Text("in all", "dim"), size_text(sum(each.bytes for each in files)))
    return table
