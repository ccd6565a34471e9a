"""`plimsoll report`: a run's page, charts and tables anew, or as Markdown or JUnit XML."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.analysis.comparison.gate import GateResult, judge, parse_condition
from plimsoll.analysis.comparison.side import Side, find_side
from plimsoll.errors import TESTER_COULD_NOT_TELL, InputError
from plimsoll.export.output_file import fresh_file
from plimsoll.record.index.find import find_run
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.run.file_check import FileDamage, check_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import as_junit, as_markdown, write_files
from plimsoll.terminal.options.run_choice import RunArgument, RunsFolderOption, complete_run
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.runs_table import damage_text, shown

_EPILOG = (
    "Examples: **plimsoll report last** · **plimsoll report last --format markdown** · "
    "**plimsoll report last --format junit -o plimsoll.xml --fail-if 'load_line < 1.5Mpps' "
    "--fail-if 'p99.9 > 50us'** · **plimsoll report last --baseline release=4.18 --fail-if "
    "'load_line < 95% of baseline'**"
)
_GATE_STYLES = {"ok": "green", "fail": "bold red", "unknown": "yellow"}
_FAILED = 1


class ReportFormat(StrEnum):
    """What `--format` takes."""

    HTML = "html"
    MARKDOWN = "markdown"
    JUNIT = "junit"


_ToFormatOption = Annotated[
    ReportFormat,
    typer.Option(
        "--format",
        help="html: report.html, charts and tables in the run directory; markdown: for a "
        "pull request; junit: for a CI system, a test case for everything that was judged.",
    ),
]
_OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="markdown, junit: the file; by default standard output."),
]
_FailIfOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help="Exit with 1 if it holds: 'load_line < 1.5Mpps', 'p99.9 > 50us', 'loss > 0.001%', "
        "'load_line < 95% of baseline'; may be repeated.",
    ),
]
_BaselineOption = Annotated[
    str | None,
    typer.Option(
        metavar="RUNS",
        help="Exit with 1 if the run is worse, by the rules of plimsoll compare: a run, a "
        "pattern in quotes, or a tag (key=value).",
        autocompletion=complete_run,
    ),
]
_ChartsOption = Annotated[bool, typer.Option(help="html: also write each chart as PNG and SVG.")]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(report)


def report(  # noqa: PLR0917 - the options of the command
    run: RunArgument,
    to_format: _ToFormatOption = ReportFormat.HTML,
    output: _OutputOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    fail_if: _FailIfOption = None,
    baseline: _BaselineOption = None,
    charts: _ChartsOption = True,
    tables: Annotated[bool, typer.Option(help="html: also write each table as CSV.")] = True,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Report on a run from its record: the page, or Markdown, or JUnit XML.

    Also works for runs that were killed or are still running.

    With --fail-if or --baseline it exits with 1 where the run fails one of them, with 5 where
    that is not known.
    """
    conditions = [parse_condition(each) for each in fail_if or ()]
    if to_format is ReportFormat.HTML and output is not None:
        raise InputError(
            "is for --format markdown and junit",
            where="--output",
            remedy="drop it: the page lies in the run directory",
        )
    directory = find_run(run, runs)
    entry = entry_of(directory.run_id, directory.path)
    side = None if baseline is None else find_side(baseline, runs)
    damage = tuple(check_run(directory))
    for each in damage:
        stderr.print(damage_text(each), soft_wrap=True)
    gates = judge(entry, conditions, _others(side, entry))
    if to_format is ReportFormat.HTML:
        _write_files(directory, charts=charts, tables=tables)
    else:
        _write_text(_rendered(to_format, entry, gates, damage), output, force=force)
    _end_by(gates)


def _others(baseline: Side | None, entry: RunEntry) -> Side | None:
    """The baseline without the run itself, which may carry the same tag."""
    if baseline is None:
        return None
    others = [each for each in baseline.runs if each.run.run_id != entry.run.run_id]
    if not others:
        raise InputError("is the run itself", where="--baseline", remedy="name an earlier run")
    return Side(baseline.label, tuple(others))


def _write_files(run: RunDirectory, *, charts: bool, tables: bool) -> None:
    for path in write_files(run, charts=charts, tables=tables):
        stdout.print(shown(str(path)), soft_wrap=True, highlight=False)


def _rendered(
    to_format: ReportFormat,
    entry: RunEntry,
    gates: tuple[GateResult, ...],
    damage: tuple[FileDamage, ...],
) -> str:
    messages = tuple(str(each.error) for each in damage)
    if to_format is ReportFormat.MARKDOWN:
        return as_markdown(entry.run, gates, messages)
    verdict = entry.summary.verdict if entry.summary else "none"
    return as_junit(entry.run, verdict, gates, messages)


def _write_text(text: str, output: Path | None, *, force: bool) -> None:
    if output is None:
        typer.echo(text, nl=False)
        return
    with fresh_file(output, force=force) as file:
        file.write(text)


def _end_by(gates: tuple[GateResult, ...]) -> None:
    """Say what came of each gate, and end with 1 or 5 where the run does not pass."""
    for each in gates:
        stderr.print(
            shown(f"{each.outcome:<8}", _GATE_STYLES[each.outcome])
            + shown(f"{each.name}: {each.text}"),
            soft_wrap=True,
        )
    outcomes = {each.outcome for each in gates if each.strict or each.outcome == "fail"}
    if "fail" in outcomes:
        raise typer.Exit(_FAILED)
    if "unknown" in outcomes:
        raise typer.Exit(TESTER_COULD_NOT_TELL)
