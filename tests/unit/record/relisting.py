"""A finished run whose files a test adds, changes or takes away, as the run itself may."""

from contextlib import closing
from pathlib import Path

from plimsoll.record.files.whole_file import FileSum
from plimsoll.record.run.journal import FILES, Journal
from plimsoll.record.run.run_directory import RunDirectory

_UNLISTED = ("journal.jsonl", "report.html", "result.json", "notes.json", "lock")


def relist(run: RunDirectory, *paths: Path) -> None:
    """Have its journal list these files, or all that lie there, with their present checksums."""
    found = paths or tuple(
        path
        for path in sorted(run.path.rglob("*"))
        if path.is_file() and path.name not in _UNLISTED
    )
    sums = {path.relative_to(run.path).as_posix(): FileSum.of(path).fields for path in found}
    with closing(Journal(run.journal)) as journal:
        journal.append(FILES, sums=sums)


def unlist(run: RunDirectory, *paths: Path) -> None:
    """Have its journal no longer list these files, as of what a run is about to write anew."""
    names = [path.relative_to(run.path).as_posix() for path in paths]
    with closing(Journal(run.journal)) as journal:
        journal.append(FILES, sums={}, rewriting=names)
