"""`plimsoll bundle`: a run as one archive, on request without what says whose it is."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.export.bundle.pack import SUFFIX, check_bundled, write_bundle
from plimsoll.export.output_file import refuse_existing
from plimsoll.export.redaction.redacted_run import redactor_of, write_redacted
from plimsoll.record.index.find import find_run
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import export_charts, export_tables, write_report
from plimsoll.terminal.options.run_choice import RunArgument, RunsFolderOption
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.run_words import shown
from plimsoll.text.counted import counted, size_text

_EPILOG = (
    "Examples: **plimsoll bundle last** · **plimsoll bundle last --redact -o for-the-vendor"
    ".tar.gz** · **plimsoll bundle last --redact --word customer-x**"
)
_SHORTEST_WORD = 2


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(bundle)


def bundle(  # noqa: PLR0917 - the options of the command
    run: RunArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=f"The archive; by default <run id>{SUFFIX} here."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Replace names of hosts and users, MAC and IP addresses, serial numbers and "
            "paths, each by the same stand-in everywhere; leave out notes.",
        ),
    ] = False,
    word: Annotated[
        list[str] | None,
        typer.Option(help="With --redact: replace this word, too; may be repeated."),
    ] = None,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Write a run as one archive: report, record and a checksum of each file.

    plimsoll import reads it elsewhere. A redacted run opens with every command; only
    --resume does not take it.
    """
    words = _words(word or (), redact=redact)
    found = find_run(run, runs)
    if output is not None:
        refuse_existing(output, force=force)
    check_bundled(found)
    if not redact:
        if not found.report.is_file():
            write_report(found)
        _pack(found, output, redacted=False, force=force)
        return
    with tempfile.TemporaryDirectory(prefix="plimsoll-redacted-") as folder:
        pseudonyms = redactor_of(found, words)
        copy = write_redacted(found, Path(folder), pseudonyms)
        _draw(copy, charts=found.charts.is_dir(), tables=found.tables.is_dir())
        check_bundled(copy)
        _pack(copy, output, redacted=True, force=force)
    stderr.print(shown(f"replaced: {_counts(pseudonyms.counts)}"), soft_wrap=True)
    stderr.print("look through it before you give it away: no program knows all names")


def _words(words: list[str] | tuple[str, ...], *, redact: bool) -> list[str]:
    if words and not redact:
        raise InputError("is for --redact", where="--word", remedy="add --redact, or drop it")
    for each in words:
        if len(each.strip()) < _SHORTEST_WORD:
            raise InputError(
                f"{each!r} is too short", where="--word", remedy="give two characters or more"
            )
    return [each.strip() for each in words]


def _draw(run: RunDirectory, *, charts: bool, tables: bool) -> None:
    """What is drawn from the record, with the names that the redacted one has."""
    for path in part_paths(run.path):
        write_report(RunDirectory(path))
    write_report(run)
    if charts:
        export_charts(run)
    if tables:
        export_tables(run)


def _pack(run: RunDirectory, output: Path | None, *, redacted: bool, force: bool) -> None:
    suffix = f"-redacted{SUFFIX}" if redacted else SUFFIX
    path = output or Path(f"{run.run_id}{suffix}")
    manifest = write_bundle(run, path, redacted=redacted, force=force)
    size = size_text(path.stat().st_size)
    stderr.print(shown(f"{counted(len(manifest.files), 'file')}, {size}"), soft_wrap=True)
    stdout.print(shown(str(path)), soft_wrap=True, highlight=False)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(counted(number, kind) for kind, number in sorted(counts.items())) or "nothing"
