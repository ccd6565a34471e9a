"""`plimsoll report`: make a run's page and charts anew from its record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.run_choice import RunArgument, RunsFolderOption
from plimsoll.cli.tables.run_words import damage_text
from plimsoll.cli.terminal.output import stderr, stdout
from plimsoll.record.index.find import find_run
from plimsoll.record.run.file_check import check_run
from plimsoll.report import export_charts, write_report

_EPILOG = "Example: **plimsoll report runs/20260101T120000-demo**"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(report)


def report(
    run: RunArgument,
    charts: Annotated[bool, typer.Option(help="Also write each chart as PNG and SVG.")] = True,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Rebuild report.html, and PNG and SVG of each chart, from the run's record.

    Works for runs that were killed or are still going on, too.
    """
    directory = find_run(run, runs)
    for damage in check_run(directory):
        stderr.print(damage_text(damage), soft_wrap=True)
    written = [write_report(directory), *(export_charts(directory) if charts else [])]
    for path in written:
        stdout.print(str(path), soft_wrap=True, highlight=False)
