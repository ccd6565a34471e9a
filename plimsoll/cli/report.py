"""`plimsoll report`: make a run's page and charts anew from its record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.output import stdout
from plimsoll.record.run_directory import RunDirectory
from plimsoll.report import export_charts, write_report

_EPILOG = "Example: **plimsoll report runs/20260101T120000-demo**"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(report)


def report(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    charts: Annotated[bool, typer.Option(help="Also write each chart as PNG and SVG.")] = True,
) -> None:
    """Rebuild report.html, and PNG and SVG of each chart, from the run's record.

    Works for runs that were killed or are still going on, too.
    """
    directory = RunDirectory.open(run)
    written = [write_report(directory), *(export_charts(directory) if charts else [])]
    for path in written:
        stdout.print(str(path), soft_wrap=True, highlight=False)
