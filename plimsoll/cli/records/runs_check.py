"""`plimsoll runs check`: whether runs' files are as they were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.find import find_run_path
from plimsoll.record.index.run_paths import part_paths, run_paths
from plimsoll.record.run.file_check import FileDamage, check_run
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.options.run_choice import RunsFolderOption, complete_run
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.runs_table import damage_text, shown

_EPILOG = "Examples: **plimsoll runs check** · **plimsoll runs check last**"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(check)


def check(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Runs: paths, ids, beginnings of ids, or last. Without one: all.",
            autocompletion=complete_run,
        ),
    ] = None,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Read every file of runs and compare it with the checksum that was recorded with it.

    result.json and the journal are held together, too, and files that the journal does not
    list are named: nothing reads them. What a trial that goes on, or was killed, has written
    has no checksum yet and is passed over.

    Exits with 0 if everything is as it was recorded, with 4 if something differs.
    """
    paths = [find_run_path(each, runs) for each in run] if run else run_paths(runs)
    intact = [_check(path) for path in paths]
    if not all(intact):
        raise typer.Exit(RecordError.exit_code)


def _check(path: Path) -> bool:
    """Of a run and, of a matrix run, of those it is made of."""
    damaged = [found for each in (path, *part_paths(path)) for found in _damage(each)]
    for each in damaged:
        stderr.print(damage_text(each), soft_wrap=True)
    said = f"{len(damaged)} damaged" if damaged else f"as it was recorded{_link_words(path)}"
    stdout.print(shown(f"{path}: {said}"), soft_wrap=True)
    return not damaged


def _link_words(path: Path) -> str:
    """What is to be said of a journal whose lines are not, or not all, linked."""
    chain = read_journal(RunDirectory(path).journal).chain
    if not chain.unchained:
        return ""
    if not chain.chained:
        return "; its journal is unchained, as an earlier version wrote it"
    return f"; the first {chain.unchained} lines of its journal are unchained"


def _damage(path: Path) -> list[FileDamage]:
    try:
        run = RunDirectory(path)
        missing = [part for part in (run.experiment, run.journal) if not part.is_file()]
        return [FileDamage(part, "is missing") for part in missing] or list(check_run(run))
    except RecordError as error:
        return [FileDamage(Path(error.where), error.message)]
