"""`plimsoll export --format bundle`: a run as one archive, on request with stand-ins for names."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.export.bundle.pack import SUFFIX, check_bundled, write_bundle
from plimsoll.export.output_file import refuse_existing
from plimsoll.export.redaction.redacted_run import redactor_of, write_redacted
from plimsoll.record.index.find import find_run
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_files, write_report
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.runs_table import shown
from plimsoll.text.counted import counted, size_text

_SHORTEST_WORD = 2


def export_bundle(
    run: str,
    runs: Path,
    output: Path | None,
    words: Sequence[str] | None,
    *,
    redact: bool,
    force: bool,
) -> None:
    """The run as one archive at `output`, by default <run id>.plimsoll.tar.gz here.

    With `redact` names of hosts and users, addresses, serial numbers, paths and `words` are
    stand-ins in it. Raises InputError and RecordError.
    """
    words = _checked(words or (), redact=redact)
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
    stderr.print("look through it before you give it away: redaction cannot know every name")


def _checked(words: Sequence[str], *, redact: bool) -> list[str]:
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
    write_files(run, charts=charts, tables=tables)


def _pack(run: RunDirectory, output: Path | None, *, redacted: bool, force: bool) -> None:
    suffix = f"-redacted{SUFFIX}" if redacted else SUFFIX
    path = output or Path(f"{run.run_id}{suffix}")
    manifest = write_bundle(run, path, redacted=redacted, force=force)
    size = size_text(path.stat().st_size)
    stderr.print(shown(f"{counted(len(manifest.files), 'file')}, {size}"), soft_wrap=True)
    stdout.print(shown(str(path)), soft_wrap=True, highlight=False)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(counted(number, kind) for kind, number in sorted(counts.items())) or "nothing"
